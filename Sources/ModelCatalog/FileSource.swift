public import TUFMetadata

/// Where a file can be had besides the published tree: `https://…`, or `hf:owner/repository[@revision]/path` on the Hugging Face Hub.
public struct FileSource: Hashable, Sendable {
  /// The text, printable ASCII.
  public let text: ByteString

  /// - Throws: `MetadataError.invalidValue` with an empty path.
  public init(_ text: ByteString) throws(MetadataError) {
    if let rule = Self.brokenRule(text.bytes) {
      throw .invalidValue(path: "", expected: "a source \(rule)", found: MetadataError.quoted(text.bytes.span))
    }
    self.text = text
  }

  private static let https = Array("https://".utf8)
  private static let hub = Array("hf:".utf8)

  /// Whether it is on the Hugging Face Hub and names no commit, so that another file can come to be there.
  package var isMoving: Bool {
    guard text.bytes.starts(with: Self.hub) else { return false }
    let segments = text.bytes.dropFirst(Self.hub.count).split(separator: UInt8(ascii: "/"), maxSplits: 2)
    guard segments.count > 1, let mark = segments[1].firstIndex(of: UInt8(ascii: "@")) else { return true }
    let revision = segments[1][(mark + 1)...]
    let isCommit = revision.count == 40 && revision.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    return !isCommit
  }

  private static func brokenRule(_ bytes: [UInt8]) -> String? {
    guard bytes.count <= 2048 else { return "of at most 2048 bytes" }
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return "of printable ASCII without spaces, others as %XX" }
    guard !bytes.contains(UInt8(ascii: "\\")) else { return "without a backslash" }
    guard !bytes.contains(UInt8(ascii: "#")) else { return "without \"#\"" }
    if bytes.starts(with: https) {
      let rest = bytes.dropFirst(https.count)
      let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
      guard !authority.contains(UInt8(ascii: "@")) else { return "without a user or password" }
      guard let first = authority.first, first != UInt8(ascii: ":") else { return "that names a host" }
      guard rest.dropFirst(authority.count).first == UInt8(ascii: "/") else { return "with a path behind its host" }
      return nil
    }
    if bytes.starts(with: hub) {
      let segments = bytes.dropFirst(hub.count).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      let special = segments.contains { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
      guard segments.count >= 3, !special, !bytes.contains(UInt8(ascii: "?")) else { return "as hf:owner/repository[@revision]/path" }
      let repository = segments[1].split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
      guard repository.count <= 2, repository.allSatisfy({ !$0.isEmpty }) else { return "as hf:owner/repository[@revision]/path" }
      return nil
    }
    return "that begins with https:// or hf:"
  }
}

extension FileSource: CustomStringConvertible {
  public var description: String { text.description }
}
