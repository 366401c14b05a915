internal import TUFMetadata

/// The chain of roots from the one that was shipped to the newest that is trusted.
struct RootChain: Sendable {
  /// The newest trusted root.
  private(set) var newest: Trusted<Root>
  /// The trusted roots before it, from the anchor.
  private(set) var older: [Trusted<Root>] = []
  /// Every root that is known, by its version, the trusted ones and others that are stored: what tells whether a key was taken away.
  private var known: [Version: Root] = [:]

  /// Verifies the anchor by its own keys and walks over the roots that are stored.
  ///
  /// The walk over them ends at a gap, which an anchor of a newer app leaves when an older app comes back: the mirror is asked then.
  /// - Throws: what is wrong with the anchor, or `damagedState` where a stored root does not follow.
  init(anchor: [UInt8], stored: StoredMetadata) throws(VerificationError) {
    newest = try Trusted(selfSigned: anchor)
    for bytes in stored.roots {
      do {
        let root = try UnverifiedMetadata<Root>(role: "root", parsing: bytes).payload
        known[root.version] = root
        if root.version == newest.payload.version.next { try extend(bytes) }
      } catch {
        throw .damagedState(role: "root", error)
      }
    }
    known[newest.payload.version] = newest.payload
  }

  /// Accepts the next root (TUF 1.0.34 §5.3.4–5).
  mutating func extend(_ bytes: [UInt8]) throws(VerificationError) {
    let next = try newest.successor(bytes)
    older.append(newest)
    newest = next
    known[newest.payload.version] = newest.payload
  }

  /// The roots that are known.
  var all: [Root] { known.values.sorted { $0.version < $1.version } }

  /// Whether one of several roots lists keys whose threshold has signed metadata, so that it was trusted once.
  static func wasTrusted<Payload: ReadableRolePayload>(_ metadata: UnverifiedMetadata<Payload>, under roots: [Root]) -> Bool {
    roots.reversed().contains { root in
      (try? Trusted(verifying: metadata, role: Payload.role.name, keys: root[Payload.role], known: root.keys, delegator: "")) != nil
    }
  }

  /// Refuses to go on with fewer roots than were trusted: keys that were taken away would count again.
  /// - Throws: `gapInRoots` where a later one is kept, otherwise `missingFromState`.
  func requireComplete(_ stored: StoredMetadata) throws(VerificationError) {
    guard let trusted = stored.verifiedUnderRoot, newest.payload.version < trusted else { return }
    let missing = newest.payload.version.next ?? trusted
    guard !knows(trusted) else { throw .gapInRoots(missing: missing, kept: trusted) }
    throw .missingFromState(name: ByteString("root version \(missing)"))
  }

  func knows(_ version: Version) -> Bool { known[version] != nil }

  /// Whether a timestamp or snapshot key was taken away since the given version (TUF 1.0.34 §5.3.11). A key that is only
  /// added does not count: adding a backup key must not drop the rollback protection of a whole fleet.
  func tookKeyAway(since version: Version) -> Bool {
    let roots = known.values.filter { $0.version >= version && $0.version <= newest.payload.version }.sorted { $0.version < $1.version }
    return zip(roots, roots.dropFirst()).contains { older, newer in
      [TopLevelRole.timestamp, .snapshot].contains { !older.publicKeys(of: $0).isSubset(of: newer.publicKeys(of: $0)) }
    }
  }
}

extension Root {
  fileprivate func publicKeys(of role: TopLevelRole) -> Set<Ed25519PublicKey> {
    Set(self[role].keyIDs.compactMap { keys[$0]?.ed25519 })
  }
}
