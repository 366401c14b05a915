import CSodium
import FileIO
import Foundation
import ManifestSigning
import TUFMetadata
import TestSupport
import Testing

@Suite("The search for secrets in what others will read") struct SecretSearchTests {
  /// What people and programs do to a file on its way.
  enum Disguise: String, CaseIterable, Sendable {
    case none, byteOrderMark, lineBefore, indented, windowsLineEnds, utf16, utf16BigEndian, base64, wrappedBase64, base64Twice, urlBase64
    case textThenBase64, hexadecimal, wrappedHexadecimal, base64AmongDigests, hexadecimalAmongDigests, json, behindWeights, tar

    func apply(to bytes: [UInt8]) throws -> [UInt8] {
      let text = String(decoding: bytes, as: UTF8.self)
      let base64 = Data(bytes).base64EncodedString()
      switch self {
      case .none: return bytes
      case .byteOrderMark: return [0xEF, 0xBB, 0xBF] + bytes
      case .lineBefore: return Array("our key, hidden well:\n".utf8) + bytes
      case .indented: return Array(text.split(separator: "\n").map { "    " + $0 + "\n" }.joined().utf8)
      case .windowsLineEnds: return Array(text.replacingOccurrences(of: "\n", with: "\r\n").utf8)
      case .utf16: return Array(try #require(("\u{FEFF}" + text).data(using: .utf16LittleEndian)))
      case .utf16BigEndian: return Array(try #require(text.data(using: .utf16BigEndian)))
      case .base64: return Array(base64.utf8)
      case .wrappedBase64: return Array(Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed]).utf8)
      case .base64Twice: return Array(Data(base64.utf8).base64EncodedString().utf8)
      case .urlBase64: return Array(base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_").utf8)
      case .textThenBase64: return Array("abc \(base64)".utf8)
      case .hexadecimal: return Array(SecretSearchTests.digits(bytes).uppercased().utf8)
      case .wrappedHexadecimal:
        let all = Array(SecretSearchTests.digits(bytes))
        return Array(stride(from: 0, to: all.count, by: 60).map { String(all[$0..<min($0 + 60, all.count)]) + "\n" }.joined().utf8)
      case .json: return Array(try JSONEncoder().encode(["name": "k", "key": text]))
      case .base64AmongDigests: return Self.metadata(holding: base64)
      case .hexadecimalAmongDigests: return Self.metadata(holding: SecretSearchTests.digits(bytes))
      case .behindWeights:
        var random = SeededGenerator(seed: 7)
        return random.bytes(100_000) + bytes
      case .tar: return try SecretSearchTests.tar(["notes.txt": Array("hello\n".utf8), "k": bytes])
      }
    }

    /// What published metadata looks like: more digests than anybody would try one by one.
    private static func metadata(holding text: String) -> [UInt8] {
      var random = SeededGenerator(seed: 11)
      let digests = (0..<200).map { "\"model-\($0).gguf\":\"\(SecretSearchTests.digits(random.bytes(32)))\"" }
      return Array("{\(digests.joined(separator: ",")),\"note\":\"\(text)\"}".utf8)
    }
  }

  private static func digits(_ bytes: [UInt8]) -> String { ManifestSigningTests.hexadecimal(bytes) }

  /// An archive as the program makes it.
  static func tar(_ files: [String: [UInt8]]) throws -> [UInt8] {
    let folder = try TemporaryFolder()
    for (name, bytes) in files { try folder.write(bytes, to: "in/" + name) }
    _ = try runChild("tar", ["-C", folder("in"), "-cf", folder("archive.tar")] + files.keys.sorted()).successful()
    return try folder.bytes(of: "archive.tar")
  }

  private func finds(_ bytes: [UInt8], knowing keys: [Ed25519PublicKey] = []) throws -> Bool {
    let folder = try TemporaryFolder()
    var search = SecretSearch(knowing: keys)
    return try search.finds(in: FileDescriptor(opening: folder.write(bytes, "file"), .read), byteCount: Int64(bytes.count))
  }

  /// Every form that a file shows by itself; those that other programs make are made by them.
  private static let forms =
    ForeignKeys.names.filter { $0.contains("pem") || $0.contains("der") || $0.contains("minisign") } + ["clear", "encrypted"]

  @Test("every form is found, however it is encoded, wrapped or packed", arguments: Disguise.allCases) func disguises(disguise: Disguise)
    throws
  {
    for name in Self.forms {
      let bytes =
        switch name {
        case "clear": try KnownKey.clearText()
        case "encrypted": try KnownKey.encryptedText()
        default: try contents(ForeignKeys.sample(name).path)
        }
      // Binary files are not turned into text by anyone.
      let isBinary = name.hasSuffix(".der")
      if isBinary, [.byteOrderMark, .indented, .windowsLineEnds, .utf16, .utf16BigEndian, .json].contains(disguise) { continue }
      #expect(try finds(disguise.apply(to: bytes)), "\(name), \(disguise.rawValue)")
    }
  }

  /// `4c:cd:08`, as openssl prints bytes.
  private static func pairs(_ bytes: [UInt8], lineLength: Int = .max) -> String {
    bytes.enumerated().map { index, byte in
      (index > 0 ? ":" : "") + (index > 0 && index % lineLength == 0 ? "\n    " : "") + hexadecimal([byte])
    }.joined()
  }

  @Test(
    "what openssl prints of a private key is one, and what it prints of a public key or a certificate is none",
    arguments: [["ed25519"], ["rsa", "-pkeyopt", "rsa_keygen_bits:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], ["x25519"]])
  func printed(algorithm: [String]) throws {
    let folder = try TemporaryFolder()
    let key = folder("key")
    _ = try runChild("openssl", ["genpkey", "-out", key, "-algorithm"] + algorithm).successful()
    let text = try runChild("openssl", ["pkey", "-in", key, "-noout", "-text"]).successful().output
    for disguise in Disguise.allCases where disguise != .tar { #expect(try finds(disguise.apply(to: text)), "\(disguise)") }
    #expect(try !finds(runChild("openssl", ["pkey", "-in", key, "-noout", "-text_pub"]).successful().output))
    guard algorithm[0] != "x25519" else { return }
    let certificate = ["req", "-x509", "-key", key, "-subj", "/CN=priv:", "-days", "1", "-noenc", "-text"]
    #expect(try !finds(runChild("openssl", certificate).successful().output))
  }

  /// The bare forms of the key, which look like any other bytes.
  private func bareForms() throws -> [(String, [UInt8])] {
    let seed = KnownKey.seed
    let publicKey = try KnownKey.key().publicKey.bytes
    var expanded = [UInt8](repeating: 0, count: 64)
    // SHA-512 writes 64 bytes.
    unsafe crypto_hash_sha512(&expanded, seed, UInt64(seed.count))
    expanded[0] &= 248
    expanded[31] = expanded[31] & 63 | 64
    var forms: [(String, [UInt8])] = []
    for (name, bytes) in [
      ("seed", seed), ("pair", seed + publicKey), ("expanded", expanded), ("expanded with public half", expanded + publicKey),
    ] {
      let base64 = Data(bytes).base64EncodedString()
      forms += [
        (name, bytes), (name + " base64", Array(base64.utf8)), (name + " base64 line", Array((base64 + "\r\n").utf8)),
        (name + " digits", Array(hexadecimal(bytes).utf8)),
        (name + " capital digits", Array((hexadecimal(bytes).uppercased() + "\n").utf8)),
        (name + " in pairs", Array(Self.pairs(bytes).utf8)),
        (name + " in pairs behind a word", Array("The seed:\(Self.pairs(bytes).uppercased())\n".utf8)),
        (name + " in lines of pairs", Array(Self.pairs(bytes, lineLength: 15).utf8)),
        (name + " in JSON", Array("{\"key\":\"\(base64)\"}".utf8)),
        (name + " in a configuration", Array("# mine\nseed = \(hexadecimal(bytes))\n".utf8)),
        (name + " base64 twice", Array(Data((base64 + "\n").utf8).base64EncodedString().utf8)),
        (name + " in UTF-16", Array(try #require(base64.data(using: .utf16)))), (name + " in tar", try Self.tar(["x": [1], "y": bytes])),
      ]
    }
    forms.append(("seed and line end", seed + [0x0A]))
    return forms
  }

  @Test("a bare seed is found where the public half is known, and nowhere else") func bareSeeds() throws {
    let own = try KnownKey.key().publicKey
    let other = try SecretKey.generate().publicKey
    for (name, bytes) in try bareForms() {
      #expect(try finds(bytes, knowing: [other, own]), "\(name)")
      #expect(try !finds(bytes, knowing: [other]), "\(name)")
    }
  }

  @Test("the escapes of JSON's strings part no word of a key, be they what every writer makes or what only some do")
  func escapes() throws {
    // Keys of slashes and plus signs alone: those are what writers of JSON escape.
    let slashes = String(repeating: "/+", count: 100)
    let seed = [UInt8](repeating: 0xFF, count: 32)
    let own = try SecretKey(seed: secure(seed)).publicKey
    let keys = [
      "minisign": "untrusted comment: minisign encrypted secret key\nRWQAAEIy" + slashes,
      "PEM": "-----BEGIN PRIVATE KEY-----\n\(slashes)\n-----END PRIVATE KEY-----\n", "seed": Data(seed).base64EncodedString(),
    ]
    let writers: [(String, [(String, String)])] = [
      ("none", []), ("slash", [("/", "\\/")]), ("code", [("/", "\\u002f"), ("+", "\\u002B"), ("-", "\\u002D"), ("=", "\\u003d")]),
    ]
    for (name, key) in keys {
      for (writer, escapes) in writers {
        func string(_ text: String) -> String {
          let always = [("\\", "\\\\"), ("\"", "\\\""), ("\n", "\\n")]
          return "\"" + (always + escapes).reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) } + "\""
        }
        let json = "{\"key\":\(string(key))}"
        for text in [json, "[\(string(json))]"] { #expect(try finds(Array(text.utf8), knowing: [own]), "\(name), \(writer): \(text)") }
      }
    }
  }

  @Test("escapes without end are undone no oftener than they may be wrapped") func endlessEscapes() throws {
    for unit in ["\\", "\\u005c", "u005c", "\\\\u005C", "\\n"] {
      let text = "\\u005c" + String(repeating: unit, count: SecretSearch.wholeFileLimit / unit.utf8.count - 2)
      #expect(try !finds(Array(text.utf8), knowing: [KnownKey.key().publicKey]))
    }
  }

  @Test("public keys, signatures, metadata and documentation of secret keys are no secrets") func noFalseAlarms() throws {
    let key = try KnownKey.key()
    let own = [key.publicKey]
    let folder = try ForeignKeys.shared.get().folder
    for form in PublicKeyExport.Form.allCases {
      #expect(try !finds(Array(PublicKeyExport.text(key.publicKey, as: form, name: "k").utf8), knowing: own))
    }
    for name in ["minisign.pub", "public.pem"] { #expect(try !finds(contents(folder + "/" + name), knowing: own), "\(name)") }
    let signature = try key.sign([1]).bytes
    for bytes in [signature, Array(Data(signature).base64EncodedString().utf8), key.publicKey.bytes] {
      #expect(try !finds(bytes, knowing: own))
    }
    let documents = ["README.md", "Documentation/keys.md", "Documentation/secret-key-format.md"].map { packageRoot.path + "/" + $0 }
    let metadata = packageRoot.path + "/manifests/metadata"
    for path in try documents + FileManager.default.contentsOfDirectory(atPath: metadata).map({ metadata + "/" + $0 }) {
      #expect(try !finds(contents(path), knowing: own), "\(path)")
    }
  }

  @Test("weights are no secrets, whatever bytes and words they hold", arguments: [32, 64, 96, 4096, 300_000, 2_000_000]) func weights(
    count: Int
  ) throws {
    let own = [try KnownKey.key().publicKey]
    var random = SeededGenerator(seed: UInt64(count))
    #expect(try !finds(random.bytes(count), knowing: own))
    #expect(try !finds([UInt8](repeating: 0, count: count), knowing: own))
    // Small numbers in 32 bits, and a vocabulary.
    #expect(try !finds((0..<count).map { $0 % 4 == 0 ? UInt8.random(in: 43...122, using: &random) : 0 }, knowing: own))
    let words = [
      "the", "PRIVATE", "KEY", "-----BEGIN", "RWRTY0Iy", "secret", "manifest-sign", "seed:",
      "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ]
    var text: [UInt8] = []
    while text.count < min(count, 100_000) { text += Array(((words.randomElement(using: &random) ?? "") + " ").utf8) }
    #expect(try !finds(text, knowing: own))
  }

  @Test("damaged and endless archives end the search, and do not trap") func archives() throws {
    let archive = try Self.tar(["a": [UInt8](repeating: 1, count: 3000), "b": [2]])
    var random = SeededGenerator(seed: 1)
    for _ in 0..<300 {
      var damaged = archive
      for _ in 0..<4 { damaged[Int.random(in: 0..<1536, using: &random)] = UInt8.random(in: 0...255, using: &random) }
      #expect(try !finds(damaged))
    }
    for digits in ["77777777777", "00000000000"] {
      var damaged = archive
      damaged.replaceSubrange(124..<135, with: Array(digits.utf8))
      #expect(try !finds(damaged))
    }
    for count in [0, 1, 257, 511, 512, 513] { #expect(try !finds(Array(archive.prefix(count)))) }
  }
}
