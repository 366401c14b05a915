internal import Digests
internal import FileIO
internal import ManifestVerifier
internal import ModelFormats
internal import TUFMetadata

/// A part of the catalog that was hashed where its files lie: ordinary targets metadata, signed by the key of that machine. In `custom` it says
/// of each file what its header says, and of each `model.json` its text, so that whoever publishes needs none of the files.
struct Fragment {
  let path: String
  let files: [HashedFile]
  let descriptions: [TargetPath: [UInt8]]

  /// The whole file of a part of a scanned folder. A description stands in it as hexadecimal digits: canonical JSON escapes no line end, so that a
  /// text of several lines could be signed and never be read.
  static func bytes(
    _ files: [HashedFile], _ descriptions: [TargetPath: [UInt8]], expires: UTCTime, by signer: any Signer
  ) throws(SigningError) -> [UInt8] {
    var entries: [TargetPath: (file: TargetFile, custom: JSONTree)] = [:]
    for hashed in files { entries[hashed.file.path] = (hashed.target, custom(of: hashed)) }
    for (path, bytes) in descriptions {
      let file = TargetFile(of: bytes)
      entries[path] = (file, .object([.fsverity: verity(file), .fragmentDescription: .string(ByteString(Hexadecimal.encode(bytes.span)))]))
    }
    var sorted = Array(entries)
    sorted.sort { $0.key < $1.key }
    let message: [UInt8]
    do throws(MetadataError) {
      message = try CanonicalWriter.object { writer throws(MetadataError) in
        try writer.string(.type, TopLevelRole.targets.name)
        try writer.string(.expires, ByteString(expires.description))
        try writer.string(.specVersion, RoleHeader.specVersion)
        try writer.object(.targets) { writer throws(MetadataError) in
          for (path, entry) in sorted {
            try writer.value(
              path.name,
              .object([
                .custom: entry.custom, .hashes: entry.file.hashes.tree, .length: .integer(entry.file.byteCount),
              ]))
          }
        }
        try writer.integer(.version, 1)
      }
    } catch { throw .metadata(path: "", error) }
    return try SignedMetadata(message, by: [signer]).bytes
  }

  private static func custom(of hashed: HashedFile) -> JSONTree {
    var members: [ByteString: JSONTree] = [
      .fsverity: verity(hashed.target), .fragmentFormat: .string(ByteString(hashed.summary.format.rawValue)),
      .fragmentContent: .string(ByteString(hashed.summary.content.rawValue)),
    ]
    if !hashed.file.seedKeys.isEmpty {
      members[.fragmentSeedKeys] = .array(hashed.file.seedKeys.map { .string(ByteString(Hexadecimal.encode($0.bytes.span))) })
    }
    members[.fragmentSegments] = hashed.segments.map { .string(ByteString(Hexadecimal.encode($0.bytes.span))) }
    members[.fragmentQuantisation] = hashed.summary.quantisation.map { .string(ByteString($0)) }
    return .object(members)
  }

  private static func verity(_ file: TargetFile) -> JSONTree {
    file.fsverity.map { .string(ByteString($0.description)) } ?? .null
  }

  // MARK: Reading

  /// Reads a fragment and holds it against the machines' keys.
  /// - Parameters:
  ///   - machines: the keys of the machines that may hash, by their names.
  ///   - now: the time that its expiry is held against.
  ///   - refuse: throws where a key must not sign anything any more.
  /// - Throws: `fragment`, `file`, or what `refuse` throws.
  init(
    _ path: String, machines: [String: Ed25519PublicKey], now: UTCTime, refuse: (KeyID) throws(SigningError) -> Void
  ) throws(SigningError) {
    self.path = path
    let bytes = try onDisk { () throws(FileError) in try readFile(path, limit: VerificationLimits().metadataByteCount) }
    let metadata: UnverifiedMetadata<Targets>
    do { metadata = try UnverifiedMetadata<Targets>(parsing: bytes) } catch { throw .fragment(path: path, .malformed(error)) }
    for signature in metadata.signatures { try refuse(signature.keyID) }
    do throws(FragmentFault) {
      try Self.requireSignature(metadata, machines)
      guard metadata.payload.expires > now else { throw .expired(since: metadata.payload.expires, now: now) }
      guard metadata.payload.delegations == nil else { throw .delegates }
      do { (files, descriptions) = try Self.read(bytes) } catch { throw .malformed(error) }
    } catch { throw .fragment(path: path, error) }
  }

  private static func requireSignature(
    _ metadata: UnverifiedMetadata<Targets>, _ machines: [String: Ed25519PublicKey]
  ) throws(FragmentFault) {
    guard !metadata.signatures.isEmpty else { throw .unsigned }
    let keys = Dictionary(machines.map { (Key($0.value).id, Key($0.value)) }, uniquingKeysWith: { first, _ in first })
    guard let signature = metadata.signatures.first(where: { keys[$0.keyID] != nil }) else {
      throw .unlistedKey(ids: metadata.signatures.map(\.keyID.description))
    }
    do throws(VerificationError) {
      let role: RoleKeys
      do { role = try RoleKeys(keyIDs: Array(keys.keys), threshold: 1) } catch { throw .malformed(role: "fragment", error) }
      _ = try Trusted<Targets>(verifying: metadata, role: "fragment", keys: role, known: keys, delegator: "keys/policy.json")
    } catch {
      throw .invalidSignature(name: machines.first { Key($0.value).id == signature.keyID }?.key ?? signature.keyID.description)
    }
  }

  /// What the entries say beyond what targets metadata has to say.
  private static func read(_ bytes: [UInt8]) throws(MetadataError) -> ([HashedFile], [TargetPath: [UInt8]]) {
    let root = try JSONDocument(parsing: bytes).root
    return try root.read(.signed) { signed throws(MetadataError) in
      try signed.read(.targets) { targets throws(MetadataError) in
        var files: [HashedFile] = []
        var descriptions: [TargetPath: [UInt8]] = [:]
        for (name, value) in targets.members {
          do throws(MetadataError) {
            let (path, file) = (try TargetPath(name), try TargetFile(value))
            try value.read(.custom) { custom throws(MetadataError) in
              if let text = custom.member(.fragmentDescription) {
                let digits = try text.requireString().bytes
                guard let description = try? Hexadecimal.decode(digits.span, byteCount: digits.count / 2) else {
                  throw text.unexpected("hexadecimal digits")
                }
                guard TargetFile(of: description) == file else { throw text.unexpected("the text that length and digests are of") }
                descriptions[path] = description
              } else {
                guard file.fsverity != nil else { throw .missingMember(name: "fsverity", path: "") }
                files.append(
                  HashedFile(
                    file: ScannedFile(path: path, byteCount: file.byteCount, seedKeys: try seedKeys(custom)), target: file,
                    segments: try segments(custom, file),
                    summary: try summary(custom)))
              }
            }
          } catch { throw error.within(name) }
        }
        return (files, descriptions)
      }
    }
  }

  /// What the file's `.verity` is to hold, held against the file's fs-verity digest.
  private static func segments(_ custom: JSONValue, _ file: TargetFile) throws(MetadataError) -> SegmentDigests? {
    guard let byteCount = file.segmentsByteCount else { return nil }
    return try custom.read(.fragmentSegments) { value throws(MetadataError) in
      let text = try value.requireString()
      do { return try file.segmentDigests(try Hexadecimal.decode(text.bytes.span, byteCount: byteCount)) } catch {
        throw .invalidValue(path: "", expected: "the digests of the segments: \(error)", found: MetadataError.quoted(text.bytes.span))
      }
    }
  }

  private static func seedKeys(_ custom: JSONValue) throws(MetadataError) -> [Ed25519PublicKey] {
    try custom.readIfPresent(.fragmentSeedKeys) { list throws(MetadataError) in
      try list.requireElements { value throws(MetadataError) in
        let text = try value.requireString()
        do { return try Ed25519PublicKey(hexadecimal: text.bytes.span) } catch { throw value.unexpected("64 hexadecimal digits") }
      }
    } ?? []
  }

  private static func summary(_ custom: JSONValue) throws(MetadataError) -> ModelSummary {
    let format = try custom.read(.fragmentFormat) { value throws(MetadataError) in
      guard let format = ModelFormat(rawValue: try value.requireString().description) else { throw value.unexpected("a format") }
      return format
    }
    let content = try custom.read(.fragmentContent) { value throws(MetadataError) in
      guard let content = FileContent(rawValue: try value.requireString().description) else { throw value.unexpected("a kind of content") }
      return content
    }
    let quantisation = try custom.readIfPresent(.fragmentQuantisation) { value throws(MetadataError) in
      try value.requireString().description
    }
    return ModelSummary(format: format, content: content, quantisation: quantisation)
  }
}

extension ByteString {
  fileprivate static let fragmentContent: ByteString = "content"
  fileprivate static let fragmentDescription: ByteString = "description"
  fileprivate static let fragmentFormat: ByteString = "format"
  fileprivate static let fragmentSeedKeys: ByteString = "public_keys_of_possible_seeds"
  fileprivate static let fragmentSegments: ByteString = "segments"
  fileprivate static let fragmentQuantisation: ByteString = "quantisation"
}
