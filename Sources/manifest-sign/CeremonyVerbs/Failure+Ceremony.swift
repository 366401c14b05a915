internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

/// What faults of a ceremony mean to a person.
extension Failure {
  init(_ fault: CeremonyFault) {
    self.init(fault.exitCode, fault.description, hint: fault.hint)
    switch fault {
    case .refused(let problems):
      message = "the proposal is refused"
      items = problems.map(\.description)
    case .otherProposal(let file, let role, let differences):
      message = "\(file) is another \(role) than the one that waits here"
      items = differences
    case .notDelegated(let team, let paths):
      message = "\(team) is not trusted with \(paths.count) of the files"
      items = paths.prefix(100).map(\.description)
    case .notTakenOver(let paths):
      message =
        "\(paths.count == 1 ? "a published file was" : "\(paths.count) published files were") handed to a team that does not list "
        + "\(paths.count == 1 ? "it" : "them"): devices would no longer find \(paths.count == 1 ? "it" : "them")"
      items = paths.prefix(100).map(\.description)
      if paths.count > items.count { items.append("and \(paths.count - items.count) more") }
    default: break
    }
  }
}

extension CeremonyFault {
  var exitCode: ExitCode {
    switch self {
    case .refused, .noSuchRole, .teamName, .teamExists, .keyNotInRole, .keyInRole, .path, .noTrustedRoot: .usage
    case .foreignSignature, .invalidSignature, .otherProposal, .otherThanTrusted: .signature
    case .superseded, .olderThanTrusted, .notNext, .expired: .expiredOrRolledBack
    case .unexpectedFile: .malformed
    case .cannotSwap: .disk
    case .notTakenOver: .fileMismatch
    case .alreadyPending, .nothingPending, .noChange, .notDelegated, .waiting: .failure
    }
  }

  fileprivate var hint: String? {
    switch self {
    case .alreadyPending: "sign it with manifest-sign sign, or drop it with manifest-sign propose --abandon"
    case .nothingPending: "begin with manifest-sign propose, or name the file that was handed to you"
    case .noChange: "give an edit, such as --add-key ROLE=KEY, or --renew for the same root with a new expiry"
    case .refused(let problems):
      problems.contains { if case .sharedKey = $0 { true } else { false } }
        ? "give each role a key of its own, or allow it with --allow-shared"
        : problems.allSatisfy({ if case .noPaths = $0 { true } else { false } })
          ? "give each team paths with --add-path TEAM=PATTERN" : "propose keys and thresholds that can be met"
    case .noSuchRole: "run manifest-sign status"
    case .teamName, .teamExists, .path, .keyInRole: nil
    case .keyNotInRole: "run manifest-sign status, which lists each role's keys"
    case .foreignSignature: "ask who made it: take the file away if you don't know the key, for it can't become valid"
    case .invalidSignature: "have it signed again, from the file that waits in pending here"
    case .otherProposal: "whoever signed it was shown something else than you; agree on one proposal, and sign that"
    case .superseded: "throw it away, and propose anew what is still wanted"
    case .notNext: "get the newest manifests, or the proposal that follows those that are here"
    case .expired: "drop it with manifest-sign propose --abandon, and propose it anew"
    case .unexpectedFile: "hand on the files of pending under their own names"
    case .noTrustedRoot:
      "give --trusted-root FILE: a root that you know to be right, such as the 1.root.json that your app ships; it is remembered from then on"
    case .olderThanTrusted: "get the newest manifests; whoever hands you older ones may want you to sign against keys that were withdrawn"
    case .otherThanTrusted: "sign nothing: this is not the repository whose root you trust, or somebody has replaced its roots"
    case .notDelegated: "have targets delegate these paths to the team with manifest-sign propose --add-path, or move the files"
    case .notTakenOver: "have the team publish them first, with manifest-sign publish DIR --role TEAM, or give --allow-remove"
    case .waiting: "finish it with manifest-sign sign, or drop it with manifest-sign propose --abandon"
    case .cannotSwap: "keep manifests and pending on one file system that can: any local one of Linux or macOS, and no link"
    }
  }
}
