public import ManifestVerifier
public import TUFMetadata

extension RepositoryVerification {
  /// Verifies every file that teams list, as `files` does those of the top-level targets and their bins.
  /// - Parameter now: the time that expiry is held against.
  /// - Throws: `cancelled`, or what is wrong with the published tree.
  /// - Returns: the delegated roles that devices can't use, and why.
  public func teams(
    of state: PublishedState, at now: UTCTime, models: String?, jobs: Int? = nil, isCancelled: () -> Bool, report: (FileOutcome) -> Void
  ) throws(SigningError) -> [DelegationWalk.Refusal] {
    let delegated = try PublishedDelegations(state, layout)
    // Bins, whose paths are shared out by their hashes, are no teams.
    let bins = Set(
      (state.manifest?.targets.payload.delegations?.roles ?? []).filter { if case .paths = $0.scope { false } else { true } }.map(\.name))
    var verifier = FileVerifier(method: .every, jobs: jobs)
    for (name, metadata) in delegated.files.sorted(by: { $0.key < $1.key }) where !bins.contains(name) {
      guard let targets = metadata.targets else { continue }
      for (path, file) in targets.all {
        let isDocument = CatalogContent.isDocument(path)
        report(try verify(&verifier, layout.target(path, file), file, mustExist: isDocument, isCancelled))
        if let fault = Self.fault(inSegmentsOf: file, layout.segments(path, file)) { report(.failed(fault)) }
        guard let models, !isDocument else { continue }
        report(try verify(&verifier, "\(models)/\(path)", file, mustExist: true, isCancelled))
      }
    }
    // Teams and bins alike.
    return try PublishedDelegations(state, layout, at: now).refusals
  }
}
