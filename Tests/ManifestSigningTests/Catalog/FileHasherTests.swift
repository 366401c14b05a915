import Digests
import FileIO
import Foundation
import ManifestSigning
import ModelFormats
import TUFMetadata
import Testing

@Suite("A file is hashed whole, and as it was scanned")
struct FileHasherTests {
  private static let path = "org/name/1/weights.bin"

  @Test(arguments: [0, 1, 4096, 1 << 20, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, 8 << 20, 17 << 20]) func bothDigestsAreThoseOfTheBytes(
    _ byteCount: Int
  )
    throws
  {
    let tree = try ModelTree()
    let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
    try tree.write(Self.path, Data(bytes))
    let scan = try tree.scan()
    var hasher = try FileHasher(folder: scan.folder)
    var counted = 0
    let hashed = try hasher.hash(scan.files[0], progress: { counted += $0 })
    #expect(hashed.target.hashes.sha256 == SHA256.hash(of: bytes))
    var fsverity = FSVerityHasher()
    fsverity.update(bytes.span)
    let expected = fsverity.finalize()
    #expect(hashed.target.fsverity == expected)
    #expect(hashed.target.byteCount == Int64(byteCount))
    #expect(hashed.summary.format == .unknown)
    #expect(counted == byteCount)
  }

  /// What happens to a file while it is hashed, or between the scan and then.
  enum Change: String, CaseIterable, Sendable {
    case appended, cut, overwritten, replaced, removed, becameLink, becameFolder

    func apply(_ tree: ModelTree, _ path: String) throws {
      let full = tree.path(path)
      let files = FileManager.default
      switch self {
      case .appended: try tree.append(path, "more")
      case .cut:
        // The path is ended by NUL and outlives the call.
        let result = unsafe truncate(full, 100)
        try #require(result == 0)
      case .overwritten:
        let file = try #require(FileHandle(forWritingAtPath: full))
        try file.write(contentsOf: Data("other".utf8))
        try file.close()
      case .replaced:
        try files.copyItem(atPath: full, toPath: full + ".new")
        // The paths are ended by NUL and outlive the call.
        let result = unsafe rename(full + ".new", full)
        try #require(result == 0)
      case .removed: try files.removeItem(atPath: full)
      case .becameLink:
        try files.moveItem(atPath: full, toPath: full + ".moved")
        try files.createSymbolicLink(atPath: full, withDestinationPath: full + ".moved")
      case .becameFolder:
        try files.removeItem(atPath: full)
        try files.createDirectory(atPath: full, withIntermediateDirectories: false)
      }
    }
  }

  @Test(arguments: Change.allCases, [3 << 20, 20 << 20]) func changeWhileItIsHashedIsAnError(_ change: Change, _ byteCount: Int) throws {
    let tree = try ModelTree()
    try tree.write(Self.path, Data(repeating: 7, count: byteCount))
    let scan = try tree.scan()
    let file = try #require(scan.files.first)
    var hasher = try FileHasher(folder: scan.folder)
    var isChanged = false
    var failure: (any Error)?
    let expected = SigningError.changedWhileHashed(path: file.path)
    do throws(SigningError) {
      _ = try hasher.hash(file) { _ in
        guard !isChanged else { return }
        isChanged = true
        do { try change.apply(tree, Self.path) } catch { failure = error }
      }
      Issue.record("accepted")
    } catch { #expect(error == expected) }
    #expect(failure == nil && isChanged)
  }

  @Test(arguments: Change.allCases) func changeSinceTheScanIsAnError(_ change: Change) throws {
    let tree = try ModelTree()
    try tree.write(Self.path, Data(repeating: 7, count: 5000))
    let scan = try tree.scan()
    let file = try #require(scan.files.first)
    try change.apply(tree, Self.path)
    var hasher = try FileHasher(folder: scan.folder)
    let error = Self.failure { () throws(SigningError) in _ = try hasher.hash(file) }
    #expect(error == .changedWhileHashed(path: file.path))
  }

  @Test func changeOfTheLastFileOfManyIsAnError() throws {
    let tree = try ModelTree(file: "org/name/1/a")
    try tree.write("org/name/1/b", "b")
    let scan = try tree.scan()
    var hasher = try FileHasher(folder: scan.folder)
    let error = Self.failure { () throws(SigningError) in
      _ = try hasher.hash(scan.files[0], progress: { _ in try? tree.append("org/name/1/b", "x") })
      _ = try hasher.hash(scan.files[1])
    }
    #expect(error == .changedWhileHashed(path: scan.files[1].path))
  }

  @Test func hashingStopsWhenAsked() throws {
    let tree = try ModelTree()
    try tree.write(Self.path, Data(repeating: 7, count: 8 << 20))
    let scan = try tree.scan()
    var hasher = try FileHasher(folder: scan.folder)
    var counted = 0
    let error = Self.failure { () throws(SigningError) in
      _ = try hasher.hash(scan.files[0], progress: { counted += $0 }, isCancelled: { counted >= 2 << 20 })
    }
    #expect(error == .cancelled)
    #expect(counted < 8 << 20)
  }

  @Test func diskThatFailsIsNamed() throws {
    let tree = try ModelTree(file: Self.path)
    let scan = try tree.scan()
    let error = try FaultInjection.withHook(below: tree.folder) {
      $0.name == .read ? .fail(.inputOutput) : .proceed
    } _: {
      var hasher = try FileHasher(folder: scan.folder)
      return Self.failure { () throws(SigningError) in _ = try hasher.hash(scan.files[0]) }
    }
    #expect(error == .file(.system(.read, path: tree.path(Self.path), .inputOutput)))
  }

  @Test(arguments: [
    ("empty.gguf", "", FileContent.empty), ("page.gguf", "<!DOCTYPE html><html>", .html), ("page.safetensors", "<html>", .html),
  ])
  func whatIsNotWhatItsNamePromisesIsRefused(_ name: String, _ content: String, _ found: FileContent) throws {
    let tree = try ModelTree()
    try tree.write("org/name/1/" + name, content)
    let scan = try tree.scan()
    var hasher = try FileHasher(folder: scan.folder)
    let error = Self.failure { () throws(SigningError) in _ = try hasher.hash(scan.files[0]) }
    guard case .format(let path, .wrongContent(_, found: found)) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path == scan.files[0].path)
  }

  @Test func summaryTellsTheFormat() throws {
    let tree = try ModelTree()
    try tree.write("org/name/1/a.safetensors", safetensors())
    let scan = try tree.scan()
    var hasher = try FileHasher(folder: scan.folder)
    let summary = try hasher.hash(scan.files[0]).summary
    #expect(summary.format == .safetensors)
    #expect(summary.quantisation == "F16")
  }

  private static func failure(_ body: () throws(SigningError) -> Void) -> SigningError? {
    do throws(SigningError) { try body() } catch { return error }
    return nil
  }
}

/// A safetensors file of one tensor.
func safetensors() -> Data {
  let header = #"{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}"#
  let padded = header + String(repeating: " ", count: (8 - header.utf8.count % 8) % 8)
  return Data((0..<8).map { UInt8(truncatingIfNeeded: padded.utf8.count >> ($0 * 8)) }) + Data(padded.utf8) + Data([0, 60, 0, 64])
}
