internal import Digests
internal import FileIO
internal import TUFMetadata

/// A file that is being fetched: it lies in staging under its signed digest, so that nothing of another file is ever taken for a part of it.
/// What is in it is believed only once it was hashed.
final class PartFile: Sendable {
  /// For messages.
  let path: String
  let name: [UInt8]
  let file: FileDescriptor

  /// Opens what an earlier attempt left, or begins anew. Whoever holds the store's lock is the only writer.
  init(_ target: TargetFile, in parts: borrowing FileDescriptor, at folderPath: String) throws(InstallationError) {
    let name = target.hashes.sha256.hexadecimal
    let path = "\(folderPath)/\(target.hashes.sha256)"
    if try at(.open, path, { () throws(Errno) in try Self.isTaken(name, in: parts) }) {
      try at(.remove, path) { () throws(Errno) in try parts.removeTree(name) }
    }
    file = try at(.create, path) { () throws(Errno) in try parts.open(name, .readWriteCreating(permissions: 0o600)) }
    self.path = path
    self.name = name
  }

  /// Whether something has the name that can't be gone on with. A file of one name only, and nothing else, is ours. One that is whole is read-only
  /// already when a process is killed before it moves it.
  private static func isTaken(_ name: [UInt8], in parts: borrowing FileDescriptor) throws(Errno) -> Bool {
    let status: FileStatus
    do { status = try parts.status(of: name) } catch .notFound { return false }
    guard status.kind == .regular, status.linkCount == 1 else { return true }
    return status.permissions & 0o600 != 0o600 && (try? parts.open(name, .readNoFollow).setPermissions(0o600)) == nil
  }

  /// Whether it is the name of such a file.
  static func isName(_ name: [UInt8]) -> Bool {
    name.count == 64 && name.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  func byteCount() throws(InstallationError) -> Int64 {
    try at(.inspect, path) { () throws(Errno) in try file.status().byteCount }
  }

  func truncate(to byteCount: Int64) throws(InstallationError) {
    try at(.write, path) { () throws(Errno) in try file.truncate(to: byteCount) }
  }

  func write(_ bytes: Span<UInt8>, at offset: Int64) throws(InstallationError) {
    do { try file.write(all: bytes, at: offset) } catch { throw .file(.system(.write, path: path, error)) }
  }
}
