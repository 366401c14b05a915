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

@Suite struct `On a file system without locks a file stands in for the lock` {
  /// What file systems say that have none.
  static let errors: [Errno] = [.notSupported, .noLocks, .notImplemented, .invalidArgument]

  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func withoutLocks(_ error: Errno = .notSupported, _ body: () throws -> Void) throws {
    try FaultInjection.withHook(below: folder.path, { $0.name == .lock ? .fail(error) : .proceed }, body)
  }

  private func writeHolder(_ process: ProcessIdentity, minutesAgo: Double = 0) throws {
    try folder.write("\(process.number) \(process.start) \(process.place)\n", to: "lock.holder")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -60 * minutesAgo)], ofItemAtPath: folder("lock.holder"))
  }

  @Test(arguments: errors) func `one at a time has it, and the next learns who`(error: Errno) throws {
    try withoutLocks(error) {
      let lock = try FileLock(folder("lock"))
      let held = FileLockError.held(path: folder("lock"), by: getpid())
      #expect(throws: held) { _ = try FileLock(folder("lock")) }
      #expect(throws: held) { _ = try FileLock(folder("lock"), isShared: true, patience: 30) }
      _ = consume lock
      _ = try FileLock(folder("lock"))
    }
    #expect(try folder.names == ["lock"])
  }

  @Test func `several share it, and keep out whoever wants it alone`() throws {
    try withoutLocks {
      let first = try FileLock(folder("lock"), isShared: true)
      let second = try FileLock(folder("lock"), isShared: true)
      _ = consume first
      #expect(throws: FileLockError.held(path: folder("lock"), by: getpid())) { _ = try FileLock(folder("lock")) }
      _ = consume second
      _ = try FileLock(folder("lock"))
    }
    #expect(try folder.names == ["lock"])
  }

  @Test func `that of a process that is gone is taken away at once`() throws {
    let own = ProcessIdentity.current
    let ended = try #require(Int32(try runChild("sh", ["-c", "echo $$"]).successful().text.trimmingCharacters(in: .newlines)))
    try withoutLocks {
      try writeHolder(ProcessIdentity(number: ended, start: "1", place: own.place))
      _ = try FileLock(folder("lock"))
      // Another of its number, that started at another time.
      try writeHolder(ProcessIdentity(number: own.number, start: "1", place: own.place))
      _ = try FileLock(folder("lock"))
      let reader = ProcessIdentity(number: ended, start: "1", place: own.place)
      try folder.write("\(reader.number) \(reader.start) \(reader.place)\n", to: "lock.reader-1")
      _ = try FileLock(folder("lock"))
    }
    #expect(try folder.names == ["lock"])
  }

  @Test(arguments: ["another-run-of-a-machine/4026531836", "-"])
  func `that of a process which can't be seen from here counts as long as it is touched`(place: String) throws {
    let ended = try #require(Int32(try runChild("sh", ["-c", "echo $$"]).successful().text.trimmingCharacters(in: .newlines)))
    let process = ProcessIdentity(number: ended, start: "1", place: place)
    try withoutLocks {
      for minutes in [0, 2] {
        try writeHolder(process, minutesAgo: Double(minutes))
        #expect(throws: FileLockError.held(path: folder("lock"), by: nil)) { _ = try FileLock(folder("lock"), patience: 60) }
        #expect(throws: FileLockError.held(path: folder("lock"), by: nil)) { _ = try FileLock(folder("lock"), isShared: true) }
      }
      try writeHolder(process, minutesAgo: 4)
      _ = try FileLock(folder("lock"))
    }
    #expect(try folder.names == ["lock"])
  }

  @Test(arguments: [4.0, 26_280_000.0]) func `a time in the future is as little a sign of life as one long past`(minutes: Double)
    throws
  {
    let process = ProcessIdentity(number: 1, start: "1", place: "another-run-of-a-machine/4026531836")
    try withoutLocks {
      try writeHolder(process, minutesAgo: -minutes)
      _ = try FileLock(folder("lock"))
      // A clock that runs a little ahead is no reason to take it.
      try writeHolder(process, minutesAgo: -2)
      #expect(throws: FileLockError.held(path: folder("lock"), by: nil)) { _ = try FileLock(folder("lock")) }
    }
  }

  @Test(.timeLimit(.minutes(1))) func `it is touched as long as it is held`() throws {
    try withoutLocks {
      let lock = try FileLock(folder("lock"))
      let old = Date(timeIntervalSinceNow: -3600)
      try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: folder("lock.holder"))
      try waitUntil("the holder's file is touched") {
        try (FileManager.default.attributesOfItem(atPath: folder("lock.holder"))[.modificationDate] as? Date).map { $0 > old + 60 } == true
      }
      _ = consume lock
    }
  }

  @Test(.timeLimit(.minutes(2))) func `processes side by side lose no turn`() async throws {
    try folder.write("0", to: "counter")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { [path = folder.path] in
          await #expect(processExitsWith: .success) { [path = path as String] in
            _ = FaultInjection.install(below: path) { $0.name == .lock ? .fail(.noLocks) : .proceed }
            for _ in 0..<20 {
              let lock = try FileLock(path + "/lock", patience: 100_000)
              let number = Int(String(decoding: try readFile(path + "/counter", limit: 100), as: UTF8.self)) ?? -1_000_000
              usleep(200)
              try Data("\(number + 1)".utf8).write(to: URL(fileURLWithPath: path + "/counter"))
              _ = consume lock
            }
          }
        }
      }
    }
    #expect(try folder.text(of: "counter") == "80")
  }
}
