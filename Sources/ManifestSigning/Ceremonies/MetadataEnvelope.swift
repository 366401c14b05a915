internal import Digests
internal import ManifestVerifier
public import TUFMetadata

/// A metadata file on its way to being signed: what is to be signed, and the signatures so far. Well formed; nothing is believed of it.
///
/// Two files with the same signed part are the same proposal, whatever signatures they carry, so that signatures can be made on machines that
/// only exchange files.
public struct MetadataEnvelope: Sendable {
  /// What the metadata says.
  enum Payload: Sendable {
    case root(Root)
    case timestamp(Timestamp)
    case snapshot(Snapshot)
    case targets(Targets)
  }

  let payload: Payload
  /// The canonical form of the signed part: what signatures are over.
  let message: [UInt8]
  /// One for each key; what has not the form of an Ed25519 signature is left out.
  private(set) var signatures: [KeyID: Ed25519Signature]
  /// The file as it was read: what is published is hashed as it is, in whatever form its publisher wrote it. Nil once signatures have changed.
  private var received: [UInt8]?

  /// Reads a metadata file of any role.
  public init(parsing bytes: [UInt8]) throws(MetadataError) {
    let signed = try JSONDocument(parsing: bytes).root.read(.signed) { value throws(MetadataError) in value }
    let type = try signed.read(.type) { value throws(MetadataError) in try value.requireString() }
    let entries: [RoleSignature]
    switch TopLevelRole(rawValue: type.description) {
    case .root:
      let metadata = try UnverifiedMetadata<Root>(parsing: bytes)
      (payload, entries) = (.root(metadata.payload), metadata.signatures)
    case .timestamp:
      let metadata = try UnverifiedMetadata<Timestamp>(parsing: bytes)
      (payload, entries) = (.timestamp(metadata.payload), metadata.signatures)
    case .snapshot:
      let metadata = try UnverifiedMetadata<Snapshot>(parsing: bytes)
      (payload, entries) = (.snapshot(metadata.payload), metadata.signatures)
    case .targets:
      let metadata = try UnverifiedMetadata<Targets>(parsing: bytes)
      (payload, entries) = (.targets(metadata.payload), metadata.signatures)
    case nil: throw .invalidValue(path: "signed._type", expected: "one of the four roles", found: "another one")
    }
    message = signed.canonicalBytes
    // Canonical JSON escapes no control character: what holds one could be signed and not be read again.
    do { _ = try JSONDocument(parsing: message) } catch {
      throw .invalidValue(path: "signed", expected: "text without control characters", found: "a control character")
    }
    received = bytes
    signatures = Dictionary(
      entries.compactMap { entry in entry.signature.map { (entry.keyID, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  /// An unsigned file.
  init(_ signed: JSONTree) throws(MetadataError) {
    try self.init(parsing: Self.file(signed.canonicalBytes, [:]))
  }

  /// The whole file: as it was read, or with other signatures since in canonical form, so that a verifier needs no second copy to check them.
  public var bytes: [UInt8] { received ?? Self.file(message, signatures) }

  private static func file(_ message: [UInt8], _ signatures: [KeyID: Ed25519Signature]) -> [UInt8] {
    let entries = signatures.sorted { $0.key < $1.key }.map { id, signature in
      JSONTree.object([
        .keyid: .string(ByteString(id.description)), .sig: .string(ByteString(Hexadecimal.encode(signature.bytes.span))),
      ])
    }
    var bytes = Array("{\"signatures\":".utf8)
    JSONTree.array(entries).appendCanonical(to: &bytes)
    bytes += Array(",\"signed\":".utf8)
    bytes += message
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  /// The role whose `_type` it has; delegated targets have that of targets.
  var type: TopLevelRole {
    switch payload {
    case .root: .root
    case .timestamp: .timestamp
    case .snapshot: .snapshot
    case .targets: .targets
    }
  }

  public var version: Version { common.version }
  public var expires: UTCTime { common.expires }

  private var common: any RolePayload {
    switch payload {
    case .root(let payload): payload
    case .timestamp(let payload): payload
    case .snapshot(let payload): payload
    case .targets(let payload): payload
    }
  }

  var root: Root? { if case .root(let payload) = payload { payload } else { nil } }
  var targets: Targets? { if case .targets(let payload) = payload { payload } else { nil } }
  var snapshot: Snapshot? { if case .snapshot(let payload) = payload { payload } else { nil } }
  var timestamp: Timestamp? { if case .timestamp(let payload) = payload { payload } else { nil } }

  /// The members of the signed part, unknown ones included.
  var members: [ByteString: JSONTree] {
    // What was read once can be read again.
    guard let document = try? JSONDocument(parsing: message), case .object(let members) = JSONTree(document.root) else { return [:] }
    return members
  }

  /// The next version of the same content, unsigned.
  func renewed(version: Version, expires: UTCTime) throws(MetadataError) -> MetadataEnvelope {
    var members = members
    members[.version] = .integer(version.number)
    members[.expires] = .string(ByteString(expires.description))
    return try MetadataEnvelope(.object(members))
  }

  mutating func removeSignatures() { (signatures, received) = ([:], nil) }

  mutating func add(_ signature: Ed25519Signature, by id: KeyID) { (signatures[id], received) = (signature, nil) }

  /// Whether a key's signature is there and holds. A rehearsal's place holders count as such in a rehearsal only.
  func isSigned(by id: KeyID, _ key: Ed25519PublicKey, isRehearsal: Bool = false) -> Bool {
    guard let signature = signatures[id] else { return false }
    return isRehearsal && signature == .zero || key.isValid(signature, over: message.span)
  }

  /// What a snapshot or timestamp says of the file.
  var description: MetadataFile {
    let bytes = bytes
    return MetadataFile(version: version, byteCount: Int64(bytes.count), hashes: FileHashes(sha256: SHA256.hash(of: bytes)))
  }
}
