internal import CommandFailures
internal import CommandLineSupport
internal import FileIO
internal import ManifestSigning
internal import ManifestVerifier
internal import TUFMetadata

enum VerifyVerb {
  private static let folder = Argument("DIR", "The models that were published, to verify them too.", .optional)

  static let verb = Verb(
    "verify", "Check all that devices of every age would check, and the files on disk.",
    arguments: [folder],
    options: [RepositoryOptions.repository, ReportTime.option, .jobs],
    discussion: [
      "For each published root a device that was shipped with it, and has kept nothing, refreshes from what lies in manifests. Then every file in "
        + "manifests/targets, and with DIR every model, is held against all its signed digests. All failures are named, delegated roles that have expired and "
        + "models that are listed and can't be found among them."
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .fileMismatch, .disk, .malformed, .key],
    run: run)

  /// Why a file is not as it was published, for whoever publishes.
  private static func failure(of error: VerificationError) -> Failure {
    var failure = Failure(error)
    if case .file(let file) = error {
      if case .notRegular = file { failure.code = .fileMismatch }
      if file.errno == .notFound { failure.code = .fileMismatch }
    }
    if failure.code == .fileMismatch {
      failure.hint =
        "in manifests/targets: take the file away and publish again, with --stage for a model; in DIR: put the published file back"
    }
    return failure
  }

  /// Bins that are refused for one kind of reason are one failure.
  private static func refused(_ refusals: [DelegationWalk.Refusal]) -> [Failure] {
    RoleGroups.of(refusals, role: { .delegated($0.role) }, said: { "\(Failure($0.error).code)" }).compactMap { group in
      guard let first = group.first else { return nil }
      var failure = Failure(first.error)
      if group.count == 1 {
        failure.message = "devices can't use \(HashBins.isBin(first.role) ? "" : "the team ")\(first.role): \(failure.message)"
      } else {
        failure.message = "devices can't use \(group.count) bins; of the first: \(failure.message)"
        failure.items = group.prefix(100).map { "\($0.error)" }
        if group.count > 100 { failure.items.append("and \(group.count - 100) more") }
      }
      return failure
    }
  }

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let layout = RepositoryOptions.publishedLayout(invocation)
    let now = try ReportTime.of(invocation)
    try PublishedSecrets.refuse(in: layout)
    let state = try PublishedState(layout)
    guard state.manifest != nil else {
      throw Failure(.failure, "nothing is published yet", at: layout.metadata, hint: "run manifest-sign publish DIR")
    }
    let verification = RepositoryVerification(layout)
    var failures: [Failure] = []
    for device in verification.devices(state, at: now) {
      switch device.outcome {
      case .success(let manifest):
        output.line(
          "A device shipped with root version \(device.shippedRoot) trusts root \(manifest.root.payload.version), targets "
            + "\(manifest.targets.payload.version).")
      case .failure(let error):
        var failure = Failure(error)
        failure.message = "a device shipped with root version \(device.shippedRoot) can't refresh: \(failure.message)"
        failures.append(failure)
      }
    }
    var (intact, notStaged) = (0, 0)
    func note(_ outcome: RepositoryVerification.FileOutcome) {
      switch outcome {
      case .intact: intact += 1
      case .notStaged: notStaged += 1
      case .failed(let error): failures.append(failure(of: error))
      }
    }
    let jobs = invocation.integer(Option.jobs.name)
    try verification.files(
      of: state, models: invocation.value(folder.name), jobs: jobs, isCancelled: { Interruption.isRequested }, report: note)
    let refusals = try verification.teams(
      of: state, at: now, models: invocation.value(folder.name), jobs: jobs, isCancelled: { Interruption.isRequested }, report: note)
    failures += refused(refusals)
    failures += try verification.lostModels(of: state).map { path in
      Failure(
        .fileMismatch, "the list of models names a model that devices can't find", expected: "a description that a role lists",
        at: "\(path)",
        hint: "publish the models again: the list is made anew")
    }
    output.line("\(intact) files are intact; \(notStaged) are not in manifests/targets.")
    output.report("intact", .count(intact))
    output.report("not_staged", .count(notStaged))
    output.report("failures", .array(failures.map(\.json)))
    for failure in failures { output.show(failure) }
    // A file that differs or is missing outweighs one that can't be read.
    guard let first = failures.first(where: { $0.code != .disk }) ?? failures.first else {
      output.line("Everything that is published verifies.", style: .good)
      return .done
    }
    return first.code
  }
}
