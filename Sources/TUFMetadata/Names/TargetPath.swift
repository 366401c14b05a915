/// The path of a target: relative, of segments divided by `/`, never leading out of the folder that it is resolved in.
///
/// TUF 1.0.34 §4.5 leaves the syntax open; what a path may hold here is what can't harm a file system, a terminal or a URL:
/// no leading `/`, no empty, `.` or `..` segment, no control character, no backslash.
public struct TargetPath: Hashable, Sendable {
  /// The most bytes in a path and in one segment of it: what Linux and Apple file systems take.
  static let byteLimit = 4096
  static let segmentByteLimit = 255

  /// The path as its bytes.
  public let name: ByteString

  /// A path read from text.
  /// - Throws: `MetadataError.invalidValue` that names the rule which the text breaks, with an empty path.
  public init(_ text: String) throws(MetadataError) { try self.init(ByteString(text)) }

  /// A path read from bytes, which have to be UTF-8.
  /// - Throws: as the initialiser from text.
  public init(_ name: ByteString) throws(MetadataError) {
    try Self.check(name.bytes.span)
    self.name = name
  }

  /// A path whose bytes `check` was given before.
  init(checked name: ByteString) { self.name = name }

  /// Whether bytes are a target path, for whoever need not keep it.
  static func check(_ bytes: Span<UInt8>) throws(MetadataError) {
    guard let rule = brokenRule(bytes) else { return }
    throw .invalidValue(path: "", expected: "a target path \(rule)", found: MetadataError.quoted(bytes))
  }

  /// What is wrong with the bytes of a path, in words that follow "a target path"; nil where nothing is.
  static func brokenRule(_ bytes: Span<UInt8>) -> String? {
    guard !bytes.isEmpty else { return "of at least one character" }
    guard bytes.count <= byteLimit else { return "of at most \(byteLimit) bytes" }
    var start = 0
    var together: UInt8 = 0
    for index in 0...bytes.count {
      if index < bytes.count, bytes[index] != UInt8(ascii: "/") {
        together |= bytes[index]
        // Letters, digits and most else that paths are made of.
        if bytes[index] > UInt8(ascii: "\\"), bytes[index] < 0x7F { continue }
        switch bytes[index] {
        case 0..<0x20, 0x7F: return "without control characters"
        // U+0080 to U+009F, which some terminals obey as well.
        case 0xC2 where index + 1 < bytes.count && (0x80...0x9F).contains(bytes[index + 1]): return "without control characters"
        case UInt8(ascii: "\\"): return "without a backslash"
        default: continue
        }
      }
      switch index - start {
      case 0: return start == 0 && index < bytes.count ? "without a leading \"/\"" : "without empty segments"
      case 1 where bytes[start] == UInt8(ascii: "."): return "without \".\" segments"
      case 2 where bytes[start] == UInt8(ascii: ".") && bytes[start + 1] == UInt8(ascii: "."): return "without \"..\" segments"
      case (segmentByteLimit + 1)...: return "whose segments have at most \(segmentByteLimit) bytes"
      default: start = index + 1
      }
    }
    guard together >= 0x80 else { return nil }
    do { _ = try UTF8Span(validating: bytes) } catch { return "in UTF-8" }
    return nil
  }

  /// The segments between the slashes, at least one.
  public var segments: [ByteString] {
    name.bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { ByteString(Array($0)) }
  }

  /// The path with a prefix before its last segment, as consistent snapshots store a target (TUF 1.0.34 §6.2).
  package func prefixed(by prefix: [UInt8]) -> [UInt8] {
    let start = name.bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    return name.bytes[..<start] + prefix + [UInt8(ascii: ".")] + name.bytes[start...]
  }
}

extension TargetPath: Comparable {
  public static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

extension TargetPath: CustomStringConvertible {
  public var description: String { name.description }
}
