import FileIO
import Foundation
import ManifestSigning
import TUFMetadata
import Testing

/// A folder of models that is made for one test and removed after it.
final class ModelTree {
  let folder: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("catalog-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// With one good file in one version of one model.
  convenience init(file: String) throws {
    try self.init()
    try write(file, "weights")
  }

  deinit {
    chmod("", 0o755)
    try? FileManager.default.removeItem(atPath: folder)
  }

  func path(_ relative: String) -> String { relative.isEmpty ? folder : folder + "/" + relative }

  func write(_ relative: String, _ text: String) throws { try write(relative, Data(text.utf8)) }

  func write(_ relative: String, _ data: Data) throws {
    let path = path(relative)
    try makeFolder(String(relative[..<(relative.lastIndex(of: "/") ?? relative.startIndex)]))
    try data.write(to: URL(fileURLWithPath: path))
  }

  func append(_ relative: String, _ text: String) throws {
    let file = try #require(FileHandle(forWritingAtPath: path(relative)))
    try file.seekToEnd()
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }

  func makeFolder(_ relative: String) throws {
    try FileManager.default.createDirectory(atPath: path(relative), withIntermediateDirectories: true)
  }

  func chmod(_ relative: String, _ mode: Int) {
    try? FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(relative))
  }

  /// Makes a file whose name need not be UTF-8.
  func write(bytesOfName name: [UInt8], in relative: String) throws {
    let path = Array(self.path(relative).utf8) + [UInt8(ascii: "/")] + name + [0]
    // The path is ended by NUL and outlives the call.
    let number = unsafe path.withUnsafeBufferPointer {
      unsafe $0.withMemoryRebound(to: CChar.self) { unsafe creat($0.baseAddress!, 0o644) }
    }
    try #require(number >= 0)
    close(number)
  }

  func scan() throws(SigningError) -> CatalogScan { try CatalogScanner.scan(folder) }

  /// The problems that a scan tells; none where it succeeds.
  func problems() throws -> [ScanProblem] { try Self.problems(of: folder) }

  static func problems(of folder: String) throws -> [ScanProblem] {
    do throws(SigningError) {
      _ = try CatalogScanner.scan(folder)
    } catch {
      guard case .scan(let problems, let count) = error else { throw error }
      #expect(count >= problems.count)
      return problems
    }
    return []
  }
}
