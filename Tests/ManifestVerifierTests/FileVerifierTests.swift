import Digests
import FileIO
import Foundation
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

@Suite struct `A file is held against the manifest through one open descriptor` {
  static let content = (0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

  static func file(_ content: [UInt8], tree: Bool = true, sha512: Bool = false) -> TargetFile {
    var hasher = FSVerityHasher()
    hasher.update(content.span)
    return TargetFile(
      byteCount: Int64(content.count),
      hashes: FileHashes(sha256: SHA256.hash(of: content), sha512: sha512 ? SHA512.hash(of: content) : nil),
      fsverity: tree ? hasher.finalize() : nil)
  }

  static func refusal(
    _ path: String, _ file: TargetFile, _ method: FileVerifier.Method = .every, isCancelled: () -> Bool = { false }
  ) -> VerificationError? {
    var verifier = FileVerifier(method: method)
    do {
      _ = try verifier.verify(path, against: file, isCancelled: isCancelled)
      return nil
    } catch {
      return error
    }
  }

  static let methods: [FileVerifier.Method] = [.tree, .whole, .every]

  @Test(arguments: [0, 1, 4096, 4097, 1 << 20, (1 << 20) + 1, 2_500_000], methods)
  func `the signed content is accepted, and every byte is told to the progress`(count: Int, method: FileVerifier.Method) throws {
    let folder = try TemporaryFolder()
    let content = Array(Self.content.prefix(count))
    let path = try folder.write(content, to: "file")
    var verifier = FileVerifier(method: method)
    var progress = 0
    let verified = try verifier.verify(path, against: Self.file(content, sha512: true), progress: { progress += $0 })
    #expect(progress == count)
    // What was verified is what is handed out, wherever the path leads by now.
    try FileManager.default.removeItem(atPath: path)
    var buffer = [UInt8](repeating: 0, count: 16)
    let read = try verified.descriptor.fill(&buffer, at: 0)
    #expect(Array(buffer.prefix(read)) == Array(content.prefix(16)))
  }

  @Test(arguments: methods) func `one changed bit is a wrong digest, in any place`(method: FileVerifier.Method) throws {
    let folder = try TemporaryFolder()
    let file = Self.file(Self.content)
    for index in [0, 1 << 20, Self.content.count - 1] {
      var content = Self.content
      content[index] ^= 1
      let path = try folder.write(content, to: "file")
      guard case .wrongDigest(path, let expected, let actual) = Self.refusal(path, file, method) else {
        Issue.record("byte \(index) may be anything")
        continue
      }
      let name = method == .whole ? "sha256:" : "fs-verity sha256:"
      #expect(expected.hasPrefix(name) && actual.hasPrefix(name) && expected != actual)
    }
  }

  @Test func `a length that is wrong is told as such, and nothing is read`() throws {
    let folder = try TemporaryFolder()
    let file = Self.file(Self.content)
    for count in [0, 1, Self.content.count - 1] {
      let path = try folder.write(Array(Self.content.prefix(count)), to: "file")
      let reads = Counter()
      FaultInjection.withHook(below: folder.path) { call in
        if call.name == .read { reads.increment() }
        return .proceed
      } _: {
        #expect(Self.refusal(path, file) == .wrongLength(path: path, expected: file.byteCount, actual: Int64(count)))
      }
      #expect(reads.value == 0)
    }
    let path = try folder.write(Self.content + [0], to: "file")
    #expect(Self.refusal(path, file) == .wrongLength(path: path, expected: file.byteCount, actual: file.byteCount + 1))
  }

  @Test func `a file that grows while it is read is stopped at the first byte too many`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(Self.content, to: "file")
    let handle = try #require(FileHandle(forWritingAtPath: path))
    var asked = 0
    let refusal = Self.refusal(path, Self.file(Self.content)) {
      asked += 1
      if asked == 2 {
        _ = try? handle.seekToEnd()
        try? handle.write(contentsOf: [UInt8](repeating: 0, count: 50_000_000))
      }
      return false
    }
    #expect(asked == 3)
    guard case .wrongLength(path, 2_500_000, let actual) = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    // It looked at no more than the piece in which the first byte too many stands.
    #expect(actual > 2_500_000 && actual <= 3 << 20)
  }

  @Test func `a file that is changed or cut while it is read is told as such`() throws {
    let folder = try TemporaryFolder()
    for cut in [false, true] {
      let path = try folder.write(Self.content, to: "file")
      var asked = 0
      let refusal = Self.refusal(path, Self.file(Self.content)) {
        asked += 1
        if asked == 2, let handle = FileHandle(forWritingAtPath: path) {
          // What was read before is written again with another value, so that the digests hold and the file does not.
          if cut { try? handle.truncate(atOffset: 2_000_000) } else { try? handle.write(contentsOf: [0xFF]) }
          try? handle.close()
        }
        return false
      }
      #expect(refusal == .changedWhileRead(path: path))
    }
  }

  @Test func `it can be cancelled before each piece`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(Self.content, to: "file")
    for piece in 1...3 {
      var asked = 0
      let refusal = Self.refusal(path, Self.file(Self.content)) {
        asked += 1
        return asked == piece
      }
      #expect(refusal == .cancelled && asked == piece)
    }
    #expect(Self.refusal(path, Self.file(Self.content)) == nil)
  }

  @Test func `what is no regular file is refused and not waited for`() throws {
    let folder = try TemporaryFolder()
    let file = Self.file([])
    #expect(Self.refusal(folder.path, file) == .file(.notRegular(path: folder.path, .directory)))
    _ = try runChild("mkfifo", [folder("fifo")]).successful()
    #expect(Self.refusal(folder("fifo"), file) == .file(.notRegular(path: folder("fifo"), .fifo)))
    #expect(Self.refusal("/dev/null", file) == .file(.notRegular(path: "/dev/null", .characterDevice)))
    #expect(Self.refusal(folder("none"), file) == .file(.system(.read, path: folder("none"), .notFound)))
  }

  @Test func `which digest decides is the caller's choice`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(Self.content, to: "file")
    let (good, other) = (Self.file(Self.content, sha512: true), Self.file([1], sha512: true))
    let wrongTree = TargetFile(byteCount: good.byteCount, hashes: good.hashes, fsverity: other.fsverity)
    let wrongWhole = TargetFile(
      byteCount: good.byteCount, hashes: FileHashes(sha256: other.hashes.sha256, sha512: good.hashes.sha512), fsverity: good.fsverity)
    let wrong512 = TargetFile(
      byteCount: good.byteCount, hashes: FileHashes(sha256: good.hashes.sha256, sha512: other.hashes.sha512), fsverity: good.fsverity)
    func isRefused(_ file: TargetFile) -> [Bool] { Self.methods.map { Self.refusal(path, file, $0) != nil } }
    // In the order tree, whole, every.
    #expect(isRefused(good) == [false, false, false])
    #expect(isRefused(wrongTree) == [true, false, true])
    #expect(isRefused(wrongWhole) == [false, true, true])
    #expect(isRefused(wrong512) == [false, true, true])
    // Without a tree the whole file's digests decide.
    let noTree = TargetFile(byteCount: good.byteCount, hashes: wrong512.hashes, fsverity: nil)
    #expect(isRefused(noTree) == [true, true, true])
  }

  @Test func `a read that fails is the file's error`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(Self.content, to: "file")
    FaultInjection.withHook(below: folder.path) {
      $0.name == .read ? .fail(.inputOutput) : .proceed
    } _: {
      #expect(Self.refusal(path, Self.file(Self.content)) == .file(.system(.read, path: path, .inputOutput)))
    }
  }

  @Test func `short and interrupted reads change nothing`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(Self.content, to: "file")
    FaultInjection.withHook(below: folder.path) {
      $0.ordinal.isMultiple(of: 3) ? .fail(.interrupted) : .short(100_001)
    } _: {
      #expect(Self.refusal(path, Self.file(Self.content)) == nil)
    }
  }

  @Test func `one verifier serves many files`() throws {
    let folder = try TemporaryFolder()
    var verifier = FileVerifier()
    for count in [5000, 0, 1, 4096] {
      let content = Array(Self.content.prefix(count))
      _ = try verifier.verify(folder.write(content, to: "\(count)"), against: Self.file(content))
    }
  }
}
