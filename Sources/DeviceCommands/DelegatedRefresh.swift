package import CommandLineSupport
package import ManifestVerifier
package import TUFMetadata
package import TrustStore

/// What a refresh did with the delegated roles: every one that can be reached is taken over, so that what the device checks, lists and
/// explains later needs no mirror.
package struct DelegatedRefresh {
  /// The roles that hold now.
  private var roles: Set<ByteString> = []
  /// Those of which new metadata was kept.
  private var changed: Set<ByteString> = []
  /// Those whose kept metadata was damaged, and was replaced.
  private var repaired: Set<ByteString> = []
  /// Those whose metadata was refused.
  package private(set) var refusals: [DelegationWalk.Refusal] = []

  /// Takes over the roles, each file durably before the next.
  /// - Parameter answer: supplies what the walk asks for. A `VerificationError` that it throws is that role's alone: it is skipped, and what was
  ///   kept of it stays.
  /// - Parameter earlier: what an earlier walk of the same refresh did.
  /// - Throws: what is no role's fault, a disk's or a network's.
  package init(
    over manifest: TrustedManifest, at now: UTCTime, after earlier: DelegatedRefresh? = nil, keepingIn store: inout TrustStore,
    _ output: Output,
    answer: (MetadataRequest, inout DelegationWalk) throws -> [TrustChange]
  ) throws {
    if let earlier { (changed, repaired) = (earlier.changed, earlier.repaired) }
    var walk = try DelegationWalk(over: manifest, now: now)
    guard walk.request != nil else {
      refusals = walk.refusals
      try store.note(refusals)
      return
    }
    let progress = output.progress("Delegated roles", files: UInt64(manifest.snapshot.payload.files.count))
    defer { progress.finish() }
    while let request = walk.request {
      try Interruption.check()
      let name = request.role.name
      progress.begin("\(name)")
      defer { progress.advance(files: 1) }
      // A file that can't be read is written anew.
      var (kept, isDamaged): ([UInt8]?, Bool) = (nil, false)
      do { kept = try store.kept(name) } catch { if case .damagedState = error { isDamaged = true } }
      if let kept, walk.offerKept(kept) {
        roles.insert(name)
        continue
      }
      let changes: [TrustChange]
      do { changes = try answer(request, &walk) } catch let error as VerificationError {
        switch error {
        // Not a fault of this one role.
        case .file, .tooManyDelegations, .cancelled: throw error
        default: try walk.skip(for: error)
        }
        continue
      }
      for change in changes { try store.keep(change) }
      roles.insert(name)
      changed.insert(name)
      if isDamaged || kept.map({ (try? UnverifiedMetadata<Targets>(parsing: $0)) == nil }) ?? false { repaired.insert(name) }
    }
    refusals = walk.refusals
    try store.note(refusals)
  }

  /// - Parameter topLevel: whether one of the four roles changed.
  package func report(changed topLevel: Bool, _ output: Output) {
    guard !roles.isEmpty || !refusals.isEmpty else { return }
    for name in repaired.sorted() { output.warning("the kept metadata of \(name) was damaged; it was fetched again, and nothing is lost") }
    output.line("Delegated roles: \(HumanReadable.grouped(roles.count)), of which \(HumanReadable.grouped(changed.count)) changed.")
    output.report("changed", .bool(topLevel || !changed.isEmpty))
    output.report(
      "delegated_roles", ["count": .count(roles.count), "changed": .array(changed.sorted().map { .string($0.description) })])
  }
}
