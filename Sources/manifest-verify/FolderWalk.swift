internal import CommandLineSupport
internal import ManifestVerifier
internal import TUFMetadata
internal import TrustStore

/// What a refresh from a folder did with the delegated roles.
struct FolderWalk {
  /// The roles that hold now.
  private var roles: Set<ByteString> = []
  /// Those of which new metadata was kept.
  private var changed: Set<ByteString> = []
  /// Those whose metadata was refused.
  private(set) var refusals: [DelegationWalk.Refusal] = []

  /// Takes over every delegated role that can be reached, each file durably before the next.
  /// - Throws: what is the disk's; what can't be trusted stands in `refusals`.
  static func run(
    over manifest: TrustedManifest, in folder: MetadataFolder, at now: UTCTime, keepingIn store: inout TrustStore
  ) throws -> FolderWalk {
    var result = FolderWalk()
    var walk = try DelegationWalk(over: manifest, now: now)
    while let request = walk.request {
      try Interruption.check()
      let name = request.role.name
      if let kept = try store.delegatedMetadata(name), walk.offerKept(kept) {
        result.roles.insert(name)
        continue
      }
      var changes: [TrustChange] = []
      do throws(VerificationError) {
        guard let bytes = try folder.read(request) else { throw .unavailable(role: name, urlPath: request.urlPath) }
        changes = try walk.supply(bytes)
      } catch {
        switch error {
        // Not a fault of this one role.
        case .file, .tooManyDelegations: throw error
        default: try walk.skip(for: error)
        }
        continue
      }
      for change in changes { try store.keep(change) }
      result.roles.insert(name)
      result.changed.insert(name)
    }
    result.refusals = walk.refusals
    return result
  }

  /// - Parameter changed: whether one of the four roles changed.
  func report(changed topLevel: Bool, _ output: Output) {
    guard !roles.isEmpty || !refusals.isEmpty else { return }
    output.line("Delegated roles: \(HumanReadable.grouped(roles.count)), of which \(HumanReadable.grouped(changed.count)) changed.")
    output.report("changed", .bool(topLevel || !changed.isEmpty))
    output.report(
      "delegated_roles", ["count": .count(roles.count), "changed": .array(changed.sorted().map { .string($0.description) })])
  }
}
