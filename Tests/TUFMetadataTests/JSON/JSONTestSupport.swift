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
  let digits = Array(text.utf8)
  try #require(digits.count.isMultiple(of: 2))
  return try stride(from: 0, to: digits.count, by: 2).map { index in
    try #require(UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16))
  }
}

extension JSONValue {
  /// The canonical form as text.
  var canonicalText: String { String(decoding: canonicalBytes, as: UTF8.self) }
}
