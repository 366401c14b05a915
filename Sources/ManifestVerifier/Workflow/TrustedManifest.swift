internal import Digests
public import TUFMetadata

/// The four roles' metadata, each verified and consistent with the others: what every file's digest is trusted from.
public struct TrustedManifest: Sendable {
  public let root: Trusted<Root>
  public let timestamp: Trusted<Timestamp>
  public let snapshot: Trusted<Snapshot>
  public let targets: Trusted<Targets>

  /// Verifies what a device has kept, without a mirror: signatures, hashes, lengths and versions as in a refresh. What has expired
  /// is not an error here, because expiry never stops the use of what is installed; `expired(at:)` tells it. Nor is a refresh that
  /// broke off an error, after which the kept timestamp names a newer snapshot than the kept one, or the snapshot newer targets.
  /// - Parameters:
  ///   - anchor: the root file that the app shipped.
  ///   - stored: what earlier refreshes have kept.
  ///
  /// Nor is a rotation that is half done an error: timestamp and snapshot count as long as some root of the chain lists the keys that have
  /// signed them. What says which files are trusted, targets and delegated roles, is held against the newest root alone.
  /// - Throws: `neverRefreshed` where nothing was kept yet, `missingFromState` or `gapInRoots` where it is gone, `thresholdNotMet` where
  ///   the newest root withdrew the keys of the kept targets, otherwise `damagedState`.
  public init(anchor: [UInt8], stored: StoredMetadata) throws(VerificationError) {
    let chain = try RootChain(anchor: anchor, stored: stored)
    root = chain.newest
    try chain.requireComplete(stored)
    timestamp = try Self.verify(Timestamp.self, stored.timestamp, by: chain, stored, expected: nil).metadata
    snapshot = try Self.verify(Snapshot.self, stored.snapshot, by: chain, stored, expected: timestamp.payload.snapshot).metadata
    targets = try Self.verify(Targets.self, stored.targets, by: chain, stored, expected: snapshot.payload.targets).metadata
  }

  init(root: Trusted<Root>, timestamp: Trusted<Timestamp>, snapshot: Trusted<Snapshot>, targets: Trusted<Targets>) {
    self.root = root
    self.timestamp = timestamp
    self.snapshot = snapshot
    self.targets = targets
  }

  /// The newest root that a chain of stored ones leads to.
  package static func newestRoot(anchor: [UInt8], stored: StoredMetadata) throws(VerificationError) -> Trusted<Root> {
    try RootChain(anchor: anchor, stored: stored).newest
  }

  /// Verifies what is kept of one role.
  /// - Returns: the metadata, and the version of the root whose keys have signed it.
  static func verify<Payload: ReadableRolePayload>(
    _: Payload.Type, _ bytes: [UInt8]?, by chain: RootChain, _ stored: StoredMetadata, expected: MetadataFile?
  ) throws(VerificationError) -> (metadata: Trusted<Payload>, root: Version) {
    let role = Payload.role.name
    guard let bytes else {
      throw stored.newestRefresh == nil ? .neverRefreshed(role: role) : .missingFromState(name: missingName(role))
    }
    do throws(VerificationError) {
      guard let expected else { return try verify(SignedDocument(role: role, parsing: bytes), by: chain, stored) }
      // What was kept, unlike what was received, is parsed while its hashes are compared.
      let (match, document) = Cores.both(
        over: bytes.count, { Result { () throws(VerificationError) in try expected.requireMatch(bytes, role: role) } },
        { Result { () throws(VerificationError) in try SignedDocument(role: role, parsing: bytes) } })
      do { try match.get() } catch {
        guard stored.lag != .none, let other = try older(Payload.self, bytes, by: chain, stored),
          stored.lag.allows(other.metadata.payload.version, insteadOf: expected.version)
        else { throw error }
        return other
      }
      let trusted: (metadata: Trusted<Payload>, root: Version) = try verify(document.get(), by: chain, stored)
      let version = trusted.metadata.payload.version
      guard version == expected.version || stored.lag.allows(version, insteadOf: expected.version) else {
        throw .wrongVersion(role: role, expected: expected.version, actual: version)
      }
      return trusted
    } catch {
      // Where no older root trusts it either, no keys were withdrawn: it is not what was kept.
      if case .thresholdNotMet = error,
        stored.lag == .none || (try? RootChain.wasTrusted(UnverifiedMetadata<Payload>(parsing: bytes), under: chain.all)) ?? false
      {
        throw error
      }
      throw .damagedState(role: role, error)
    }
  }

  /// The name under which a role's kept file is missed.
  static func missingName(_ role: ByteString) -> ByteString { ByteString("\(role) metadata") }

  /// What is not the file that is signed for: verified all the same, or nil where it is damaged.
  /// - Throws: `thresholdNotMet` where its keys were withdrawn.
  private static func older<Payload: ReadableRolePayload>(
    _: Payload.Type, _ bytes: [UInt8], by chain: RootChain, _ stored: StoredMetadata
  ) throws(VerificationError) -> (metadata: Trusted<Payload>, root: Version)? {
    do { return try verify(SignedDocument(role: Payload.role.name, parsing: bytes), by: chain, stored) } catch {
      guard case .thresholdNotMet = error,
        (try? RootChain.wasTrusted(UnverifiedMetadata<Payload>(parsing: bytes), under: chain.all)) ?? false
      else { return nil }
      throw error
    }
  }

  /// Holds metadata against the newest root; timestamp and snapshot that were kept, else against the newest of those before it that lists
  /// their keys.
  private static func verify<Payload: ReadableRolePayload>(
    _ document: SignedDocument, by chain: RootChain, _ stored: StoredMetadata
  ) throws(VerificationError) -> (metadata: Trusted<Payload>, root: Version) {
    do { return (try chain.newest.verify(document), chain.newest.payload.version) } catch {
      guard stored.lag != .none, Payload.role == .timestamp || Payload.role == .snapshot else { throw error }
      for root in chain.older.reversed() {
        if let trusted: Trusted<Payload> = try? root.verify(document) { return (trusted, root.payload.version) }
      }
      throw error
    }
  }

  /// The version and the expiry of each role, root first.
  public var roles: [(role: TopLevelRole, version: Version, expires: UTCTime)] {
    [
      (.root, root.payload.version, root.payload.expires),
      (.timestamp, timestamp.payload.version, timestamp.payload.expires),
      (.snapshot, snapshot.payload.version, snapshot.payload.expires),
      (.targets, targets.payload.version, targets.payload.expires),
    ]
  }

  /// The roles whose metadata has expired at a time, and since when.
  public func expired(at now: UTCTime) -> [(role: TopLevelRole, since: UTCTime)] {
    roles.filter { $0.expires <= now }.map { ($0.role, $0.expires) }
  }

  /// The file that is signed under a path.
  /// - Throws: `notListed`.
  public func file(at path: TargetPath) throws(VerificationError) -> TargetFile {
    guard let file = targets.payload[path] else { throw .notListed(path: path) }
    return file
  }
}
