import Digests
import FileIO
import Foundation
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

@Suite struct `A long file is held against the manifest on several threads` {
  static let segment = SegmentDigests.segmentByteCount
  /// Longer than what one thread does alone, and no multiple of anything.
  static let content: [UInt8] = {
    var generator = SeededGenerator(seed: 12)
    let piece = generator.bytes(1 << 18)
    var result: [UInt8] = []
    for _ in 0..<24 { result += piece }
    for index in 0..<result.count / segment { result[index * segment] = UInt8(index) }
    return result + [1, 2, 3]
  }()

  struct Signed {
    let file: TargetFile
    let segments: SegmentDigests?

    init(_ content: [UInt8]) {
      var hasher = FSVerityHasher(recordingSegments: true)
      hasher.update(content.span)
      let (digest, segments) = hasher.finalizeWithSegments()
      file = TargetFile(
        byteCount: Int64(content.count), hashes: FileHashes(sha256: SHA256.hash(of: content), sha512: SHA512.hash(of: content)),
        fsverity: digest)
      self.segments = segments
    }
  }

  static let signed = Signed(content)

  struct Way: CustomTestStringConvertible, Sendable {
    let method: FileVerifier.Method
    let jobs: Int
    let knowsSegments: Bool
    var testDescription: String { "\(method), \(jobs) threads, segments \(knowsSegments ? "known" : "not known")" }
  }

  static let ways = [FileVerifier.Method.tree, .whole, .every].flatMap { method in
    [1, 2, 5].flatMap { jobs in [false, true].map { Way(method: method, jobs: jobs, knowsSegments: $0) } }
  }

  static func refusal(_ path: String, _ way: Way, isCancelled: () -> Bool = { false }, progress: (Int) -> Void = { _ in })
    -> VerificationError?
  {
    var verifier = FileVerifier(method: way.method, jobs: way.jobs)
    do {
      _ = try verifier.verify(
        path, against: signed.file, segments: way.knowsSegments ? signed.segments : nil, isCancelled: isCancelled, progress: progress)
      return nil
    } catch { return error }
  }

  @Test(arguments: ways) func `the signed content is accepted, and every byte is told`(way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(Self.content, to: "file")
    var told = 0
    #expect(Self.refusal(path, way, progress: { told += $0 }) == nil)
    #expect(told == Self.content.count)
  }

  @Test(arguments: ways) func `one changed bit is told, and its segment where that can be known`(way: Way) throws {
    let folder = try TemporaryFolder()
    for index in [0, 5 * Self.segment + 9, Self.content.count - 1] {
      var content = Self.content
      content[index] ^= 1
      let path = try folder.write(content, to: "file")
      switch Self.refusal(path, way) {
      case .wrongDigest(path, let expected, let actual): #expect(expected != actual && (way.method == .whole || !way.knowsSegments))
      case .wrongSegment(path, let range, let expected, let actual):
        #expect(range.contains(Int64(index)) && expected != actual && way.knowsSegments && way.method != .whole)
      case let other: Issue.record("byte \(index) may be anything: \(String(describing: other))")
      }
    }
  }

  @Test(arguments: ways) func `segments of another file say nothing`(way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(Self.content, to: "file")
    let other = Signed(Array(Self.content.reversed()))
    var verifier = FileVerifier(method: way.method, jobs: way.jobs)
    _ = try verifier.verify(path, against: Self.signed.file, segments: other.segments)
  }

  @Test(arguments: ways) func `a file that changes while it is read, and a read that fails, are told as such`(way: Way) throws {
    let folder = try TemporaryFolder()
    for cut in [false, true] {
      let path = try folder.write(Self.content, to: "file")
      var asked = 0
      let refusal = Self.refusal(path, way) {
        asked += 1
        if asked == 1, let handle = FileHandle(forWritingAtPath: path) {
          if cut { try? handle.truncate(atOffset: 5_000_000) } else { try? handle.write(contentsOf: [0xFF]) }
          try? handle.close()
        }
        return false
      }
      #expect(refusal == .changedWhileRead(path: path))
    }
    let path = try folder.write(Self.content, to: "file")
    FaultInjection.withHook(below: folder.path) {
      $0.name == .read ? .fail(.inputOutput) : .proceed
    } _: {
      #expect(Self.refusal(path, way) == .file(.system(.read, path: path, .inputOutput)))
    }
    #expect(Self.refusal(path, way, isCancelled: { true }) == .cancelled)
  }

  @Test(arguments: ways) func `short and interrupted reads change nothing`(way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(Self.content, to: "file")
    FaultInjection.withHook(below: folder.path) {
      $0.ordinal.isMultiple(of: 3) ? .fail(.interrupted) : .short(300_001)
    } _: {
      #expect(Self.refusal(path, way) == nil)
    }
  }
}
