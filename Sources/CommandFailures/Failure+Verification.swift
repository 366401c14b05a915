package import CommandLineSupport
package import FileIO
package import ManifestVerifier
package import TUFMetadata

/// What the errors that all commands share mean to a person: one table of words, hints and exit codes.
extension Failure {
  /// Why metadata or a file is not trusted.
  package init(_ error: VerificationError) {
    self.init(Self.code(of: error), Self.message(of: error), hint: Self.hint(for: error))
    (expected, found, place) = Self.details(of: error)
  }

  private static func code(of error: VerificationError) -> ExitCode {
    switch error {
    // Whatever is wrong with the state of this device, every verb says so with one code.
    case .malformed, .tooLarge, .tooManyDelegations, .damagedState, .missingFromState, .unusableState, .gapInRoots, .notKept: .malformed
    case .refusedAtRefresh(_, let kind, _): code(of: kind)
    case .wrongMetadataLength, .wrongMetadataDigest, .thresholdNotMet, .wrongVersion, .tooManyRoots, .notInSnapshot: .signature
    case .rolledBack, .removedFromSnapshot, .expired, .clockSetBack: .expiredOrRolledBack
    case .unavailable, .undecidedRoot: .network
    case .exampleKey: .key
    case .neverRefreshed: .failure
    case .notListed, .wrongLength, .wrongDigest, .wrongSegment, .wrongSegments, .changedWhileRead: .fileMismatch
    case .file(let error): code(of: error)
    case .cancelled: .interrupted
    }
  }

  private static func code(of kind: VerificationError.RefusalKind) -> ExitCode {
    switch kind {
    case .untrusted: .signature
    case .outdated: .expiredOrRolledBack
    // There is nothing of it on this device.
    case .unavailable, .malformed: .malformed
    }
  }

  private static func message(of error: VerificationError) -> String {
    switch error {
    case .malformed(let role, _): "\(role) metadata is malformed"
    case .tooLarge(let role, _): "\(role) metadata is too large"
    case .wrongMetadataLength(let role, _, _): "\(role) metadata has another length than the signed one"
    case .wrongMetadataDigest(let role, _, _): "\(role) metadata has another digest than the signed one"
    case .thresholdNotMet(let role, _, _, _, _): "\(role) metadata is not signed by enough of its keys"
    case .wrongVersion(let role, _, _): "\(role) metadata has another version than the signed one"
    case .rolledBack(let role, _, _): "\(role) metadata is older than what is trusted already"
    case .removedFromSnapshot(let name): "\(name) is missing from the new snapshot"
    case .expired(let role, _, _): "\(role) metadata has expired"
    case .clockSetBack: "this machine's clock was set back"
    case .unavailable(let role, _): "\(role) metadata is not available"
    case .exampleKey: "the root names a key of the worked example, whose secret halves are published"
    case .undecidedRoot: "whether there is a newer root can't be told"
    case .tooManyRoots: "the chain of new roots is longer than one refresh follows"
    case .notInSnapshot(let role): "the snapshot does not list the metadata of the delegated role \(role)"
    case .tooManyDelegations: "too many delegated roles lie on the way to one target"
    case .damagedState(let role, .unusableState(let reason)): "the trusted \(role) metadata kept on this device is damaged: \(reason)"
    case .damagedState(let role, let cause): "the trusted \(role) metadata kept on this device is damaged: \(message(of: cause))"
    case .unusableState(let reason): "the trusted state is damaged: \(reason)"
    case .missingFromState(let name): "the trusted state is damaged: \(name) is missing"
    case .gapInRoots(let missing, _): "the chain of roots kept on this device has a gap: root version \(missing) is missing"
    case .notKept(let role): "the metadata of the delegated role \(role) is not kept on this device"
    case .refusedAtRefresh(let role, _, _): "the newest refresh could not trust the metadata of the delegated role \(role)"
    case .neverRefreshed(let role): "no \(role) metadata is trusted yet"
    case .notListed(let path): "\(path) is not listed in the trusted manifest"
    case .wrongLength(let path, _, _): "\(path) has the wrong length"
    case .wrongDigest(let path, _, _), .wrongSegment(let path, _, _, _): "\(path) has the wrong digest"
    case .wrongSegments(let path, _): "\(path) is not of the signed file"
    case .changedWhileRead(let path): "\(path) changed while it was being read"
    case .file(let error): error.description
    case .cancelled: "interrupted"
    }
  }

  private static func details(of error: VerificationError) -> (expected: String?, found: String?, place: String?) {
    switch error {
    case .malformed(_, let error): details(of: error)
    case .tooLarge(_, let limit): ("at most \(limit) bytes", "more", nil)
    case .wrongMetadataLength(_, let expected, let actual): (VerificationError.bytes(expected), VerificationError.bytes(actual), nil)
    case .wrongMetadataDigest(_, let expected, let actual), .wrongDigest(_, let expected, let actual): (expected, actual, nil)
    case .thresholdNotMet(_, let signed, let threshold, let keyCount, let delegator):
      (VerificationError.wanted(threshold, keyCount, delegator), "\(signed)", nil)
    case .wrongVersion(_, let expected, let actual): ("version \(expected)", "version \(actual)", nil)
    case .rolledBack(_, let trusted, let offered): ("version \(trusted) or newer", "version \(offered)", nil)
    case .removedFromSnapshot: ("every file that the trusted snapshot lists", "none of this name", nil)
    case .expired(_, let since, let now): ("metadata that is valid at \(now)", "valid until \(since)", nil)
    case .clockSetBack(let newest, let now): ("\(newest) or later, the time of the newest refresh that succeeded", now.description, "clock")
    case .unavailable(_, let path): ("the file \(path)", "none", nil)
    case .undecidedRoot(let path): ("every mirror's answer for \(path)", "none of one of them", nil)
    case .exampleKey(let id): ("keys of your own", "key id \(id)", nil)
    case .tooManyRoots(let limit): ("at most \(limit) new versions in one refresh", "more", nil)
    case .notInSnapshot(let role): ("an entry \(role).json", "none", "snapshot")
    case .tooManyDelegations(let limit): ("at most \(limit) roles in one search", "more", nil)
    case .damagedState(_, let cause): details(of: cause)
    case .missingFromState(let name): ("\(name), which was trusted", "none", nil)
    case .gapInRoots(_, let kept): ("every root up to version \(kept), which was trusted", "a gap", nil)
    case .notKept: ("the metadata that the trusted snapshot lists", "none", nil)
    case .refusedAtRefresh(_, _, let reason): ("metadata that can be trusted", reason, nil)
    case .neverRefreshed: ("at least one successful refresh", "none", nil)
    case .notListed, .file, .cancelled, .unusableState: (nil, nil, nil)
    case .wrongLength(_, let expected, let actual):
      (VerificationError.bytes(expected), VerificationError.bytes(actual) + (actual > expected ? " or more" : ""), nil)
    case .wrongSegment(_, let range, let expected, let actual): (expected, actual, "bytes \(range.lowerBound) to \(range.upperBound - 1)")
    case .wrongSegments(_, let error): ("the digests of its segments", "\(error)", nil)
    case .changedWhileRead: ("a file that nothing writes to", "another size or time of change after reading than before", nil)
    }
  }

  /// What a malformed text should have been, what it is, and where.
  package static func details(of error: MetadataError) -> (expected: String?, found: String?, place: String?) {
    switch error {
    case .syntax(let fault, let offset): ("JSON as TUF metadata uses it", fault.description, "byte \(offset)")
    case .missingMember(let name, let path): ("a member \"\(name)\"", "none", path.isEmpty ? nil : path)
    case .invalidValue(let path, let expected, let found): (expected, found, path.isEmpty ? nil : path)
    case .keyIDMismatch(let declared, let computed): ("the key id \(computed), the SHA-256 of the key", declared, nil)
    }
  }

  private static func hint(for error: VerificationError) -> String? {
    switch error {
    case .malformed, .tooLarge, .wrongMetadataLength, .wrongMetadataDigest, .wrongVersion, .removedFromSnapshot, .notInSnapshot:
      "fetch the metadata again, from another mirror if there is one; what was refused is not kept"
    case .thresholdNotMet:
      "do not use what is offered; ask the publisher, or fetch from another mirror; what was refused is not kept"
    case .rolledBack: "the mirror serves old metadata: use another one; what was refused is not kept"
    case .expired: "refresh from a mirror that is up to date, and check this machine's clock; what is installed keeps working"
    case .clockSetBack:
      "set the clock; if it is right and was ahead at that refresh, wait until then, or begin anew in another folder: give init the root file "
        + "that was shipped, then refresh; what is installed keeps working"
    case .unavailable: "check that the folder or URL is that of the metadata, the one that holds 1.root.json"
    case .exampleKey: "make keys of your own with manifest-sign init; the worked example's protect nothing"
    case .tooManyDelegations: "ask the publisher to delegate less deeply"
    case .undecidedRoot: "try again when every mirror answers, or leave the one out that does not"
    case .tooManyRoots: "run the command again: what was verified is kept, and the walk goes on from there"
    case .damagedState, .missingFromState, .unusableState:
      "begin anew in another folder: give init the root file that was shipped, then refresh"
    case .gapInRoots: "run refresh, which fetches what is missing; or give --root with the root file that the last refresh was given"
    case .neverRefreshed, .notKept, .refusedAtRefresh: "run refresh"
    case .notListed: "run list to see what the manifest holds"
    case .wrongLength, .wrongDigest, .wrongSegment: "do not use the file; get it again"
    case .wrongSegments: "take it away: the file that it belongs to can be checked without it"
    case .changedWhileRead: "check it again when nothing writes to it any more"
    case .file, .cancelled: nil
    }
  }

  /// A file or folder that can't be used.
  package init(_ error: FileError) {
    self.init(Self.code(of: error), error.description, hint: Self.hint(for: error))
  }

  /// A file that is longer than anything of its kind may be is input that is wrong; everything else is the disk's.
  private static func code(of error: FileError) -> ExitCode {
    if case .tooLarge = error { return .malformed }
    return .disk
  }

  private static func hint(for error: FileError) -> String? {
    switch error.errno {
    case Errno.noSpace?: "make room and run the command again"
    case Errno.accessDenied?: "run the command as a user who may, or change the permissions"
    default: nil
    }
  }
}
