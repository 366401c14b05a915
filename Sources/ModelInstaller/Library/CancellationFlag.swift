internal import Synchronization

/// Whether a task was cancelled, for code that is not part of it.
final class CancellationFlag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }

  func set() { value.store(true, ordering: .relaxed) }
}

/// Where a caller waits, which its task may be cancelled before it is known.
final class SharedPlace: Sendable {
  private struct State {
    var place: (installation: SharedInstallation, number: Int)?
    var isCancelled = false
  }

  private let state = Mutex(State())

  func set(_ installation: SharedInstallation, _ number: Int) {
    let isCancelled = state.withLock { state in
      state.place = (installation, number)
      return state.isCancelled
    }
    if isCancelled { installation.leave(number) }
  }

  func cancel() {
    let place = state.withLock { state in
      state.isCancelled = true
      return state.place
    }
    place?.installation.leave(place?.number ?? 0)
  }
}

/// Carries a file from one thread to another.
final class FileBox: Sendable {
  private let file: Mutex<ModelFile?>

  init(_ file: consuming ModelFile) { self.file = Mutex(file) }

  func take() -> ModelFile? { file.withLock { file in file.take() } }
}
