internal import CommandFailures
package import CommandLineSupport
internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata
internal import TrustStore

/// What `init` does in each command of the device.
package enum TrustBeginning {
  package static let root = Argument("ROOT.json", "The root file that the app was shipped with, such as 1.root.json.")

  package static let summary = "Begin trust on this device at a root file."

  package static let discussion = [
    "Everything is trusted from this file on, so it must come with the app and not from where the models come. It has to be signed by its own "
      + "keys; it may have expired, for newer ones follow from it.",
    "The state folder is made, or is empty. Trust that was begun is never overwritten; the same root again changes nothing.",
  ]

  package static let exitCodes: [ExitCode] = [.signature, .disk, .locked, .malformed]

  /// Keeps the root that trust begins at.
  /// - Parameter keepMore: keeps what else the command remembers, once trust has begun; says whether that changed anything.
  package static func run(
    _ invocation: Invocation, _ output: Output, next: EscapedText, keepMore: (_ folder: String) throws -> Bool = { _ in false }
  ) throws {
    let folder = try DeviceState.folder(invocation)
    let path = invocation.required(root.name)
    let bytes = try readFile(path, limit: VerificationLimits().rootByteCount)
    let isNew: Bool
    do { isNew = try TrustStore.initialise(folder, root: bytes) } catch {
      guard case .unusableRoot = error else { throw error }
      var failure = Failure(error, program: invocation.program)
      failure.place = [path, failure.place].compactMap { $0 }.joined(separator: ", ")
      throw failure
    }
    let remembers = try keepMore(folder)
    let anchor = try TrustedManifest.newestRoot(anchor: bytes, stored: StoredMetadata()).payload
    let keys = anchor[.root]
    let nothing = remembers ? "what it needs was remembered anew" : "nothing to do"
    output.line(
      isNew ? "Trust begins at root version \(anchor.version)." : "Trust already begins at this root: \(nothing).", style: .good)
    output.line("State:      \(folder)")
    output.line("Expires:    \(anchor.expires)")
    output.line("Threshold:  \(keys.threshold) of \(keys.keyIDs.count) root keys:")
    for key in keys.keyIDs { output.line("  \(key)") }
    output.line("Next:       \(next)")
    output.report("changed", .bool(isNew || remembers))
    output.report("state", .string(folder))
    output.report("version", .integer(anchor.version.number))
    output.report("expires", .string(anchor.expires.description))
    output.report("threshold", .count(keys.threshold))
    output.report("root_keys", .array(keys.keyIDs.map { .string($0.description) }))
  }
}
