package import FileIO
internal import ManifestVerifier
package import ModelCatalog
internal import TUFMetadata

extension ModelStore {
  /// How a file of an installed version stands.
  enum FileState {
    /// The very file that was verified, unchanged since.
    case unchanged
    /// Not what the record tells; what its content is, reading it would tell.
    case changed
    case missing
  }

  /// Opens a file below one of the store's folders.
  /// - Returns: nil where there is none; never anything but a regular file.
  func openFile(_ name: [ByteString], below folder: [[UInt8]]) throws(InstallationError) -> FileDescriptor? {
    let segments = folder + name.map(\.bytes)
    guard let last = segments.last, let parent = try openFolder(Array(segments.dropLast())) else { return nil }
    do throws(Errno) {
      let file = try parent.open(last, .readNoFollow)
      if try file.status().kind == .regular { return file }
    } catch {
      if error == .notFound { return nil }
      guard let kind = try? parent.status(of: last).kind, kind != .regular else {
        throw .file(.system(.open, path: shown(segments), error))
      }
    }
    let kind = try at(.inspect, shown(segments)) { () throws(Errno) in try parent.status(of: last).kind }
    throw .model(.foreign(path: shown(segments), kind))
  }

  /// Looks whether a file is the one that was verified, without reading it.
  func state(of file: ModelRecord.File, in key: StoreKey, of model: ModelName) throws(InstallationError) -> FileState {
    let found: FileDescriptor?
    do { found = try openFile(file.name, below: key.segments(of: model)) } catch {
      // Something else in a file's place is told as such where it would be used.
      guard case .model(.foreign) = error else { throw error }
      return .changed
    }
    guard let open = found else { return .missing }
    let path = shown(key.segments(of: model) + file.name.map(\.bytes))
    let status = try at(.inspect, path) { () throws(Errno) in try open.status() }
    return FileIdentity(status) == file.identity && status.byteCount == file.target.byteCount ? .unchanged : .changed
  }

  /// Whether every file of an installed version is the one that was verified, without reading any.
  package func isUnchanged(_ entry: ModelRecord.Entry, of model: ModelName) throws(InstallationError) -> Bool {
    for file in entry.files {
      guard case .unchanged = try state(of: file, in: entry.key, of: model) else { return false }
    }
    return true
  }

  /// What is missing of an installed version, its folder or the first of its files that is not there; nil where nothing is. Nothing is opened: what
  /// stands in the place of a file and is none, or can't be looked at, is told where it would be used.
  package func missingPath(of entry: ModelRecord.Entry, _ model: ModelName) -> String? {
    let segments = entry.key.segments(of: model)
    do throws(InstallationError) {
      guard let folder = try openFolder(segments) else { return shown(segments) }
      for file in entry.files {
        let way = file.name.map(\.bytes)
        do throws(Errno) { _ = try folder.status(of: Array(way.joined(separator: "/".utf8))) } catch {
          if error == .notFound { return shown(segments + way) }
        }
      }
      return nil
    } catch { return nil }
  }

  /// Opens a file of an installed version for use: at once where it is the very file that was verified, else after it was verified again.
  /// - Parameters:
  ///   - isThorough: whether it is read in any case.
  ///   - target: what the trusted manifest says of it now, where it says anything.
  /// - Returns: nil where it is missing.
  func use(
    _ file: ModelRecord.File, of entry: ModelRecord.Entry, _ model: ModelName, isThorough: Bool = false, target: TargetFile? = nil,
    isCancelled: () -> Bool = { false }, progress: (Int) -> Void = { _ in }
  ) throws(InstallationError) -> UsableFile? {
    let path = shown(entry.key.segments(of: model) + file.name.map(\.bytes))
    let found: FileDescriptor?
    do throws(InstallationError) { found = try openFile(file.name, below: entry.key.segments(of: model)) } catch {
      throw displaced(error, file: path, entry, model)
    }
    guard let open = found else { return nil }
    let status = try at(.inspect, path) { () throws(Errno) in try open.status() }
    let expected = target ?? file.target
    if !isThorough, expected == file.target, FileIdentity(status) == file.identity {
      return UsableFile(path: path, byteCount: status.byteCount, identity: file.identity, wasRead: false, descriptor: open)
    }
    var verifier = FileVerifier()
    do throws(VerificationError) {
      let verified = try verifier.verify(open, path: path, against: expected, isCancelled: isCancelled, progress: progress)
      let identity = FileIdentity(verified.status)
      return UsableFile(
        path: path, byteCount: verified.status.byteCount, identity: identity, wasRead: true, descriptor: verified.intoDescriptor())
    } catch {
      switch error {
      case .cancelled: throw .cancelled
      // A disk that can't give a file back has damaged it.
      case .file(let error) where error.errno != .inputOutput: throw .file(error)
      default: throw .model(.damaged(model: model.description, version: entry.key.version.description, error))
      }
    }
  }

  /// Verifies a whole installed version by reading it. A file that is not as signed, though it is the very one that was verified, is noted: nothing
  /// takes it for good unread from then on.
  /// - Returns: the entry, with the files' identities as they are now.
  package func verify(
    _ entry: ModelRecord.Entry, of model: ModelName, isCancelled: () -> Bool = { false }, progress: (Int) -> Void = { _ in }
  ) throws(InstallationError) -> ModelRecord.Entry {
    var result = entry
    for (index, file) in entry.files.enumerated() {
      do throws(InstallationError) {
        guard let usable = try use(file, of: entry, model, isThorough: true, isCancelled: isCancelled, progress: progress) else {
          throw missing(entry, model)
        }
        result.files[index].identity = usable.identity
      } catch {
        if case .model(.damaged) = error { try? distrust(index, of: entry, model) }
        throw error
      }
    }
    return result
  }

  private func distrust(_ index: Int, of entry: ModelRecord.Entry, _ model: ModelName) throws(InstallationError) {
    guard isChangeable, case .unchanged = try state(of: entry.files[index], in: entry.key, of: model) else { return }
    var record = try record(of: model)
    guard record[entry.key] == entry else { return }
    record[entry.key]?.files[index].identity = .unknown
    try write(record)
  }

  /// What else stands in the place of a version's folder, or of something in it, is damage that a repair mends; above it is somebody's doing.
  private func displaced(
    _ error: InstallationError, file: String, _ entry: ModelRecord.Entry, _ model: ModelName
  ) -> InstallationError {
    let folder = folderPath(of: entry.key, model)
    guard case .model(.foreign(let path, let kind)) = error, path == folder || path.hasPrefix(folder + "/") else { return error }
    return .model(
      .displaced(
        model: model.description, version: entry.key.version.description, path: path, expected: path == file ? .regular : .directory,
        found: kind))
  }

  /// What to say of a version of which a file is missing.
  func missing(_ entry: ModelRecord.Entry, _ model: ModelName) -> InstallationError {
    let path = missingPath(of: entry, model) ?? folderPath(of: entry.key, model)
    return .model(.missing(model: model.description, version: entry.key.version.description, path: path))
  }
}

/// A file of an installed version, open, whose content is what was signed.
package struct UsableFile: ~Copyable, Sendable {
  package let path: String
  package let byteCount: Int64
  package let identity: FileIdentity
  /// Whether it had to be read to know.
  package let wasRead: Bool
  package let descriptor: FileDescriptor

  consuming func intoDescriptor() -> FileDescriptor { descriptor }
}
