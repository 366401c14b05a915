/// What the first bytes of a file look like: for the message that tells why a file is not the model that its name promises.
public enum FileContent: String, Equatable, Sendable, CaseIterable {
  case empty = "an empty file"
  case gguf = "a GGUF file"
  case safetensors = "a safetensors file"
  case gitLFSPointer = "a Git LFS pointer: the file itself was not fetched"
  case html = "an HTML page"
  case xml = "an XML document"
  case json = "a JSON document"
  case zip = "a ZIP archive"
  case gzip = "gzip-compressed data"
  case legacyGGML = "a GGML file of a kind older than GGUF"
  case pickle = "a Python pickle"
  case zeros = "zero bytes"
  case text = "plain text"
  case binary = "binary data of another kind"

  /// How many leading bytes `init(prefix:)` makes use of.
  static let prefixLength = 512

  /// - Parameter prefix: the file's first bytes, `prefixLength` or all of them.
  init(prefix: [UInt8]) {
    if prefix.isEmpty {
      self = .empty
    } else if prefix.starts(with: GGUFHeader.magic) {
      self = .gguf
    } else if Self.looksLikeSafetensors(prefix) {
      self = .safetensors
    } else {
      self = Self.magic(prefix) ?? Self.text(prefix)
    }
  }

  /// safetensors has no magic number: a plausible length and an object's first two characters are all there is to go by.
  private static func looksLikeSafetensors(_ prefix: [UInt8]) -> Bool {
    guard prefix.count >= 10, prefix[8] == UInt8(ascii: "{") else { return false }
    let headerLength = prefix[0..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard headerLength >= 2, headerLength <= ModelFormatLimits().safetensorsHeaderLength else { return false }
    return [UInt8(ascii: "\""), UInt8(ascii: "}"), UInt8(ascii: " "), UInt8(ascii: "\n")].contains(prefix[9])
  }

  private static func magic(_ prefix: [UInt8]) -> FileContent? {
    let known: [(magic: [UInt8], content: FileContent)] = [
      (Array("version https://git-lfs".utf8), .gitLFSPointer),
      (Array("PK\u{3}\u{4}".utf8), .zip), (Array("PK\u{5}\u{6}".utf8), .zip), ([0x1F, 0x8B], .gzip),
      // "ggml", "ggmf", "ggjt" and "ggla" as little-endian numbers.
      (Array("lmgg".utf8), .legacyGGML), (Array("fmgg".utf8), .legacyGGML), (Array("tjgg".utf8), .legacyGGML),
      (Array("algg".utf8), .legacyGGML),
      ([0x80, 0x02], .pickle), ([0x80, 0x03], .pickle), ([0x80, 0x04], .pickle), ([0x80, 0x05], .pickle),
    ]
    if let match = known.first(where: { prefix.starts(with: $0.magic) }) { return match.content }
    return prefix.allSatisfy { $0 == 0 } ? .zeros : nil
  }

  private static func text(_ prefix: [UInt8]) -> FileContent {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let visible = (prefix.starts(with: mark) ? prefix.dropFirst(3) : prefix[...]).drop { " \t\r\n".utf8.contains($0) }
    let isText = prefix.allSatisfy { $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) || $0 == 0x1B }
    guard isText else { return .binary }
    // Error pages write their tags in either case.
    let start = String(decoding: visible.prefix(64), as: UTF8.self).lowercased()
    if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") || start.hasPrefix("<head") || start.hasPrefix("<body") {
      return .html
    }
    if start.hasPrefix("<!--") { return String(decoding: visible, as: UTF8.self).lowercased().contains("<html") ? .html : .xml }
    if start.hasPrefix("<") { return .xml }
    if start.hasPrefix("{") || start.hasPrefix("[") { return .json }
    return .text
  }
}

extension FileContent: CustomStringConvertible {
  public var description: String { rawValue }
}
