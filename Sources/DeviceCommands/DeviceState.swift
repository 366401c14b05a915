internal import CommandFailures
package import CommandLineSupport
internal import FileIO
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
    invocation.value(option.name).map { " \(option.name) \(shellWord($0))" } ?? ""
  }

  /// The root file at which trust begins.
  package static func anchor(_ invocation: Invocation, _ store: borrowing TrustStore) throws -> [UInt8] {
    guard let path = invocation.value(root.name) else { return try store.anchor() }
    return try readFile(path, limit: VerificationLimits().rootByteCount)
  }

  /// The command that would bring newer metadata, ready to be copied into a shell but for where the metadata is.
  package static func refreshCommand(_ invocation: Invocation) -> String {
    let source = invocation.program == "manifest-install" ? "--metadata-url URL" : "--metadata DIR"
    return "\(invocation.program) refresh\(options(invocation)) \(source)"
  }

  /// What is trusted now. The state is locked only while it is read, so that a long check hinders no refresh.
  package static func manifest(_ invocation: Invocation) throws -> TrustedManifest {
    let store = try TrustStore(folder(invocation))
    let (anchor, stored) = (try anchor(invocation, store), try store.metadata())
    return try explaining(invocation) { () throws(VerificationError) in try TrustedManifest(anchor: anchor, stored: stored) }
  }

  /// Runs what verifies the state from its anchor. A fault of a root file that was given is told as one.
  package static func explaining<Result>(
    _ invocation: Invocation, _ body: () throws(VerificationError) -> Result
  ) throws(Failure) -> Result {
    do { return try body() } catch {
      var failure = Failure(error)
      switch error {
      case .neverRefreshed: failure.hint = "run \(refreshCommand(invocation))"
      case .thresholdNotMet(let role, _, _, _, _) where role != TopLevelRole.root.name:
        // The root is trusted, and no longer lists the keys of what was kept before it.
        let otherwise = invocation.value(root.name).map { "; where \($0) is not the root file that the app was shipped with, give that" }
        failure.hint = "run \(refreshCommand(invocation))\(otherwise ?? "")"
      case .damagedState:
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

  /// Tells which kept metadata has expired. That never stops the use of what is installed.
  package static func warnOfExpiry(_ manifest: TrustedManifest, at now: UTCTime, _ invocation: Invocation, _ output: Output) {
    for (role, since) in manifest.expired(at: now) {
      output.warning(
        "the \(role.rawValue) metadata expired \(words(since, now)), at \(since): what is installed keeps working, but newer versions and "
          + "withdrawals go unseen; run \(refreshCommand(invocation))")
    }
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
