internal import CommandFailures
package import CommandLineSupport
package import FileIO
package import ManifestVerifier
package import TUFMetadata
package import TrustStore

/// Where the device's trust lies, as all verbs take it.
package enum DeviceState {
  package static let state = Option.value(
    "--state", "DIR",
    "The folder that holds what this device trusts. Unless told otherwise: signed-manifest in the place for application data.")
  package static let root = Option.value(
    "--root", "ROOT.json", "Begin trust at this root file, which the app was shipped with, instead of the one that init kept.")

  package static func folder(_ invocation: Invocation) throws(Failure) -> String {
    if let folder = invocation.value(state.name) { return folder }
    guard let folder = Surroundings.applicationData("signed-manifest") else {
      throw Failure(.usage, "the home folder is not known", expected: state.usageText, hint: "give \(state.usageText)")
    }
    return folder
  }

  /// `--state` as it was given, and `--root`, ready to be copied into a shell.
  package static func options(_ invocation: Invocation) -> String { words(state, invocation) + words(root, invocation) }

  package static func words(_ option: Option, _ invocation: Invocation) -> String {
    invocation.given(option).map { " \(option.name) \(shellWord($0))" }.joined()
  }

  /// The root file at which trust begins.
  package static func anchor(_ invocation: Invocation, _ store: borrowing TrustStore) throws -> [UInt8] {
    try givenRoot(invocation) ?? store.anchor()
  }

  package static func anchor(_ invocation: Invocation, _ store: borrowing TrustReader) throws -> [UInt8] {
    try givenRoot(invocation) ?? store.anchor()
  }

  /// The root file that `--root` names.
  package static func givenRoot(_ invocation: Invocation) throws(FileError) -> [UInt8]? {
    guard let path = invocation.value(root.name) else { return nil }
    return try readFile(path, limit: VerificationLimits().rootByteCount)
  }

  /// What a refresh begins with.
  package struct Beginning {
    package let workflow: ClientWorkflow
    package let stored: StoredMetadata
    /// The newest root before it.
    package let oldRoot: Version
  }

  package static func beginRefresh(_ invocation: Invocation, _ store: borrowing TrustStore, at now: UTCTime) throws -> Beginning {
    let (anchor, stored) = (try anchor(invocation, store), try store.metadata())
    return try explaining(invocation) { () throws(VerificationError) in
      Beginning(
        workflow: try ClientWorkflow(anchor: anchor, stored: stored, now: now), stored: stored,
        oldRoot: try TrustedManifest.newestRoot(anchor: anchor, stored: stored).payload.version)
    }
  }

  /// Tells what was damaged in the state, and is whole again. Only what the signed rest of the state tells the content of heals so; anything
  /// else is an error.
  /// - Parameter replaced: what the refresh fetched again.
  package static func tellRepairs(_ replaced: Set<TopLevelRole>, in store: inout TrustStore, _ output: Output) throws(TrustStoreError) {
    let files = replaced.sorted { $0.rawValue < $1.rawValue }.map(\.fileName)
    for file in files + (try store.restoreCopyOfRoot() ? [TopLevelRole.root.fileName] : []) {
      output.warning(
        "\(file) in the state folder was damaged or missing; it was written anew, and nothing is lost: check the disk that it lies on")
    }
  }

  /// The command that would bring newer metadata, ready to be copied into a shell but for where the metadata is.
  package static func refreshCommand(_ invocation: Invocation) -> String {
    // Where manifest-install remembers mirrors, those are where this device gets its metadata from, whatever command is run now.
    let mirrors = (try? folder(invocation)).map { "\($0)/mirrors" }
    if let mirrors, (try? FileSystem.status(of: mirrors, followingLinks: false)) != nil {
      return "manifest-install refresh\(options(invocation))"
    }
    let source = invocation.program == "manifest-install" ? "--metadata-url URL" : "--metadata DIR"
    return "\(invocation.program) refresh\(options(invocation)) \(source)"
  }

  /// What is trusted now. The state is kept from changing only while it is read, so that a long check hinders no refresh, and no refresh a check.
  /// - Parameters:
  ///   - isStrict: whether a clock that was set back is an error, and no warning.
  ///   - read: reads the delegated roles that are needed.
  package static func kept(
    _ invocation: Invocation, at now: UTCTime, isStrict: Bool = false, _ output: Output,
    reading read: (inout KeptManifest, KeptManifest.Reader) throws(VerificationError) -> Void
  ) throws -> KeptManifest {
    let store = try TrustReader(folder(invocation))
    let (anchor, stored) = (try anchor(invocation, store), try store.metadata())
    var kept = try explaining(invocation) { () throws(VerificationError) in try KeptManifest(anchor: anchor, stored: stored) }
    try judgeClock(stored, now, isStrict: isStrict, output)
    do throws(VerificationError) { try read(&kept) { role throws(VerificationError) in try store.kept(role) } } catch {
      switch error {
      case .neverRefreshed, .notKept, .refusedAtRefresh, .damagedState, .thresholdNotMet:
        try explaining(invocation) { () throws(VerificationError) in throw error }
      default: throw error
      }
    }
    return kept
  }

  /// Tells of a clock that was set back. Like expiry, that never stops the use of what is installed.
  package static func judgeClock(_ stored: StoredMetadata, _ now: UTCTime, isStrict: Bool = false, _ output: Output) throws {
    do { try stored.requireClock(at: now) } catch {
      if isStrict { throw error }
      let failure = Failure(error)
      output.warning(
        "\(failure.message): expected \(failure.expected ?? ""), found \(now); whether metadata has expired can't be told; "
          + "\(failure.hint ?? "")")
    }
  }

  /// Runs what verifies the state from its anchor. A fault of a root file that was given is told as one.
  package static func explaining<Result>(
    _ invocation: Invocation, _ body: () throws(VerificationError) -> Result
  ) throws(Failure) -> Result {
    do { return try body() } catch {
      var failure = Failure(error)
      switch error {
      case .neverRefreshed, .refusedAtRefresh: failure.hint = "run \(refreshCommand(invocation))"
      case .notKept: failure.hint = "run \(refreshCommand(invocation)), which fetches it"
      case .gapInRoots:
        let otherwise =
          invocation.value(root.name) == nil ? "give \(root.name) with the root file that the last refresh was given" : "begin anew"
        failure.hint = "run \(refreshCommand(invocation)), which fetches the roots in between; or \(otherwise)"
      // What the snapshot says of a file tells whether a fetched one is the right one; and the files that have to be there are missed
      // before this.
      case .missingFromState(let name) where isRefetched(name), .damagedState(let name, _) where isReplaceable(name):
        failure.hint = "run \(refreshCommand(invocation)): it is fetched again, and nothing else is lost"
      case .clockSetBack: break
      case .thresholdNotMet(let role, _, _, _, _) where role != TopLevelRole.root.name:
        // The root is trusted, and no longer lists the keys of what was kept before it.
        let otherwise = invocation.value(root.name).map { "; where \($0) is not the root file that the app was shipped with, give that" }
        failure.hint = "a rotation of keys is half done here: run \(refreshCommand(invocation)), which completes it\(otherwise ?? "")"
      case .damagedState, .missingFromState, .unusableState:
        guard let path = invocation.value(root.name) else { break }
        failure.hint = "the state does not follow from \(path): give the root file that it began with, or begin anew in another folder"
      default:
        guard let path = invocation.value(root.name) else { break }
        failure.place = path
        failure.hint = "give the root file that the app was shipped with"
      }
      throw failure
    }
  }

  private static func isRefetched(_ name: ByteString) -> Bool {
    [TopLevelRole.timestamp, .snapshot, .targets].contains { name == ByteString("\($0.name) metadata") }
  }

  private static func isReplaceable(_ role: ByteString) -> Bool {
    ![TopLevelRole.root, .timestamp, .snapshot].contains { $0.name == role }
  }

  /// Tells which kept metadata has expired. That never stops the use of what is installed.
  package static func warnOfExpiry(
    _ expired: [(role: MetadataRole, since: UTCTime)], at now: UTCTime, _ invocation: Invocation, _ output: Output
  ) {
    for (role, since) in expired {
      output.warning(
        "the \(role.name) metadata expired \(words(since, now)), at \(since): what is installed keeps working, but newer versions and "
          + "withdrawals go unseen; run \(refreshCommand(invocation))")
    }
  }

  /// What is wrong with delegated roles, in one failure.
  package static func failure(
    of refusals: [DelegationWalk.Refusal], first: DelegationWalk.Refusal, undecided: [String] = [], _ invocation: Invocation
  ) -> Failure {
    var failure = Failure(first.error)
    var hint = failure.hint
    switch first.error {
    case .neverRefreshed, .notKept, .refusedAtRefresh, .damagedState: hint = "run \(refreshCommand(invocation))"
    default: break
    }
    failure = Failure(
      failure.code, refusals.count == 1 ? "a delegated role can't be trusted" : "\(refusals.count) delegated roles can't be trusted",
      hint: hint)
    failure.items =
      refusals.map { "\($0.role), delegated to by \($0.delegator): \($0.error)" } + undecided.map { "\($0): who may list it can't be told" }
    return failure
  }

  package static func words(_ expires: UTCTime, _ now: UTCTime) -> String {
    HumanReadable.relative(expires.secondsSince1970, to: now.secondsSince1970)
  }

  /// A word as a shell reads it back.
  package static func shellWord(_ text: String) -> String {
    let plain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: "/._-+:,=@%".utf8.contains(byte)
      }
    }
    return plain ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}

extension Option {
  fileprivate var usageText: String { "\(name) \(placeholder)" }
}
