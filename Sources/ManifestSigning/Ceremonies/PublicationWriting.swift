internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata

extension Repository {
  /// Makes a publication visible at once; a crash leaves the old state or the new one.
  ///
  /// - A root alone is one new file.
  /// - Roles without a root become visible with the timestamp, which names all of them and comes last.
  /// - A root that changes with roles below it can't be seen apart from them: whichever came first, devices would hold it against keys that have
  ///   not signed it. So the next state of the whole folder is put together beside it, and the two are swapped.
  func show(_ publication: Publication, after state: PublishedState) throws(SigningError) {
    if let policy = publication.policy {
      try onDisk { () throws(FileError) in try replaceFile(at: layout.policy, with: policy.bytes) }
    }
    if publication.changesRootAndRoles {
      try swapIn(publication)
    } else {
      try write(publication, into: layout.metadata)
    }
    TrustedRoot.keep(publication.root.bytes, after: state, layout)
  }

  private func write(_ publication: Publication, into folder: String) throws(SigningError) {
    try onDisk { () throws(FileError) in
      for file in publication.files {
        let path = "\(folder)/\(file.name)"
        if file.role == .root { try createFile(at: path, with: file.bytes) } else { try replaceFile(at: path, with: file.bytes) }
      }
    }
  }

  private func swapIn(_ publication: Publication) throws(SigningError) {
    let next = "\(layout.pending)/\(PendingFolder.nextMetadataName)"
    try removeNextMetadata()
    do throws(FileError) {
      try FileSystem.createDirectories(layout.pending, permissions: 0o755)
      try copyMetadata(to: next)
    } catch {
      if error.errno == .invalidArgument { throw .ceremony(.cannotSwap(path: layout.metadata)) }
      throw .file(error)
    }
    try write(publication, into: next)
    do throws(Errno) {
      try FileSystem.synchronizeDirectory(next)
      try FileSystem.exchange(next, layout.metadata)
      try FileSystem.synchronizeDirectory(layout.folder + "/manifests")
      try FileSystem.synchronizeDirectory(layout.pending)
    } catch {
      guard error == .invalidArgument || error == .crossesFileSystems || error == .notSupported else {
        throw .file(.system(.replace, path: layout.metadata, error))
      }
      throw .ceremony(.cannotSwap(path: layout.metadata))
    }
    try removeNextMetadata()
  }

  /// Gives what is published a second name: it never changes, so that nothing need be copied where the file system and its owner allow that.
  /// - Throws: `invalidArgument` where the folder is a link.
  private func copyMetadata(to next: String) throws(FileError) {
    let names: [[UInt8]]
    do throws(Errno) {
      let current = try FileSystem.status(of: layout.metadata, followingLinks: false)
      guard current.kind == .directory else { throw .invalidArgument }
      try FileSystem.createDirectory(next, permissions: current.permissions)
      names = try FileSystem.names(inDirectory: layout.metadata)
    } catch { throw .system(.create, path: next, error) }
    for name in names where !TemporaryFile.isTemporary(name) {
      let name = String(decoding: name, as: UTF8.self)
      let (old, new) = ("\(layout.metadata)/\(name)", "\(next)/\(name)")
      let kind = try FileError.describing(.inspect, old) { () throws(Errno) in try FileSystem.status(of: old, followingLinks: false).kind }
      guard kind != .directory else { continue }
      do throws(Errno) { try FileSystem.hardLink(old, to: new) } catch {
        try FileSystem.cloneOrCopy(from: old, to: new, permissions: 0o644)
      }
    }
  }

  /// Takes away what a publication that broke off has left: the next state before the swap, or the last one after it.
  func removeNextMetadata() throws(SigningError) {
    let next = "\(layout.pending)/\(PendingFolder.nextMetadataName)"
    guard try isPresent(next) else { return }
    try onDisk { () throws(FileError) in
      // A folder that somebody made among the metadata is not ours to remove.
      try FileError.describing(.remove, next) { () throws(Errno) in
        for name in try FileSystem.names(inDirectory: next) {
          let name = String(decoding: name, as: UTF8.self)
          guard try FileSystem.status(of: "\(next)/\(name)", followingLinks: false).kind == .directory else { continue }
          try FileSystem.renameExclusively("\(next)/\(name)", to: "\(layout.metadata)/\(name)")
        }
      }
      try FileSystem.removeTree(next)
    }
  }
}
