import Digests
import FileIO
import ManifestSigning
import ModelFormats
import TUFMetadata
import TestSupport
import Testing

@Suite struct `A cache of digests` {
  static func hashed(_ number: Int, changed: Int64 = 5, quantisation: String? = nil) throws -> HashedFile {
    let status = FileStatus(
      device: 1, inode: UInt64(number), kind: .regular, byteCount: Int64(number), modifiedNanoseconds: 4, changedNanoseconds: changed,
      permissions: 0o644, owner: 0, linkCount: 1)
    let digest = SHA256.hash(of: [UInt8(number & 0xFF)])
    return HashedFile(
      file: ScannedFile(path: try TargetPath("a/b/c/\(number)"), status: status),
      target: TargetFile(byteCount: Int64(number), hashes: FileHashes(sha256: digest), fsverity: FSVerityDigest(sha256: digest)),
      segments: nil,
      summary: ModelSummary(format: .unknown, content: .text, quantisation: quantisation))
  }

  static func cache() throws -> DigestCache {
    var cache = DigestCache()
    for number in stride(from: 18, through: 0, by: -2) {
      cache.remember(
        [try hashed(number, quantisation: "Q4_K_M"), try hashed(number + 1)], readAfter: 10 + DigestCache.clockStep)
    }
    return cache
  }

  static func known(_ cache: DigestCache, _ path: TargetPath, _ status: FileStatus) -> DigestCache.Entry? {
    var next = 0
    return cache.known(path, status, expectedAt: &next)
  }

  @Test(arguments: [0, 7, 19, 20, -1, .max]) func `finds every file wherever it was expected`(expected: Int) throws {
    let cache = try Self.cache()
    #expect(cache.entries.map(\.path) == cache.entries.map(\.path).sorted())
    for number in 0..<20 {
      let file = try Self.hashed(number).file
      var next = expected
      #expect(cache.known(file.path, file.status, expectedAt: &next)?.path == file.path)
      // Where the one behind it stands.
      #expect(next == cache.entries.firstIndex { $0.path > file.path } ?? cache.entries.count)
    }
    var next = expected
    #expect(cache.known(try TargetPath("a/b/c/x"), try Self.hashed(1).file.status, expectedAt: &next) == nil)
  }

  @Test func `remembers the last of what it was told of a path`() throws {
    var cache = try Self.cache()
    cache.remember([try Self.hashed(3, quantisation: "Q8_0")], readAfter: 10 + DigestCache.clockStep)
    let file = try Self.hashed(3).file
    #expect(cache.entries.count == 20 && Self.known(cache, file.path, file.status)?.summary.quantisation == "Q8_0")
  }

  @Test func `reads what it wrote`() throws {
    let cache = try Self.cache()
    let read = try #require(DigestCache(cache.bytes))
    #expect(read.entries == cache.entries && read.entries.count == 20 && !read.isChanged)
  }

  @Test func `takes nothing for its own that differs in one bit, or is cut anywhere`() throws {
    let bytes = try Self.cache().bytes
    for index in bytes.indices {
      var bad = bytes
      bad[index] ^= 1 << UInt8(index & 7)
      #expect(DigestCache(bad) == nil, "byte \(index)")
      #expect(DigestCache(Array(bytes[..<index])) == nil, "\(index) bytes")
    }
  }

  @Test(arguments: [5, 10, 10 + DigestCache.clockStep, .max])
  func `remembers nothing that changed within a step of the clock before it was read`(changed: Int64) throws {
    var cache = DigestCache()
    let file = try Self.hashed(1, changed: changed)
    cache.remember([file], readAfter: 10 + DigestCache.clockStep)
    #expect((Self.known(cache, file.file.path, file.file.status) != nil) == (changed < 10))
  }

  @Test func `knows a file by each of its path, device, inode, length and times`() throws {
    let cache = try Self.cache()
    let file = try Self.hashed(3).file
    func status(
      device: UInt64 = 1, inode: UInt64 = 3, byteCount: Int64 = 3, modified: Int64 = 4, changed: Int64 = 5, kind: FileKind = .regular
    )
      -> FileStatus
    {
      FileStatus(
        device: device, inode: inode, kind: kind, byteCount: byteCount, modifiedNanoseconds: modified, changedNanoseconds: changed,
        permissions: 0o600, owner: 7, linkCount: 2)
    }
    #expect(Self.known(cache, file.path, status()) != nil)
    #expect(Self.known(cache, try TargetPath("a/b/c/4"), status()) == nil)
    for other in [status(device: 2), status(inode: 4), status(byteCount: 4), status(modified: 5), status(changed: 6), status(kind: .fifo)] {
      #expect(Self.known(cache, file.path, other) == nil)
    }
  }
}
