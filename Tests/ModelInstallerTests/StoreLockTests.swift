import FileIO
import Foundation
import ModelInstaller
import TestSupport
import Testing

@Suite("One at a time changes a store")
struct StoreLockTests {
  /// Runs `body` with a store on a file system that has no locks, or on one that has.
  private func withStore(hasLocks: Bool, _ body: (String) throws -> Void) throws {
    let folder = try TemporaryFolder()
    try FaultInjection.withHook(
      below: folder.path, { call in call.name == .lock && !hasLocks ? .fail(.notSupported) : .proceed },
      { () throws -> Void in try body(folder("store")) })
  }

  @Test("Whether or not the file system has locks", arguments: [true, false])
  func oneAtATime(hasLocks: Bool) throws {
    try withStore(hasLocks: hasLocks) { path in
      do {
        let store = try ModelStore.changing(path, patience: 0)
        let error = #expect(throws: InstallationError.self) { _ = try ModelStore.changing(path, patience: 0) }
        #expect(error?.description.contains("process \(getpid())") == true)
        _ = try store.records()
      }
      _ = try ModelStore.changing(path, patience: 0)
    }
  }
}
