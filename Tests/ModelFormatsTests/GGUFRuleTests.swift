import ModelFormats
import Testing

@Suite("Each GGUF rule refuses the file that breaks it, with the place and the numbers")
struct GGUFRuleTests {
  @Test(arguments: headerVectors + metadataVectors + tensorVectors + dataVectors)
  func isRefused(_ vector: Vector) {
    #expect(throws: vector.error) { try ModelInspection.inspect(name: "model.gguf", bytes: vector.bytes) }
  }

  @Test("What the rules allow is accepted", arguments: allowed)
  func isAccepted(_ rule: String, bytes: [UInt8]) throws {
    #expect(try ModelInspection.inspect(name: "model.gguf", bytes: bytes).format == .gguf, "\(rule)")
  }

  @Test("The summary tells architecture, name, quantisation and counts")
  func summary() throws {
    let bytes = small.with {
      $0.entries += [
        entry("general.name", 8, text("Näme")), entry("general.file_type", 4, little(UInt32(15))),
        entry("general.license", 8, text("mit")), entry("llama.rope", 6, little(UInt32(0))),
      ]
    }
    let summary = try ModelInspection.inspect(name: "model.gguf", bytes: bytes)
    #expect(summary.version == 3)
    #expect(summary.architecture == "llama")
    #expect(summary.name == "Näme")
    #expect(summary.quantisation == "Q4_K_M")
    #expect(summary.metadata.map(\.key) == ["general.license"])
    #expect(summary.metadata.map(\.value) == ["mit"])
    #expect(summary.tensorCount == 1)
    #expect(summary.parameterCount == 8)
    #expect(summary.types.map(\.type) == ["F32"])
  }

  @Test("Without a file type, the type of most of the data names the quantisation")
  func dominantType() throws {
    let bytes = small.with {
      $0.tensors += [tensor("q", [256], 12, 32)]
      $0.dataLength = 32 + 144
    }
    #expect(try ModelInspection.inspect(name: "model.gguf", bytes: bytes).quantisation == "Q4_K")
  }
}

private let small = GGUFBuilder.small
private func text(_ text: String) -> [UInt8] { GGUFBuilder.text(text) }
private func entry(_ key: String, _ type: UInt32, _ value: [UInt8]) -> [UInt8] { GGUFBuilder.entry(key, type, value) }
private func array(_ type: UInt32, _ count: UInt64, _ values: [UInt8]) -> [UInt8] { GGUFBuilder.array(type, count, values) }
private func tensor(_ name: String, _ shape: [UInt64], _ type: UInt32, _ offset: UInt64) -> [UInt8] {
  GGUFBuilder.tensor(name, shape, type, offset)
}

/// Where the second metadata entry of `small` begins.
private let second: UInt64 = 69

private func adding(_ more: [UInt8]...) -> [UInt8] { small.with { $0.entries += more } }

/// Arrays in arrays; the innermost is empty.
private func nested(_ depth: Int) -> [UInt8] {
  var value = array(0, 0, [])
  for _ in 0..<depth { value = array(9, 1, []) + value }
  return value
}

private func withTensor(_ tensors: [UInt8]...) -> [UInt8] { small.with { $0.tensors = tensors } }

private let headerVectors: [Vector] = [
  Vector("version 1 is no longer read", small.with { $0.version = 1 }, .unsupportedVersion(found: 1)),
  Vector("version 0 does not exist", small.with { $0.version = 0 }, .unsupportedVersion(found: 0)),
  Vector("version 4 is not known", small.with { $0.version = 4 }, .unsupportedVersion(found: 4)),
  Vector("big-endian files are refused", small.with { $0.version = 0x0300_0000 }, .bigEndian(version: 3)),
  Vector("only the magic number", Array("GGUF".utf8), .truncatedHeader(.version, offset: 4, needed: 4, end: 4)),
  Vector(
    "the tensor count is bounded", small.with { $0.tensorCount = 1 << 63 }, .tooMany(.tensorCount, found: 1 << 63, limit: 1 << 18)),
  Vector(
    "the metadata count is bounded", small.with { $0.entryCount = .max }, .tooMany(.metadataCount, found: .max, limit: 1 << 16)),
  Vector(
    "the metadata must fit in the file", small.with { $0.entryCount = 60_000 },
    .truncatedHeader(.metadataCount, offset: 24, needed: 840_000, end: 160)),
  Vector(
    "the tensor table must fit in the file", small.with { $0.tensorCount = 200_000 },
    .truncatedHeader(.tensorCount, offset: second, needed: 4_800_000, end: 160)),
]

private let metadataVectors: [Vector] = [
  Vector("a key is not empty", adding(entry("", 0, [1])), .nameLength(.key(index: 1), offset: second, found: 0, limit: 65_535)),
  Vector(
    "a key has at most 65,535 bytes", adding(entry(String(repeating: "k", count: 65_536), 0, [1])),
    .nameLength(.key(index: 1), offset: second, found: 65_536, limit: 65_535)),
  Vector("a key is UTF-8", adding([1, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 1]), .invalidText(.key(index: 1), offset: second)),
  Vector("a key has no NUL", adding(entry("a\0", 0, [1])), .invalidText(.key(index: 1), offset: second)),
  Vector("a key stands once", adding(entry("k", 0, [1]), entry("k", 0, [1])), .duplicateKey("k")),
  Vector("a value type is known", adding(entry("k", 13, [1])), .unknownValueType(key: "k", found: 13, offset: second + 9)),
  Vector(
    "an element type is known", adding(entry("k", 9, array(99, 0, []))), .unknownValueType(key: "k", found: 99, offset: second + 13)),
  Vector("a truth value is 0 or 1", adding(entry("k", 7, [2])), .invalidBoolean(key: "k", found: 2, offset: second + 13)),
  Vector(
    "truth values in arrays are 0 or 1", adding(entry("k", 9, array(7, 2, [1, 3]))),
    .invalidBoolean(key: "k", found: 3, offset: second + 26)),
  Vector(
    "a text fits in the file", adding(entry("k", 8, little(UInt64.max))),
    .truncatedHeader(.value(key: "k"), offset: second + 21, needed: .max, end: 160)),
  Vector(
    "an array fits in the file", adding(entry("k", 9, array(12, 1 << 61, []))),
    .truncatedHeader(.value(key: "k"), offset: second + 25, needed: .max, end: 160)),
  Vector(
    "an array of texts fits in the file", adding(entry("k", 9, array(8, 1 << 40, []))),
    .truncatedHeader(.value(key: "k"), offset: second + 25, needed: 1 << 43, end: 160)),
  Vector(
    "arrays nest 16 deep at most", adding(entry("k", 9, nested(17))),
    .nestedTooDeeply(offset: 274, limit: 16)),
  Vector("the alignment is a power of two", adding(entry("general.alignment", 4, little(UInt32(24)))), .invalidAlignment(found: 24)),
  Vector("the alignment is a multiple of 8", adding(entry("general.alignment", 4, little(UInt32(4)))), .invalidAlignment(found: 4)),
  Vector("the alignment is not 0", adding(entry("general.alignment", 4, little(UInt32(0)))), .invalidAlignment(found: 0)),
  Vector(
    "the alignment is a uint32", adding(entry("general.alignment", 10, little(UInt64(32)))),
    .wrongValueType(key: "general.alignment", expected: "uint32", found: "uint64")),
  Vector(
    "the name is a text", adding(entry("general.name", 4, little(UInt32(1)))),
    .wrongValueType(key: "general.name", expected: "string", found: "uint32")),
  Vector(
    "the name is UTF-8", adding(entry("general.name", 8, [1, 0, 0, 0, 0, 0, 0, 0, 0x80])),
    .invalidText(.value(key: "general.name"), offset: second + 24)),
]

private let longName = String(repeating: "n", count: 65)

private let tensorVectors: [Vector] = [
  Vector(
    "a tensor's name has at most 64 bytes", withTensor(tensor(longName, [8], 0, 0)),
    .nameLength(.tensorName(index: 0), offset: second, found: 65, limit: 64)),
  Vector(
    "a tensor's name is UTF-8", withTensor([1, 0, 0, 0, 0, 0, 0, 0, 0xC0] + Array(tensor("", [8], 0, 0).dropFirst(8))),
    .invalidText(.tensorName(index: 0), offset: second)),
  Vector("a tensor's name stands once", withTensor(tensor("a", [8], 0, 0), tensor("a", [8], 0, 32)), .duplicateTensor("a")),
  Vector(
    "a tensor has at most 4 dimensions", withTensor(tensor("t", [1, 1, 1, 1, 1], 0, 0)),
    .tooManyDimensions(tensor: "t", found: 5, limit: 4)),
  Vector("a dimension is not negative", withTensor(tensor("t", [1 << 63, 0], 0, 0)), .tensorTooLarge(tensor: "t")),
  Vector("the elements can be counted", withTensor(tensor("t", [1 << 32, 1 << 32], 0, 0)), .tensorTooLarge(tensor: "t")),
  Vector("the bytes can be counted", withTensor(tensor("t", [1 << 61, 2], 0, 0)), .tensorTooLarge(tensor: "t")),
  Vector("type Q4_2 was removed", withTensor(tensor("t", [32], 4, 0)), .removedTensorType(tensor: "t", type: 4)),
  Vector("type Q4_0_8_8 was removed", withTensor(tensor("t", [32], 33, 0)), .removedTensorType(tensor: "t", type: 33)),
  Vector("a tensor's type is known", withTensor(tensor("t", [32], 43, 0)), .unknownTensorType(tensor: "t", found: "43")),
  Vector(
    "a row is whole blocks", withTensor(tensor("t", [255, 256], 12, 0)),
    .partialBlock(tensor: "t", type: "Q4_K", elements: 255, blockSize: 256)),
]

private let dataVectors: [Vector] = [
  Vector("the first tensor begins the data", withTensor(tensor("t", [8], 0, 32)), .misplacedTensor(tensor: "t", expected: 0, found: 32)),
  Vector(
    "tensors do not overlap", withTensor(tensor("a", [8], 0, 0), tensor("b", [8], 0, 0)),
    .misplacedTensor(tensor: "b", expected: 32, found: 0)),
  Vector(
    "no bytes lie between tensors", withTensor(tensor("a", [8], 0, 0), tensor("b", [8], 0, 64)),
    .misplacedTensor(tensor: "b", expected: 32, found: 64)),
  Vector(
    "a tensor is aligned", withTensor(tensor("a", [1], 0, 0), tensor("b", [1], 0, 4)),
    .misplacedTensor(tensor: "b", expected: 32, found: 4)),
  Vector("the data is all there", Array(small.bytes.dropLast()), .truncatedData(tensor: "t", end: 160, length: 159)),
  Vector("a file that holds its header alone", Array(small.bytes.dropLast(32)), .truncatedData(tensor: "t", end: 160, length: 128)),
  Vector("nothing follows the data", small.bytes + [0], .trailingBytes(expected: 160, length: 161)),
  Vector("nothing follows the first copy of an appended download", small.bytes + small.bytes, .trailingBytes(expected: 160, length: 320)),
]

private let allowed: [(String, [UInt8])] = [
  ("a small file", small.bytes),
  ("version 2", small.with { $0.version = 2 }),
  ("a vocabulary without tensors", small.with { ($0.tensors, $0.dataLength) = ([], 0) }),
  ("nothing at all but a header", GGUFBuilder().bytes),
  ("data that is not padded at its end", Array(small.with { ($0.tensors, $0.dataLength) = ([tensor("t", [1], 0, 0)], 4) })),
  ("data that is padded at its end", small.with { ($0.tensors, $0.dataLength) = ([tensor("t", [1], 0, 0)], 32) }),
  ("a tensor without dimensions", small.with { ($0.tensors, $0.dataLength) = ([tensor("t", [], 0, 0)], 4) }),
  ("a tensor without elements", small.with { ($0.tensors, $0.dataLength) = ([tensor("t", [0, 3], 0, 0)], 0) }),
  ("a name of 64 bytes", withTensor(tensor(String(repeating: "n", count: 64), [8], 0, 0))),
  ("nested arrays", adding(entry("k", 9, array(9, 2, array(0, 1, [1]) + array(8, 1, text("x")))))),
  (
    "another alignment",
    small.with {
      $0.entries += [entry("general.alignment", 4, little(UInt32(64)))]
      $0.alignment = 64
    }
  ),
]
