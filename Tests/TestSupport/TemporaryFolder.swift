package import Foundation

/// A folder of one test's own, removed with the value.
package final class TemporaryFolder: Sendable {
  package let path: String

  /// - Parameter mode: the permissions of the folder.
  package init(mode: Int = 0o700) throws {
    path = FileManager.default.temporaryDirectory.appending(path: "signed-manifest-" + UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    // Apart from the making, so that the umask has no say.
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package var url: URL { URL(fileURLWithPath: path, isDirectory: true) }

  /// The path of something inside.
  package func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// Writes a file, and the folders that it lies in.
  /// - Returns: its path.
  @discardableResult
  package func write(_ bytes: [UInt8], to name: String, mode: Int = 0o644) throws -> String {
    let file = self(name)
    try FileManager.default.createDirectory(
      at: URL(fileURLWithPath: file).deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    return file
  }

  @discardableResult
  package func write(_ text: String, to name: String) throws -> String { try write(Array(text.utf8), to: name) }

  package func bytes(of name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: self(name)))) }

  package func text(of name: String) throws -> String { String(decoding: try bytes(of: name), as: UTF8.self) }

  package var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }
}
