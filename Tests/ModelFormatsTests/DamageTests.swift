import Foundation
import ModelFormats
import TestSupport
import Testing

@Suite("A damaged file is refused, and none brings the reader down", .timeLimit(.minutes(10)))
struct DamageTests {
  @Test("Every prefix of a small file is refused, but for the padding after the last tensor", arguments: [SmallFile.gguf, .safetensors])
  func everyPrefix(_ file: SmallFile) throws {
    for length in 0..<file.bytes.count - file.paddingLength {
      #expect(throws: ModelFormatError.self, "\(length) bytes") {
        try ModelInspection.inspect(name: file.name, bytes: Array(file.bytes.prefix(length)))
      }
    }
    #expect(throws: Never.self) { try ModelInspection.inspect(name: file.name, bytes: file.bytes) }
  }

  @Test(
    "Every change of one byte of the header that we accept, the Python reader accepts as well", arguments: [SmallFile.gguf, .safetensors])
  func everyByte(_ file: SmallFile) throws {
    let headerLength = Int(try ModelInspection.inspect(name: file.name, bytes: file.bytes).dataOffset)
    var accepted: [(offset: Int, value: UInt8)] = []
    var all: [(offset: Int, value: UInt8)] = []
    for offset in 0..<headerLength {
      var variant = file.bytes
      for value in Self.replacements(of: file.bytes[offset]) {
        variant[offset] = value
        all.append((offset, value))
        do throws(ModelFormatError) {
          _ = try ModelInspection.inspect(name: file.name, bytes: variant)
          accepted.append((offset, value))
        } catch {}
      }
    }
    #expect(accepted.count > 20 && accepted.count < all.count / 2)
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: file.name)
    try Data(file.bytes).write(to: url)
    #expect(try PeerReaders.accepted(accepted, of: url) == accepted.map { _ in true })
    guard file == .safetensors else { return }
    // Here the peer can judge them all, and agrees both ways.
    let theirs = zip(all, try PeerReaders.accepted(all, of: url)).filter(\.1).map(\.0)
    #expect(theirs.map { "\($0)" } == accepted.map { "\($0)" })
  }

  /// Every other value in the slow tests; else what differs in one bit, the extremes and the neighbours.
  private static func replacements(of byte: UInt8) -> Set<UInt8> {
    var values = runsSlowTests ? Set(UInt8.min ... .max) : Set((0..<8).map { byte ^ (1 << $0) } + [0, 0x7F, 0xFF, byte &+ 1, byte &- 1])
    values.remove(byte)
    return values
  }

  @Test("Random damage in many places never brings the reader down", arguments: [SmallFile.gguf, .safetensors])
  func randomDamage(_ file: SmallFile) {
    var random = SeededGenerator(seed: 1)
    var refused = 0
    for _ in 0..<2_000 {
      var variant = file.bytes
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let offset = Int.random(in: 0..<variant.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: variant.remove(at: offset)
        case 1: variant.insert(.random(in: 0...255, using: &random), at: offset)
        case 2: variant[offset] = [0, 1, 0x7F, 0x80, 0xFF][Int.random(in: 0..<5, using: &random)]
        default: variant[offset] = .random(in: 0...255, using: &random)
        }
      }
      do throws(ModelFormatError) { _ = try ModelInspection.inspect(name: file.name, bytes: variant) } catch {
        refused += "\(error)".isEmpty ? 0 : 1
      }
    }
    #expect(refused > 1_000)
  }
}

/// A small file with a bit of everything.
enum SmallFile: CustomTestStringConvertible {
  case gguf, safetensors

  var testDescription: String { name }

  var name: String { self == .gguf ? "small.gguf" : "small.safetensors" }

  /// Bytes at the end that a file may lack.
  var paddingLength: Int { self == .gguf ? 12 : 0 }

  var bytes: [UInt8] {
    switch self {
    case .gguf:
      var file = GGUFBuilder.small
      file.entries.append(GGUFBuilder.entry("general.alignment", 4, little(UInt32(32))))
      file.entries.append(GGUFBuilder.entry("a.b", 9, GGUFBuilder.array(8, 2, GGUFBuilder.text("x") + GGUFBuilder.text(""))))
      file.entries.append(GGUFBuilder.entry("a.c", 7, [1]))
      file.tensors.append(GGUFBuilder.tensor("u", [32, 1], 8, 32))
      file.tensors.append(GGUFBuilder.tensor("v", [5], 0, 96))
      file.dataLength = 32 + 64 + 32
      return file.bytes
    case .safetensors:
      let header = """
        {"__metadata__":{"k":"é"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},\
        "b":{"data_offsets":[8,10],"x":[-0.5e1,true],"shape":[2],"dtype":"I8"}}\u{20}\u{20}
        """
      return ModelFormatsTests.safetensors(header, dataLength: 10)
    }
  }
}
