internal import ManifestVerifier
public import TUFMetadata

/// Keys that the chain of roots has left behind: an older root lists them, the newest does not. They are not used anew, since whoever took one
/// away may have known why.
public struct RetiredKeys: Sendable {
  /// The version of the last root that listed the key.
  public let lastRoots: [KeyID: Version]

  /// - Throws: `published` where a root can't be read, which a verified state excludes.
  public init(_ state: PublishedState) throws(SigningError) {
    var lastRoots: [KeyID: Version] = [:]
    for bytes in state.roots {
      let root: Root
      do { root = try UnverifiedMetadata<Root>(parsing: bytes).payload } catch { throw .published(.malformed(role: "root", error)) }
      for role in TopLevelRole.allCases { for id in root[role].keyIDs { lastRoots[id] = root.version } }
    }
    let current = Set(TopLevelRole.allCases.flatMap { state.root.payload[$0].keyIDs })
    self.lastRoots = lastRoots.filter { !current.contains($0.key) }
  }

  /// - Throws: `retiredKey`.
  public func refuse(_ id: KeyID) throws(SigningError) {
    if let version = lastRoots[id] { throw .retiredKey(id: id.description, lastRoot: version) }
  }
}
