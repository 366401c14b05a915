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
  /// - Throws: `neverRefreshed` where nothing was kept yet, `missingFromState` where it is gone, `thresholdNotMet` where the newest root withdrew the keys of what is
  ///   kept, otherwise `damagedState`.
  public init(anchor: [UInt8], stored: StoredMetadata) throws(VerificationError) {
    let chain = try RootChain(anchor: anchor, stored: stored)
    root = chain.newest
    // With a root less, keys that were taken away would count again.
    if let trusted = stored.verifiedUnderRoot, root.payload.version < trusted {
      throw .missingFromState(name: ByteString("root version \(root.payload.version.next ?? trusted)"))
    }
    if stored.newestRefresh != nil, stored.targets == nil { throw .missingFromState(name: "targets metadata") }
    // What no refresh has kept, a publisher's set say, belongs together in every part.
    let mayLag = stored.verifiedUnderRoot != nil
    let roots = chain.all
    timestamp = try Self.verify(Timestamp.self, stored.timestamp, by: root, roots, expected: nil, mayLag: mayLag)
    snapshot = try Self.verify(Snapshot.self, stored.snapshot, by: root, roots, expected: timestamp.payload.snapshot, mayLag: mayLag)
    targets = try Self.verify(Targets.self, stored.targets, by: root, roots, expected: snapshot.payload.targets, mayLag: mayLag)
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
  /// - Parameter roots: those that it may have been trusted under.
  static func verify<Payload: ReadableRolePayload>(
    _: Payload.Type, _ bytes: [UInt8]?, by root: Trusted<Root>, _ roots: [Root], expected: MetadataFile?, mayLag: Bool
  ) throws(VerificationError) -> Trusted<Payload> {
    let role = Payload.role.name
    guard let bytes else { throw .neverRefreshed(role: role) }
    do throws(VerificationError) {
      guard let expected else { return try root.verify(bytes) }
      do { try expected.requireMatch(bytes, role: role) } catch {
        guard mayLag, let older: Trusted<Payload> = try? root.verify(bytes), older.payload.version < expected.version else { throw error }
        return older
      }
      let trusted: Trusted<Payload> = try root.verify(bytes)
      guard trusted.payload.version == expected.version || mayLag && trusted.payload.version < expected.version else {
        throw .wrongVersion(role: role, expected: expected.version, actual: trusted.payload.version)
      }
      return trusted
    } catch {
      // Where no older root trusts it either, no keys were withdrawn: it is not what was kept.
      if case .thresholdNotMet = error,
        !mayLag || (try? RootChain.wasTrusted(UnverifiedMetadata<Payload>(parsing: bytes), under: roots)) ?? false
      {
        throw error
      }
      throw .damagedState(role: role, error)
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
