import ModelFormats
import Testing

@Suite("Each safetensors rule refuses the file that breaks it, with the place and the numbers")
struct SafetensorsRuleTests {
  @Test(arguments: headerVectors + tensorVectors + jsonVectors)
  func isRefused(_ vector: Vector) {
    #expect(throws: vector.error) { try ModelInspection.inspect(name: "model.safetensors", bytes: vector.bytes) }
  }

  @Test("What the rules allow is accepted", arguments: allowed)
  func isAccepted(_ rule: String, bytes: [UInt8]) throws {
    #expect(try ModelInspection.inspect(name: "model.safetensors", bytes: bytes).format == .safetensors, "\(rule)")
  }

  @Test("The summary tells metadata, types and counts")
  func summary() throws {
    let header = #"{"__metadata__":{"format":"pt"},"a":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}}"#
    let summary = try ModelInspection.inspect(name: "model.safetensors", bytes: safetensors(header, dataLength: 12))
    #expect(summary.quantisation == "F16")
    #expect(summary.metadata.map(\.value) == ["pt"])
    #expect(summary.parameterCount == 6)
    #expect(summary.dataOffset == UInt64(8 + header.utf8.count))
  }
}

private func problem(_ offset: UInt64, _ problem: JSONProblem) -> ModelFormatError { .invalidJSON(offset: offset, problem: problem) }

/// A file with one tensor `a`.
private func one(_ type: String = "U8", _ shape: String = "[4]", _ offsets: String = "[0,4]", data: Int = 4) -> [UInt8] {
  safetensors(#"{"a":{"dtype":"\#(type)","shape":\#(shape),"data_offsets":\#(offsets)}}"#, dataLength: data)
}

/// A file with tensors of one byte each, by name and offsets.
private func bytes(_ tensors: (String, String)..., data: Int) -> [UInt8] {
  let members = tensors.map { #""\#($0.0)":{"dtype":"U8","shape":[1],"data_offsets":\#($0.1)}"# }
  return safetensors("{" + members.joined(separator: ",") + "}", dataLength: data)
}

private let headerVectors: [Vector] = [
  Vector("the length is all there", [1, 0, 0, 0, 0, 0, 0], .truncatedHeader(.headerLength, offset: 0, needed: 8, end: 7)),
  Vector("a header has at least 2 bytes", safetensors("{", headerLength: 1), .headerLength(found: 1, limit: 100_000_000)),
  Vector(
    "a header has at most 100,000,000 bytes", safetensors("{}", headerLength: 100_000_001),
    .headerLength(found: 100_000_001, limit: 100_000_000)),
  Vector("a length of 2^63 is refused", safetensors("{}", headerLength: 1 << 63), .headerLength(found: 1 << 63, limit: 100_000_000)),
  Vector("the header is all there", safetensors("{}", headerLength: 3), .truncatedHeader(.json, offset: 8, needed: 3, end: 10)),
  Vector("the header begins with a brace", safetensors(" {}"), problem(8, .expected("\"{\" as the header's first byte"))),
]

private let tensorVectors: [Vector] = [
  Vector("a dtype is known", one("F7"), .unknownTensorType(tensor: "a", found: "F7")),
  Vector("a dtype is in upper case", one("u8"), .unknownTensorType(tensor: "a", found: "u8")),
  Vector(
    "a dtype is given", safetensors(#"{"a":{"shape":[1],"data_offsets":[0,1]}}"#, dataLength: 1),
    .missingMember(tensor: "a", member: "dtype")),
  Vector(
    "a shape is given", safetensors(#"{"a":{"dtype":"U8","data_offsets":[0,1]}}"#, dataLength: 1),
    .missingMember(tensor: "a", member: "shape")),
  Vector(
    "offsets are given", safetensors(#"{"a":{"dtype":"U8","shape":[1]}}"#, dataLength: 1),
    .missingMember(tensor: "a", member: "data_offsets")),
  Vector("type and shape give the byte count", one("F32"), .wrongByteCount(tensor: "a", expected: 16, found: 4)),
  Vector(
    "types below a byte fill whole bytes", one("F4", "[3]", "[0,2]", data: 2),
    .partialBlock(tensor: "a", type: "F4", elements: 3, blockSize: 2)),
  Vector(
    "types of 6 bits fill whole bytes", one("F6_E2M3", "[6]", "[0,5]", data: 5),
    .partialBlock(tensor: "a", type: "F6_E2M3", elements: 6, blockSize: 4)),
  Vector("the elements can be counted", one("U8", "[4294967296,4294967296]"), .tensorTooLarge(tensor: "a")),
  Vector("the bits can be counted", one("F64", "[1152921504606846976]"), .tensorTooLarge(tensor: "a")),
  Vector("a range does not end before it begins", one("U8", "[4]", "[4,0]"), .reversedRange(tensor: "a", begin: 4, end: 0)),
  Vector("the first tensor begins the data", one("U8", "[4]", "[1,5]", data: 5), .misplacedTensor(tensor: "a", expected: 0, found: 1)),
  Vector("tensors do not overlap", bytes(("a", "[0,1]"), ("b", "[0,1]"), data: 1), .misplacedTensor(tensor: "b", expected: 1, found: 0)),
  Vector(
    "no bytes lie between tensors", bytes(("a", "[0,1]"), ("b", "[2,3]"), data: 3), .misplacedTensor(tensor: "b", expected: 1, found: 2)),
  Vector(
    "the data is all there", Array(one().dropLast()), .truncatedData(tensor: "a", end: UInt64(one().count), length: UInt64(one().count - 1))
  ),
  Vector("nothing follows the data", one() + [0], .trailingBytes(expected: UInt64(one().count), length: UInt64(one().count + 1))),
  Vector("nothing follows a header without tensors", safetensors("{}", dataLength: 1), .trailingBytes(expected: 10, length: 11)),
]

private let jsonVectors: [Vector] = [
  Vector(
    "a tensor's name stands once", bytes(("a", "[0,1]"), ("a", "[1,2]"), data: 2), problem(61, .duplicateMember("a"))),
  Vector(
    "an escaped name is the same name", bytes(("a", "[0,1]"), (#"\u0061"#, "[1,2]"), data: 2), problem(61, .duplicateMember("a"))),
  Vector("a member stands once", safetensors(#"{"a":{"dtype":"U8","dtype":"U8"}}"#), problem(27, .duplicateMember("dtype"))),
  Vector("metadata is an object", safetensors(#"{"__metadata__":null}"#), problem(24, .expected("an object of texts"))),
  Vector("metadata holds texts only", safetensors(#"{"__metadata__":{"a":1}}"#), problem(29, .expected("a string"))),
  Vector("a metadata key stands once", safetensors(#"{"__metadata__":{"a":"","a":""}}"#), problem(32, .duplicateMember("a"))),
  Vector("metadata stands once", safetensors(#"{"__metadata__":{},"__metadata__":{}}"#), problem(27, .duplicateMember("__metadata__"))),
  Vector("only spaces follow the object", safetensors("{}\0"), problem(10, .expected("nothing but spaces after the object"))),
  Vector("a second object does not follow", safetensors("{}{}"), problem(10, .expected("nothing but spaces after the object"))),
  Vector("no comma ends an object", safetensors(#"{"__metadata__":{},}"#), problem(27, .expected("a string"))),
  Vector("no comma ends an array", one("U8", "[4,]"), problem(38, .expected("a whole number of at least 0"))),
  Vector("an array needs commas", one("U8", "[4 4]"), problem(38, .expected("\",\" or \"]\""))),
  Vector("a dimension is not negative", one("U8", "[-4]"), problem(36, .expected("a whole number of at least 0"))),
  Vector("a dimension has no fraction", one("U8", "[4.0]"), problem(36, .expected("a whole number"))),
  Vector("a dimension has no exponent", one("U8", "[4e0]"), problem(36, .expected("a whole number"))),
  Vector("a dimension has no leading zero", one("U8", "[04]"), problem(36, .expected("a number without leading zeros"))),
  Vector("a dimension fits in 64 bits", one("U8", "[18446744073709551616]"), problem(36, .numberTooLarge)),
  Vector("offsets are two", one("U8", "[4]", "[0,4,4]"), problem(58, .expected("\"]\""))),
  Vector("a name is UTF-8", Array(safetensors(#"{"?":{}}"#).map { $0 == 0x3F ? 0xFF : $0 }), problem(10, .invalidUTF8)),
  Vector("a name holds no bare control character", safetensors("{\"\u{1}\":{}}"), problem(10, .controlCharacter)),
  Vector("an escape is one of JSON's", safetensors(#"{"\x":{}}"#), problem(11, .invalidEscape)),
  Vector("a surrogate does not stand alone", safetensors(#"{"\ud800":{}}"#), problem(16, .loneSurrogate)),
  Vector("a string ends", safetensors(#"{"abc"#), problem(13, .expected("\"\\\"\" at the end of a string"))),
  Vector("a literal is spelt out", safetensors(#"{"a":{"x":nul}}"#), problem(21, .expected("\"null\""))),
  Vector(
    "unknown members nest 16 deep at most", safetensors(#"{"a":{"x":"# + String(repeating: "[", count: 17)),
    .nestedTooDeeply(offset: 34, limit: 16)),
]

private let allowed: [(String, [UInt8])] = [
  ("one tensor", one()),
  ("no tensor", safetensors("{}")),
  ("spaces after the object", safetensors("{}      ")),
  ("a tensor without dimensions", one("U8", "[]", "[0,1]", data: 1)),
  ("a tensor without elements", one("U8", "[0,3]", "[0,0]", data: 0)),
  ("tensors in another order than their data", bytes(("b", "[1,2]"), ("a", "[0,1]"), data: 2)),
  (
    "members that the library passes over",
    safetensors(#"{"a":{"x":[1.5e3,null,{"y":true}],"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#, dataLength: 1)
  ),
  ("a name of surrogate pairs", bytes((#"\ud83d\ude00"#, "[0,1]"), data: 1)),
]
