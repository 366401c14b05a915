import Foundation
import TUFMetadata
import Testing

/// The value of a text that is JSON.
func read(_ text: String) throws -> JSONValue { try JSONDocument(parsing: Array(text.utf8)).root }

/// What the reader says against some bytes; nil where it accepts them.
func fault(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) -> MetadataError? {
  do {
    _ = try JSONDocument(parsing: bytes, limits: limits)
    return nil
  } catch {
    return error
  }
}

func fault(_ text: String) -> MetadataError? { fault(Array(text.utf8)) }

func bytes(hexadecimal text: Substring) throws -> [UInt8] {
  let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map(UInt8.init) }
  try #require(digits.count == text.utf8.count && digits.count.isMultiple(of: 2))
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

extension JSONValue {
  /// The canonical form as text.
  var canonicalText: String { String(decoding: canonicalBytes, as: UTF8.self) }
}
