internal import CommandFailures
package import CommandLineSupport
internal import FileIO
internal import ManifestVerifier
package import TrustStore

/// What errors of the device's state mean to a person: words, hints and exit codes in one table.
extension Failure {
  /// - Parameter program: the command to run next where there is one.
  package init(explaining error: any Error, program: String) {
    switch error {
    case let error as TrustStoreError: self.init(error, program: program)
    case let error as VerificationError: self.init(error)
    case let error as FileError: self.init(error)
    default: self.init(.failure, "\(error)")
    }
  }

  private static let beginAnew = "begin anew in another folder: give init the root file that the app was shipped with, then refresh"

  package init(_ error: TrustStoreError, program: String) {
    switch error {
    case .notInitialised(let path):
      self.init(
        .failure, "\(path) holds no trusted state", expected: "a folder that init has filled", found: "none",
        hint: "run \(program) init --state \(DeviceState.shellWord(path)) ROOT.json, with the root file that the app was shipped with")
    case .alreadyInitialised(let path):
      self.init(
        .failure, "\(path) already trusts another root", expected: "the root file that it began with, or an empty folder",
        found: "another root file", hint: "nothing was changed; to begin at another root use another folder")
    case .foreignContent(let path, let name):
      self.init(
        .failure, "\(path) holds something that is not ours", expected: "an empty folder, or none", found: name,
        hint: "nothing was written; choose another folder")
    case .newerFormat(let path, let found, let supported):
      self.init(
        .malformed, "the state was written by a newer version of this software", expected: "format \(supported) or older",
        found: "format \(found)", at: path, hint: "update this software")
    case .damaged(let path, let expected):
      self.init(
        .malformed, "the trusted state is damaged", expected: expected, at: path,
        // The snapshot tells what this one has to be, so that it can be fetched again.
        hint: path.hasSuffix("/targets.json") ? "run refresh: it is fetched again, and nothing else is lost" : Self.beginAnew)
    case .locked(let path, let process):
      self.init(
        .locked, "the state is in use by \(process.map { "process \($0)" } ?? "another process")", at: path,
        hint: "wait until it has finished, and run the command again")
    case .file(let error):
      self.init(error)
      hint = [hint, "if the state folder can't be mended, \(Self.beginAnew)"].compactMap { $0 }.joined(separator: "; ")
    case .unusableRoot(let cause):
      self.init(cause)
      message = "the root file can't be trusted: \(message)"
      hint = "nothing was written; get the root file again from where the app's publisher ships it"
    }
  }
}
