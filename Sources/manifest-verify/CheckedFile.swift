internal import CommandFailures
internal import CommandLineSupport
internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata

/// What became of one file of a check.
struct CheckedFile {
  enum Outcome {
    case ok
    /// The digest is told where the file is too short and not large.
    case wrongLength(found: Int64, digest: String?)
    case wrongDigest(expected: String, found: String)
    /// A `.verity` told which part of the file differs.
    case wrongSegment(Range<Int64>, expected: String, found: String)
    case missing
    case notListed
    case extra(FileKind, byteCount: Int64)
    case changed
    case unreadable(reason: String)
    /// Metadata on the way to the file can't be trusted.
    case notTrusted(VerificationError)
  }

  let path: ByteString
  /// What the manifest says of it; nil where it lists no such file.
  let file: TargetFile?
  let outcome: Outcome

  /// The word of the documented interface.
  var status: String {
    switch outcome {
    case .ok: "ok"
    case .wrongLength: "wrong length"
    case .wrongDigest, .wrongSegment: "wrong digest"
    case .missing: "missing"
    case .notListed: "not listed"
    case .extra: "extra"
    case .changed: "changed while read"
    case .unreadable: "unreadable"
    case .notTrusted: "not trusted"
    }
  }

  var exitCode: ExitCode {
    switch outcome {
    case .ok: .done
    case .unreadable: .disk
    case .notTrusted(let error): Failure(error).code
    case .wrongLength, .wrongDigest, .wrongSegment, .missing, .notListed, .extra, .changed: .fileMismatch
    }
  }

  /// Why, for people: one line for what was expected, one for what was found.
  var details: [EscapedText] {
    switch outcome {
    case .ok: []
    case .wrongLength(let found, let digest):
      [expectation, "  found:    \(HumanReadable.exactBytes(found))\(digest.map { ", \($0)" } ?? "")"]
    case .wrongDigest(let expected, let found):
      ["  expected: \(length), \(expected)", "  found:    \(length), \(found)"]
    case .wrongSegment(let range, let expected, let found):
      [
        "  expected: \(expected) in bytes \(range.lowerBound) to \(range.upperBound - 1)",
        "  found:    \(found), and no more of the file was read",
      ]
    case .missing: [expectation, "  found:    nothing"]
    case .notListed: ["  expected: a file that the trusted manifest lists; manifest-verify list shows them"]
    case .extra(let kind, let byteCount):
      [
        "  expected: nothing, for the manifest lists no such file",
        "  found:    \(kind == .regular ? HumanReadable.exactBytes(byteCount) : "a \(kind.rawValue)")",
      ]
    case .changed: [expectation, "  found:    another size or time of change after reading than before"]
    case .notTrusted(let error): ["  expected: trusted metadata of every role that may list it", "  found:    \(error)"]
    case .unreadable(let reason): [expectation, "  found:    \(reason)"]
    }
  }

  private var length: String { file.map { HumanReadable.exactBytes($0.byteCount) } ?? "" }

  private var expectation: EscapedText {
    guard let file else { return "  expected: a file or folder that can be read" }
    return "  expected: \(length), sha256:\(file.hashes.sha256)"
  }

  var json: JSONResult {
    var members: [JSONResult.Member] = [
      .init("path", .string(TargetPath.isUTF8(path) ? path.description : escaped(bytes: path.bytes))), .init("status", .string(status)),
    ]
    if let file {
      var digest = "sha256:\(file.hashes.sha256)"
      if case .wrongDigest(let expected, _) = outcome { digest = expected }
      members.append(.init("expected", ["length": .integer(file.byteCount), "digest": .string(digest)]))
    }
    switch outcome {
    case .wrongLength(let found, let digest):
      members.append(.init("found", ["length": .integer(found), "digest": .optional(digest)]))
    case .wrongDigest(_, let found):
      members.append(.init("found", ["length": file.map { .integer($0.byteCount) } ?? .null, "digest": .string(found)]))
    case .wrongSegment(let range, let expected, let found):
      let length = JSONResult.integer(range.upperBound - range.lowerBound)
      members.append(
        .init("segment", ["offset": .integer(range.lowerBound), "length": length, "expected": .string(expected), "found": .string(found)]))
    case .extra(.regular, let byteCount): members.append(.init("found", ["length": .integer(byteCount), "digest": nil]))
    case .notTrusted(let error): members.append(.init("reason", .string(error.description)))
    case .unreadable(let reason): members.append(.init("reason", .string(reason)))
    case .ok, .missing, .notListed, .extra, .changed: break
    }
    return .object(members)
  }
}

extension TargetPath {
  fileprivate static func isUTF8(_ name: ByteString) -> Bool { String(validating: name.bytes, as: UTF8.self) != nil }
}
