internal import FileIO
internal import ManifestVerifier
public import TUFMetadata

/// Keys that the chain of roots has left behind: an older root lists them, the newest does not. They are not used anew, since whoever took one
/// away may have known why.
public struct RetiredKeys: Sendable {
  /// The version of the last root that listed the key.
  public let lastRoots: [KeyID: Version]

  /// - Throws: `published` where a root can't be read, which a verified state excludes.
  public init(_ state: PublishedState) throws(SigningError) {
    var roots: [Root] = []
    for bytes in state.roots {
      do { roots.append(try UnverifiedMetadata<Root>(parsing: bytes).payload) } catch { throw .published(.malformed(role: "root", error)) }
    }
    self.init(roots)
  }

  /// From the roots as they lie there, verified by nobody: enough to refuse a key, where there may be no repository at all.
  init(readingRootsOf layout: RepositoryLayout) {
    var roots: [Root] = []
    var version = Version.first
    while let bytes = try? readFile(layout.metadata(.root, version), limit: VerificationLimits().rootByteCount),
      let root = try? UnverifiedMetadata<Root>(parsing: bytes).payload
    {
      roots.append(root)
      guard let next = version.next else { break }
      version = next
    }
    self.init(roots)
  }

  private init(_ roots: [Root]) {
    var lastRoots: [KeyID: Version] = [:]
    for root in roots { for id in Self.ids(root) { lastRoots[id] = root.version } }
    let current = Set(roots.last.map(Self.ids) ?? [])
    self.lastRoots = lastRoots.filter { !current.contains($0.key) }
  }

  /// The keys of all roles, under the ids by which others would list the same ones too.
  private static func ids(_ root: Root) -> [KeyID] {
    TopLevelRole.allCases.flatMap { root[$0].keyIDs }.flatMap { id in [id] + (root.keys[id]?.ed25519.map { [Key($0).id] } ?? []) }
  }

  /// - Throws: `retiredKey`.
  public func refuse(_ id: KeyID) throws(SigningError) {
    if let version = lastRoots[id] { throw .retiredKey(id: id.description, lastRoot: version) }
  }
}
