import ModelFormats
import Testing

/// Writes GGUF files byte by byte, right or wrong as a test wants them.
struct GGUFBuilder {
  var magic = Array("GGUF".utf8)
  var version: UInt32 = 3
  var entries: [[UInt8]] = []
  var tensors: [[UInt8]] = []
  var entryCount: UInt64?
  var tensorCount: UInt64?
  /// Bytes of tensor data after the padding.
  var dataLength = 0
  var alignment = 32

  var bytes: [UInt8] {
    var result: [UInt8] = magic
    result += little(version)
    result += little(tensorCount ?? UInt64(tensors.count))
    result += little(entryCount ?? UInt64(entries.count))
    result += Array(entries.joined())
    result += Array(tensors.joined())
    result += [UInt8](repeating: 0, count: (alignment - result.count % alignment) % alignment + dataLength)
    return result
  }

  func with(_ change: (inout GGUFBuilder) -> Void) -> [UInt8] {
    var copy = self
    change(&copy)
    return copy.bytes
  }

  /// One tensor of 8 numbers of 32 bits, and an architecture: 32 bytes of data.
  static let small = GGUFBuilder(
    entries: [entry("general.architecture", 8, text("llama"))], tensors: [tensor("t", [8], 0, 0)], dataLength: 32)

  static func text(_ text: String) -> [UInt8] { little(UInt64(text.utf8.count)) + Array(text.utf8) }

  static func entry(_ key: String, _ type: UInt32, _ value: [UInt8]) -> [UInt8] { text(key) + little(type) + value }

  static func array(_ type: UInt32, _ count: UInt64, _ values: [UInt8]) -> [UInt8] { little(type) + little(count) + values }

  static func tensor(_ name: String, _ shape: [UInt64], _ type: UInt32, _ offset: UInt64) -> [UInt8] {
    var result: [UInt8] = text(name)
    result += little(UInt32(shape.count))
    for dimension in shape { result += little(dimension) }
    result += little(type)
    result += little(offset)
    return result
  }
}

func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
  (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
}

/// A safetensors file with a header and so many bytes of data.
func safetensors(_ header: String, dataLength: Int = 0, headerLength: UInt64? = nil) -> [UInt8] {
  little(headerLength ?? UInt64(header.utf8.count)) + Array(header.utf8) + [UInt8](repeating: 7, count: dataLength)
}

/// A file that must be refused, named after the rule that it breaks.
struct Vector: Sendable, CustomTestStringConvertible {
  let rule: String
  let bytes: [UInt8]
  let error: ModelFormatError

  init(_ rule: String, _ bytes: [UInt8], _ error: ModelFormatError) { (self.rule, self.bytes, self.error) = (rule, bytes, error) }

  var testDescription: String { rule }
}
