internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata

/// The folder that targets are put into, each under its own path.
///
/// What arrives is written to a folder of its own inside, 0700, and moved to its final name once it is verified and on the disk itself. No
/// symbolic link below the destination is followed. Files are read-only from the start.
struct Destination: ~Copyable {
  static let stagingName = ".signed-manifest-staging"

  /// Refuses a target that would lie among the unfinished files, where letter case counts and where it does not.
  static func requireNotReserved(_ target: TargetPath) throws(InstallationError) {
    let first = target.segments.first.map { String(decoding: $0.bytes, as: UTF8.self).lowercased() }
    if first == stagingName { throw .reservedTarget(target) }
  }

  let path: String
  private let folder: FileDescriptor

  /// Opens the folder, makes it where it is missing, and removes what a killed process left.
  init(_ path: String) throws(FileError) {
    try FileSystem.createDirectories(path, permissions: 0o755)
    do { _ = try TemporaryFile.removeLeftovers(inDirectory: "\(path)/\(Self.stagingName)") } catch {
      guard error.errno == .notFound else { throw error }
    }
    let folder = try FileError.describing(.open, path) { () throws(Errno) in try FileDescriptor(opening: path, .directory) }
    self.path = path
    self.folder = folder
  }

  deinit {
    // As far as it is empty: another process may be using it.
    try? FileSystem.removeDirectory("\(path)/\(Self.stagingName)")
  }

  func fullPath(_ target: TargetPath) -> String { "\(path)/\(target)" }

  /// Whether the very file that is signed stands under a path already.
  func holds(
    _ target: TargetPath, _ file: TargetFile, isCancelled: () -> Bool, progress: (Int) -> Void
  ) throws(InstallationError) -> Bool {
    let name = fullPath(target)
    let present: FileDescriptor
    do throws(Errno) {
      let status = try folder.openFolder(target.segments.dropLast()).status(of: target.lastSegment)
      // Something else than a file is not read, and whether it can be replaced is seen later.
      guard status.kind == .regular, status.byteCount == file.byteCount else { return false }
      present = try folder.open(target.name.bytes, .readNoFollow)
    } catch {
      guard error == .notFound else { throw .file(.system(.open, path: name, error)) }
      return false
    }
    var verifier = FileVerifier(method: .tree)
    do { _ = try verifier.verify(present, path: name, against: file, isCancelled: isCancelled, progress: progress) } catch {
      switch error {
      case .cancelled: throw .cancelled
      case .file(let error): throw .file(error)
      default: return false
      }
    }
    return true
  }

  /// Begins a file that is to become a target.
  func stage(_ target: TargetPath) throws(InstallationError) -> TemporaryFile {
    do { return try newFile(target) } catch { throw .file(error) }
  }

  private func newFile(_ target: TargetPath) throws(FileError) -> TemporaryFile {
    let name = fullPath(target)
    var attemptsLeft = 10
    while true {
      attemptsLeft -= 1
      let staging = try FileError.describing(.create, name) { () throws(Errno) in
        let staging = try folder.openFolder(creating: [Array(Self.stagingName.utf8)], permissions: 0o700)
        // Made by somebody else, or with other permissions, it would not be ours alone.
        try staging.setPermissions(0o700)
        return staging
      }
      do { return try TemporaryFile(named: target.lastSegment, in: staging, path: name, permissions: 0o444) } catch {
        // Another process was done, and removed the folder.
        guard error.errno == .notFound, attemptsLeft > 0 else { throw error }
      }
    }
  }

  /// Gives a finished file its final name.
  func place(_ temporary: consuming TemporaryFile, as target: TargetPath) throws(FileError) {
    let parent = try FileError.describing(.create, fullPath(target)) { () throws(Errno) in
      try folder.openFolder(creating: target.segments.dropLast().map(\.bytes), permissions: 0o755)
    }
    try temporary.replace(in: parent)
  }
}

extension FileDescriptor {
  fileprivate func openFolder(_ segments: some Sequence<ByteString>) throws(Errno) -> FileDescriptor {
    let names = segments.map(\.bytes)
    return try names.isEmpty ? openFolder(creating: [], permissions: 0) : open(Array(names.joined(separator: "/".utf8)), .directoryNoFollow)
  }
}

extension TargetPath {
  fileprivate var lastSegment: [UInt8] { segments.last?.bytes ?? name.bytes }
}
