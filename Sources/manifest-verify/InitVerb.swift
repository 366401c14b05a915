internal import CommandLineSupport
internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata
internal import TrustStore

enum InitVerb {
  private static let root = Argument("ROOT.json", "The root file that the app was shipped with, such as 1.root.json.")

  static let verb = Verb(
    "init", "Begin trust on this device at a root file.",
    arguments: [root],
    options: [DeviceState.state],
    discussion: [
      "Everything is trusted from this file on, so it must come with the app and not from where the models come. It has to be signed by its own "
        + "keys; it may have expired, for newer ones follow from it.",
      "The state folder is made, or is empty. Trust that was begun is never overwritten; the same root again changes nothing.",
    ],
    exitCodes: [.signature, .disk, .locked, .malformed],
    examples: [.init("manifest-verify init --state trust 1.root.json", "trust what the keys in 1.root.json sign")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let folder = try DeviceState.folder(invocation)
    let path = invocation.required(root.name)
    let bytes = try readFile(path, limit: VerificationLimits().rootByteCount)
    let isNew: Bool
    do { isNew = try TrustStore.initialise(folder, root: bytes) } catch {
      guard case .unusableRoot = error else { throw error }
      var failure = Failure(explaining: error)
      failure.place = [path, failure.place].compactMap { $0 }.joined(separator: ", ")
      throw failure
    }
    let anchor = try TrustedManifest.newestRoot(anchor: bytes, stored: StoredMetadata()).payload
    let keys = anchor[.root]
    output.line(
      isNew ? "Trust begins at root version \(anchor.version)." : "Trust already begins at this root: nothing to do.", style: .good)
    output.line("State:      \(folder)")
    output.line("Expires:    \(anchor.expires)")
    output.line("Threshold:  \(keys.threshold) of \(keys.keyIDs.count) root keys:")
    for key in keys.keyIDs { output.line("  \(key)") }
    output.line("Next:       manifest-verify refresh\(DeviceState.words(DeviceState.state, invocation)) --metadata DIR")
    output.report("changed", .bool(isNew))
    output.report("state", .string(folder))
    output.report("version", .integer(anchor.version.number))
    output.report("expires", .string(anchor.expires.description))
    output.report("threshold", .count(keys.threshold))
    output.report("root_keys", .array(keys.keyIDs.map { .string($0.description) }))
    return .done
  }
}
