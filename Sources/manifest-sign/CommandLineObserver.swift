internal import CommandLineSupport
internal import ManifestSigning
internal import Synchronization
internal import TUFMetadata

/// Shows a publication's progress, and warns of keys without a passphrase, each once.
final class CommandLineObserver: PublishingObserver {
  private let output: Output
  private let state = Mutex(State())

  private struct State {
    var progress: Progress?
    var warned: Set<KeyNotice> = []
  }

  init(_ output: Output) { self.output = output }

  func isCancelled() -> Bool { Interruption.isRequested }

  func notice(_ notice: KeyNotice) {
    guard state.withLock({ $0.warned.insert(notice).inserted }) else { return }
    switch notice {
    case .unencrypted(let name, let path):
      output.warning("the secret key \(name) has no passphrase: whoever can read \(path) can sign")
    }
  }

  func willHash(fileCount: Int, byteCount: Int64) {
    let progress = output.progress("hashing", bytes: UInt64(max(byteCount, 0)), files: UInt64(max(fileCount, 0)))
    state.withLock { $0.progress = progress }
  }

  func willHash(_ path: TargetPath) { state.withLock { $0.progress }?.begin("\(path)") }

  func didHash(byteCount: Int) { state.withLock { $0.progress }?.advance(bytes: UInt64(clamping: byteCount)) }

  /// Takes the progress bar away.
  func finish() { state.withLock { $0.progress }?.finish() }
}
