import FileIO
import Foundation
import TestSupport
import Testing

@Suite struct `A lock has one holder, and none that is dead` {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `the second taker learns who holds it, and gets it afterwards`() throws {
    let lock = try FileLock(folder("lock"))
    let held = FileLockError.held(path: folder("lock"), by: ProcessInfo.processInfo.processIdentifier)
    #expect(throws: held) { _ = try FileLock(folder("lock")) }
    #expect(throws: held) { _ = try FileLock(folder("lock"), patience: 30) }
    _ = consume lock
    _ = try FileLock(folder("lock"))
    #expect(try folder.text(of: "lock") == "")
  }

  @Test(.timeLimit(.minutes(1)))
  func `another process that holds it is named, and once killed is no hindrance`() throws {
    let holder = Process()
    holder.executableURL = URL(fileURLWithPath: "/bin/sh")
    holder.arguments = ["-c", "exec 9<>\"$1\"; flock -n 9 || exit 3; echo $$ >&9; echo ready; exec sleep 50", "sh", folder("lock")]
    let output = Pipe()
    holder.standardOutput = output
    try holder.run()
    #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8), "this test needs flock of util-linux")
    #expect(throws: FileLockError.held(path: folder("lock"), by: holder.processIdentifier)) { _ = try FileLock(folder("lock")) }
    kill(holder.processIdentifier, SIGKILL)
    holder.waitUntilExit()
    let lock = try FileLock(folder("lock"))
    #expect(try folder.text(of: "lock") == "\(ProcessInfo.processInfo.processIdentifier)\n")
    _ = consume lock
  }

  @Test func `a holder of this program that is killed is no hindrance`() async throws {
    let path = folder("lock")
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let lock = try FileLock(path)
      kill(getpid(), SIGKILL)
      _ = consume lock
    }
    #expect(try folder.text(of: "lock") != "", "the killed process never had the lock")
    let lock = try FileLock(path)
    _ = consume lock
  }

  @Test(.timeLimit(.minutes(2)))
  func `processes side by side lose no turn`() async throws {
    let (lockPath, counterPath) = (folder("lock"), folder("counter"))
    try folder.write("0", to: "counter")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          await #expect(processExitsWith: .success) { [lockPath = lockPath as String, counterPath = counterPath as String] in
            for _ in 0..<50 {
              let lock = try FileLock(lockPath, patience: 60_000)
              let number = Int(String(decoding: try readFile(counterPath, limit: 100), as: UTF8.self)) ?? -1_000_000
              usleep(200)
              try Data("\(number + 1)".utf8).write(to: URL(fileURLWithPath: counterPath))
              _ = consume lock
            }
          }
        }
      }
    }
    #expect(try folder.text(of: "counter") == "200")
  }

  @Test(.timeLimit(.minutes(1)))
  func `only a regular file is a lock file, and a link is not followed`() throws {
    _ = try runChild("mkfifo", [folder("fifo")]).successful()
    #expect(throws: FileLockError.file(.notRegular(path: folder("fifo"), .fifo))) { _ = try FileLock(folder("fifo")) }
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "elsewhere")
    #expect(throws: FileLockError.file(.system(.lock, path: folder("link"), .tooManySymbolicLinks))) { _ = try FileLock(folder("link")) }
    #expect(throws: FileLockError.file(.system(.lock, path: folder("no/lock"), .notFound))) { _ = try FileLock(folder("no/lock")) }
    #expect(try folder.names == ["fifo", "link"])
  }
}
