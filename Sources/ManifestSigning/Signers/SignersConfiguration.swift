internal import Digests
internal import FileIO
public import TUFMetadata

/// The external signers of the person who runs the command: `signers.json` in that person's own configuration folder, never shared.
///
/// ```json
/// {"signers": [
///   {"name": "root in the safe", "public_key": "3d40…", "pkcs11": "pkcs11:token=release;object=root-1?module-path=/usr/lib/softhsm/libsofthsm2.so"},
///   {"name": "vault", "key_id": "9a1c…", "command": ["/usr/local/bin/vault-sign", "timestamp"], "timeout_seconds": 30, "max_message_bytes": 4096}
/// ]}
/// ```
public struct SignersConfiguration: Equatable, Sendable {
  /// What makes the signatures.
  public enum Kind: Equatable, Sendable {
    /// An absolute path and arguments, given to the system as they are.
    case command([String], seconds: Int)
    /// - `pinVariable`: the environment variable of the PIN.
    case token(uri: String, pinFile: String?, pinVariable: String, seconds: Int)
  }

  /// One signer.
  public struct Entry: Equatable, Sendable {
    public let name: String
    public let keyID: KeyID
    /// Nil where the configuration gives the key id only.
    public let publicKey: Ed25519PublicKey?
    public let kind: Kind
    /// The longest message that it takes, in bytes.
    public let longestMessage: Int?
  }

  public static let fileName = "signers.json"
  static let byteLimit = 1 << 20
  static let standardSeconds = 60
  static let secondBounds: ClosedRange<Int64> = 1...3600
  static let standardPINVariable = "MANIFEST_SIGN_PIN"

  public let entries: [Entry]

  /// Without any.
  public init() { entries = [] }

  /// The environment variables from which PINs come.
  var pinVariables: [String] {
    entries.compactMap { if case .token(_, _, let variable, _) = $0.kind { variable } else { nil } }
  }

  /// Where the file lies: `signed-manifest/signers.json` below the configuration folder.
  /// - Parameters:
  ///   - configurationHome: `XDG_CONFIG_HOME`, which counts only where it is absolute.
  ///   - home: `HOME`.
  public static func standardPath(configurationHome: String?, home: String?) -> String? {
    if let configurationHome, configurationHome.hasPrefix("/") { return "\(configurationHome)/signed-manifest/\(fileName)" }
    guard let home, home.hasPrefix("/") else { return nil }
    return "\(home)/.config/signed-manifest/\(fileName)"
  }

  /// Reads the file; where there is none, there are no signers.
  /// - Throws: `unsafeConfiguration` where others may write to it, `metadata` where it is malformed.
  public static func read(path: String) throws(SigningError) -> SignersConfiguration {
    guard try isPresent(path) else { return SignersConfiguration() }
    try FileSafety.requireOwn(path, allowsRoot: false)
    let bytes = try onDisk { () throws(FileError) in try readFile(path, limit: byteLimit, followingLinks: false) }
    let configuration: SignersConfiguration
    do { configuration = try SignersConfiguration(parsing: bytes) } catch { throw .metadata(path: path, error) }
    return configuration
  }

  init(parsing bytes: [UInt8]) throws(MetadataError) {
    let root = try JSONDocument(parsing: bytes).root
    try Self.requireOnly(["signers"], in: root)
    let entries = try root.read("signers") { list throws(MetadataError) in
      try list.requireElements { value throws(MetadataError) in try Entry(value) }
    }
    var ids: Set<KeyID> = []
    for entry in entries where !ids.insert(entry.keyID).inserted {
      throw .invalidValue(path: "signers", expected: "each key once", found: "a second signer for \(entry.keyID)")
    }
    self.entries = entries
  }

  /// In a file that people write by hand, an unknown member is a slip, and what it should have limited would go unlimited.
  fileprivate static func requireOnly(_ names: [ByteString], in object: JSONValue) throws(MetadataError) {
    try object.requireObject()
    for (name, _) in object.members where !names.contains(name) {
      throw .invalidValue(
        path: name.description, expected: "one of \(names.map(\.description).joined(separator: ", "))", found: "another name")
    }
  }
}

extension SignersConfiguration.Entry {
  fileprivate init(_ json: JSONValue) throws(MetadataError) {
    try SignersConfiguration.requireOnly(
      ["name", "key_id", "public_key", "command", "timeout_seconds", "pkcs11", "pin_file", "pin_variable", "max_message_bytes"], in: json)
    name = try json.read("name") { value throws(MetadataError) in try value.requireString().description }
    let publicKey = try json.readIfPresent("public_key") { value throws(MetadataError) in
      let text = try value.requireString()
      do { return try Ed25519PublicKey(hexadecimal: text.bytes.span) } catch { throw value.unexpected("64 lower-case hexadecimal digits") }
    }
    let id = try json.readIfPresent("key_id") { value throws(MetadataError) in
      let text = try value.requireString()
      do { return KeyID(digest: try SHA256Digest(hexadecimal: text.bytes.span)) } catch {
        throw value.unexpected("64 lower-case hexadecimal digits")
      }
    }
    switch (publicKey, id) {
    case (let key?, nil): keyID = Key(key).id
    case (nil, let id?): keyID = id
    default: throw .invalidValue(path: "", expected: "either key_id or public_key", found: id == nil ? "neither" : "both")
    }
    self.publicKey = publicKey
    longestMessage = try json.readIfPresent("max_message_bytes") { value throws(MetadataError) in
      Int(try value.requireInteger(in: 1...Int64(Int32.max)))
    }
    let command = try json.readIfPresent("command") { list throws(MetadataError) in
      try list.requireElements { value throws(MetadataError) in try Self.text(value) }
    }
    let uri = try json.readIfPresent("pkcs11") { value throws(MetadataError) in try Self.text(value) }
    func refuse(_ names: [ByteString], for kind: String) throws(MetadataError) {
      for name in names where json.member(name) != nil {
        throw .invalidValue(path: name.description, expected: "no such member of a \(kind)", found: "one")
      }
    }
    let seconds = try json.readIfPresent("timeout_seconds") { value throws(MetadataError) in
      Int(try value.requireInteger(in: SignersConfiguration.secondBounds))
    }
    switch (command, uri) {
    case (let words?, nil):
      try refuse(["pin_file", "pin_variable"], for: "command")
      guard let program = words.first, program.hasPrefix("/") else {
        throw .invalidValue(path: "command", expected: "an absolute path and arguments", found: words.first.map { "\"\($0)\"" } ?? "none")
      }
      kind = .command(words, seconds: seconds ?? SignersConfiguration.standardSeconds)
    case (nil, let uri?):
      let parsed: PKCS11URI
      do { parsed = try PKCS11URI(uri) } catch {
        throw .invalidValue(path: "pkcs11", expected: "a PKCS #11 URI as RFC 7512 has it: \(error.reason)", found: "another text")
      }
      guard let module = parsed.modulePath, module.hasPrefix("/") else {
        throw .invalidValue(
          path: "pkcs11", expected: "module-path=, with an absolute path", found: parsed.modulePath.map { "\"\($0)\"" } ?? "none")
      }
      let file = try json.readIfPresent("pin_file") { value throws(MetadataError) in
        try Self.notThePIN(Self.text(value), "the absolute path of a file that holds the PIN") { $0.hasPrefix("/") }
      }
      if let source = parsed.pinFile {
        _ = try Self.notThePIN(source, "pin-source= with the absolute path of a file that holds the PIN") { $0.hasPrefix("/") }
      }
      let variable = try json.readIfPresent("pin_variable") { value throws(MetadataError) in
        try Self.notThePIN(
          Self.text(value), "the name of an environment variable that holds the PIN: letters, digits and _", Self.isVariable)
      }
      kind = .token(
        uri: uri, pinFile: file ?? parsed.pinFile, pinVariable: variable ?? SignersConfiguration.standardPINVariable,
        seconds: seconds ?? SignersConfiguration.standardSeconds)
    default: throw .invalidValue(path: "", expected: "either command or pkcs11", found: uri == nil ? "neither" : "both")
    }
  }

  /// A place where people put the PIN itself by mistake: what stands there is not repeated.
  private static func notThePIN(_ text: String, _ expected: String, _ isRight: (String) -> Bool) throws(MetadataError) -> String {
    guard isRight(text) else { throw .invalidValue(path: "", expected: expected, found: "another text") }
    return text
  }

  private static func isVariable(_ text: String) -> Bool {
    guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: byte == UInt8(ascii: "_")
      }
    }
  }

  /// Text for the operating system, where NUL would end it early.
  private static func text(_ value: JSONValue) throws(MetadataError) -> String {
    let text = try value.requireString()
    guard !text.bytes.isEmpty, !text.bytes.contains(0) else { throw value.unexpected("a text that is not empty, without NUL") }
    return text.description
  }
}
