internal import CommandLineSupport
internal import ManifestSigning
internal import Synchronization
internal import TUFMetadata

/// Shows a publication's progress, and warns of keys without a passphrase.
final class CommandLineObserver: PublishingObserver {
  private let output: Output
  private let state = Mutex(State())

  private struct State {
    var progress: Progress?
    var unencrypted: [String] = []
    var formerlyUnencrypted: [String] = []
  }

  init(_ output: Output) { self.output = output }

  func isCancelled() -> Bool { Interruption.isRequested }

  func notice(_ notice: KeyNotice) {
    switch notice {
    case .unencrypted(_, let path): state.withLock { $0.unencrypted.append(path) }
    case .wasUnencrypted(_, let path): state.withLock { $0.formerlyUnencrypted.append(path) }
    }
  }

  func willHash(fileCount: Int, byteCount: Int64) {
    let progress = output.progress("hashing", bytes: UInt64(max(byteCount, 0)), files: UInt64(max(fileCount, 0)))
    state.withLock { $0.progress = progress }
  }

  func willHash(_ path: TargetPath) { state.withLock { $0.progress }?.begin("\(path)") }

  func didHash(byteCount: Int) { state.withLock { $0.progress }?.advance(bytes: UInt64(clamping: byteCount)) }

  /// Takes the progress bar away, and warns of what was noticed.
  func finish() {
    let (progress, unencrypted, formerly) = state.withLock { state in
      defer { state = State() }
      return (state.progress, state.unencrypted, state.formerlyUnencrypted)
    }
    progress?.finish()
    for path in formerly {
      output.warning(
        "\(path) was not encrypted until now: its old content may still be read from the disk, from snapshots and from backups. Destroy those copies; "
          + "where that can't be done, replace the key")
    }
    guard !unencrypted.isEmpty else { return }
    output.warning("secret keys without a passphrase, with which whoever can read them can sign: \(unencrypted.joined(separator: ", "))")
  }
}
