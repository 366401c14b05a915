import Foundation
import TUFMetadata
import TestSupport
import Testing

/// nst/JSONTestSuite. Metadata is stricter than JSON; each stricter choice stands in a table here, with the fault that it is refused for.
@Suite struct `Against JSONTestSuite, the JSON reader` {
  let files: [String: [UInt8]]

  init() throws {
    let data = try Data(contentsOf: packageRoot.appending(path: "Tests/Vectors/json-parsing/json-test-suite.json"))
    let texts = try JSONDecoder().decode([String: String].self, from: data)
    files = try texts.mapValues { try bytes(hexadecimal: $0[...]) }
    try #require(files.count == 316)
  }

  /// JSON that is not metadata. Canonical JSON has no fractions and no exponents; of two members with one name, two readers may take
  /// different ones.
  static let exceptions: [String: JSONFault] = [
    "y_number.json": .floatingPointNumber,
    "y_number_0e+1.json": .floatingPointNumber,
    "y_number_0e1.json": .floatingPointNumber,
    "y_number_double_close_to_zero.json": .floatingPointNumber,
    "y_number_int_with_exp.json": .floatingPointNumber,
    "y_number_real_capital_e.json": .floatingPointNumber,
    "y_number_real_capital_e_neg_exp.json": .floatingPointNumber,
    "y_number_real_capital_e_pos_exp.json": .floatingPointNumber,
    "y_number_real_exponent.json": .floatingPointNumber,
    "y_number_real_fraction_exponent.json": .floatingPointNumber,
    "y_number_real_neg_exp.json": .floatingPointNumber,
    "y_number_real_pos_exponent.json": .floatingPointNumber,
    "y_number_simple_real.json": .floatingPointNumber,
    "y_object_duplicated_key.json": .duplicateMember("a"),
    "y_object_duplicated_key_and_value.json": .duplicateMember("a"),
    "y_object_extreme_numbers.json": .floatingPointNumber,
    "y_structure_lonely_negative_real.json": .floatingPointNumber,
  ]

  /// What JSON leaves open. All of it is refused: a number that cannot be held exactly, bytes that are not Unicode text, half a
  /// surrogate pair (which has no UTF-8 form to sign), a byte order mark or another encoding than UTF-8, more nesting than metadata has.
  static let choices: [String: JSONFault] = [
    "i_number_double_huge_neg_exp.json": .floatingPointNumber,
    "i_number_huge_exp.json": .floatingPointNumber,
    "i_number_neg_int_huge_exp.json": .floatingPointNumber,
    "i_number_pos_double_huge_exp.json": .floatingPointNumber,
    "i_number_real_neg_overflow.json": .floatingPointNumber,
    "i_number_real_pos_overflow.json": .floatingPointNumber,
    "i_number_real_underflow.json": .floatingPointNumber,
    "i_number_too_big_neg_int.json": .numberOutOfRange,
    "i_number_too_big_pos_int.json": .numberOutOfRange,
    "i_number_very_big_negative_int.json": .numberOutOfRange,
    "i_object_key_lone_2nd_surrogate.json": .loneSurrogate,
    "i_string_1st_surrogate_but_2nd_missing.json": .loneSurrogate,
    "i_string_1st_valid_surrogate_2nd_invalid.json": .loneSurrogate,
    "i_string_incomplete_surrogate_and_escape_valid.json": .loneSurrogate,
    "i_string_incomplete_surrogate_pair.json": .loneSurrogate,
    "i_string_incomplete_surrogates_escape_valid.json": .loneSurrogate,
    "i_string_invalid_lonely_surrogate.json": .loneSurrogate,
    "i_string_invalid_surrogate.json": .loneSurrogate,
    "i_string_inverted_surrogates_U+1D11E.json": .loneSurrogate,
    "i_string_lone_second_surrogate.json": .loneSurrogate,
    "i_string_UTF-16LE_with_BOM.json": .byteOrderMark,
    "i_structure_UTF-8_BOM_empty_object.json": .byteOrderMark,
    "i_string_utf16BE_no_BOM.json": .unexpectedByte(0),
    "i_string_utf16LE_no_BOM.json": .unexpectedByte(0),
    "i_string_UTF-8_invalid_sequence.json": .invalidUTF8,
    "i_string_UTF8_surrogate_U+D800.json": .invalidUTF8,
    "i_string_invalid_utf-8.json": .invalidUTF8,
    "i_string_iso_latin_1.json": .invalidUTF8,
    "i_string_lone_utf8_continuation_byte.json": .invalidUTF8,
    "i_string_not_in_unicode_range.json": .invalidUTF8,
    "i_string_overlong_sequence_2_bytes.json": .invalidUTF8,
    "i_string_overlong_sequence_6_bytes.json": .invalidUTF8,
    "i_string_overlong_sequence_6_bytes_null.json": .invalidUTF8,
    "i_string_truncated-utf-8.json": .invalidUTF8,
    "i_structure_500_nested_arrays.json": .tooDeep(limit: 32),
  ]

  @Test func `accepts what must be accepted, but for the listed exceptions`() {
    let names = files.keys.filter { $0.hasPrefix("y_") }
    #expect(Set(Self.exceptions.keys).isSubset(of: names) && names.count > Self.exceptions.count)
    for name in names { #expect(reason(name) == Self.exceptions[name], "\(name)") }
  }

  @Test func `refuses what must be refused`() {
    let names = files.keys.filter { $0.hasPrefix("n_") }
    #expect(!names.isEmpty)
    for name in names { #expect(reason(name) != nil, "\(name)") }
  }

  @Test func `decides what is left open as documented`() {
    let names = files.keys.filter { $0.hasPrefix("i_") }
    #expect(Set(names) == Set(Self.choices.keys))
    for name in names { #expect(reason(name) == Self.choices[name], "\(name)") }
  }

  /// Why a file is refused; nil where it is accepted.
  private func reason(_ name: String) -> JSONFault? {
    guard let text = files[name], case .syntax(let reason, let offset) = fault(text) else { return nil }
    #expect((0...text.count).contains(offset), "\(name)")
    return reason
  }
}
