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
    for number in 0..<20 {
      cache.remember(try hashed(number, quantisation: number % 2 == 0 ? "Q4_K_M" : nil), readAfter: 10 + DigestCache.clockStep)
    }
    return cache
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
    cache.remember(file, readAfter: 10 + DigestCache.clockStep)
    #expect((cache.known(file.file.path, file.file.status) != nil) == (changed < 10))
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
    #expect(cache.known(file.path, status()) != nil)
    #expect(cache.known(try TargetPath("a/b/c/4"), status()) == nil)
    for other in [status(device: 2), status(inode: 4), status(byteCount: 4), status(modified: 5), status(changed: 6), status(kind: .fifo)] {
      #expect(cache.known(file.path, other) == nil)
    }
  }
}
