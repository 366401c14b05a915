import FileIO
import Foundation
import Synchronization
import TestSupport
import Testing

/// The number of system calls that concern a folder while `body` runs.
func callCount(below folder: String, _ body: () throws -> Void) throws -> Int {
  let count = Counter()
  try FaultInjection.withHook(below: folder) { _ in
    count.increment()
    return .proceed
  } _: {
    try body()
  }
  return count.value
}

final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  func increment() { count.add(1, ordering: .sequentiallyConsistent) }
}

@Suite struct `Whatever call fails, the old or the new content stands there whole` {
  static let old = "the old content"
  static let new = String(repeating: "new ", count: 5000)

  @Test(arguments: [Errno.noSpace, .inputOutput, .quotaExceeded, .accessDenied])
  func `a failure at any call of a replacement leaves no half and no temporary file`(errno: Errno) throws {
    let folder = try TemporaryFolder()
    let calls = try callCount(below: folder.path) { try replaceFile(at: folder("file"), with: Array(Self.new.utf8)) }
    #expect(calls >= 8)
    var failures = 0
    for failing in 0..<calls {
      try folder.write(Self.old, to: "file")
      var isReplaced = true
      do {
        try FaultInjection.withHook(below: folder.path) {
          $0.ordinal == failing ? .fail(errno) : .proceed
        } _: { () throws(FileError) in
          try replaceFile(at: folder("file"), with: Array(Self.new.utf8))
        }
      } catch {
        failures += 1
        #expect(error.errno == errno && error.path == folder("file"))
        // Once renamed, only the folder's synchronisation can still fail.
        isReplaced = try folder.text(of: "file") == Self.new
      }
      #expect(try folder.text(of: "file") == (isReplaced ? Self.new : Self.old))
      #expect(try folder.names == ["file"])
    }
    #expect(failures >= 6)
  }

  @Test func `an interruption at any call changes nothing`() throws {
    let folder = try TemporaryFolder()
    let calls = try callCount(below: folder.path) { try replaceFile(at: folder("file"), with: Array(Self.new.utf8)) }
    for interrupted in 0..<calls {
      try folder.write(Self.old, to: "file")
      try FaultInjection.withHook(below: folder.path) {
        $0.ordinal == interrupted ? .fail(.interrupted) : .proceed
      } _: {
        try replaceFile(at: folder("file"), with: Array(Self.new.utf8))
      }
      #expect(try folder.text(of: "file") == Self.new)
      #expect(try folder.names == ["file"])
    }
  }

  @Test(arguments: [1, 7, 4096])
  func `short writes are continued`(byteCount: Int) throws {
    let folder = try TemporaryFolder()
    try FaultInjection.withHook(below: folder.path) {
      $0.name == .write ? .short(byteCount) : .proceed
    } _: {
      try replaceFile(at: folder("file"), with: Array(Self.new.utf8))
    }
    #expect(try folder.text(of: "file") == Self.new)
  }

  @Test(.timeLimit(.minutes(1)))
  func `a write that takes nothing is an error, not an endless loop`() throws {
    let folder = try TemporaryFolder()
    FaultInjection.withHook(below: folder.path) {
      $0.name == .write ? .short(0) : .proceed
    } _: {
      #expect(throws: FileError.system(.write, path: folder("file"), .inputOutput)) { try replaceFile(at: folder("file"), with: [1]) }
    }
    #expect(try folder.names.isEmpty)
  }

  @Test func `a full disk leaves the old content, and does not keep anyone from the lock`() throws {
    let folder = try TemporaryFolder()
    _ = try runChild("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder.path]).successful()
    defer { _ = try? runChild("umount", ["--lazy", folder.path]) }
    try replaceFile(at: folder("file"), with: Array(Self.old.utf8))
    let tooMuch = [UInt8](repeating: 7, count: 100_000)
    #expect(throws: FileError.system(.write, path: folder("file"), .noSpace)) { try replaceFile(at: folder("file"), with: tooMuch) }
    #expect(throws: FileError.system(.write, path: folder("other"), .noSpace)) { try createFile(at: folder("other"), with: tooMuch) }
    #expect(try folder.text(of: "file") == Self.old)
    #expect(try folder.names == ["file"])

    let filler = try FileDescriptor(opening: folder("filler"), .createExclusive(permissions: 0o600))
    #expect(throws: Errno.noSpace) { try filler.write(all: tooMuch.span) }
    let lock = try FileLock(folder("lock"))
    #expect(throws: FileLockError.held(path: folder("lock"), by: nil)) { _ = try FileLock(folder("lock")) }
    _ = consume lock
  }
}

@Suite struct `A process killed at any call leaves what the next one can use` {
  @Test func `the content is the old or the new one, and the leftovers are found and removed`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path
    let new = `Whatever call fails, the old or the new content stands there whole`.new
    let old = `Whatever call fails, the old or the new content stands there whole`.old
    let calls = try callCount(below: path) { try replaceFile(at: folder("file"), with: Array(new.utf8)) }
    var seen: Set<String> = []
    var leftovers = 0
    for killed in 0..<calls {
      try folder.write(old, to: "file")
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, killed = killed as Int, new = new as String] in
        try FaultInjection.withHook(below: path) {
          $0.ordinal == killed ? .kill : .proceed
        } _: {
          try replaceFile(at: path + "/file", with: Array(new.utf8))
        }
      }
      let found = try folder.text(of: "file")
      #expect(found == old || found == new)
      seen.insert(found)
      let others = try folder.names.filter { $0 != "file" }
      #expect(others.count <= 1)
      #expect(others.allSatisfy { TemporaryFile.isTemporary(Array($0.utf8)) })
      #expect(try TemporaryFile.removeLeftovers(inDirectory: path) == others.count)
      leftovers += others.count
      #expect(try folder.names == ["file"])
    }
    #expect(seen == [old, new])
    #expect(leftovers > 0)
  }

  @Test func `a file that a living process is writing is not taken for a leftover, nor is any other name`() throws {
    let folder = try TemporaryFolder()
    for name in [
      ".signed-manifest-0123456789abcde.tmp", ".signed-manifest-0123456789abcdeg.tmp", "signed-manifest-0123456789abcdef.tmp", "x.tmp",
    ] {
      try folder.write("", to: name)
    }
    let others = try folder.names
    let living = try TemporaryFile(for: folder("file"), permissions: 0o600)
    try living.write(all: [1, 2].span)
    #expect(try TemporaryFile.removeLeftovers(inDirectory: folder.path) == 0)
    try living.replace()
    #expect(try folder.names == (others + ["file"]).sorted())
    try folder.write("", to: ".signed-manifest-0123456789abcdef.tmp")
    #expect(try TemporaryFile.removeLeftovers(inDirectory: folder.path) == 1)
  }

  @Test func `an unfinished file that is given up is removed`() throws {
    let folder = try TemporaryFolder()
    do {
      let file = try TemporaryFile(for: folder("file"), permissions: 0o600)
      try file.write(all: [1].span)
      #expect(try folder.names.count == 1)
      _ = consume file
    }
    #expect(try folder.names.isEmpty)
  }

  @Test(arguments: [SystemCall.lock, .open])
  func `a name that can't be had is not tried for ever`(call: SystemCall) throws {
    let folder = try TemporaryFolder()
    FaultInjection.withHook(below: folder.path) {
      $0.name == call && $0.path != folder.path ? .fail(call == .lock ? .wouldBlock : .exists) : .proceed
    } _: {
      #expect(throws: FileError.system(.create, path: folder("file"), .exists)) { try createFile(at: folder("file"), with: [1]) }
    }
  }
}

@Suite struct `A fault is injected only where it was asked for` {
  @Test func `other folders, and this one afterwards, are left alone`() throws {
    let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
    let seen = Counter()
    try FaultInjection.withHook(below: folder.path) { _ in
      seen.increment()
      return .fail(.inputOutput)
    } _: {
      try createFile(at: other("file"), with: [1])
      try createFile(at: folder.path + "-beside", with: [1])
      #expect(seen.value == 0)
      #expect(throws: FileError.self) { try createFile(at: folder("file"), with: [1]) }
    }
    try FileSystem.remove(folder.path + "-beside")
    let count = seen.value
    #expect(count > 0)
    try createFile(at: folder("file"), with: [1])
    #expect(seen.value == count)
  }

  @Test func `calls of every thread, and through descriptors, are seen with their path`() async throws {
    let folder = try TemporaryFolder()
    try folder.write("content", to: "file")
    let reads = Counter()
    let id = FaultInjection.install(below: folder.path) { call in
      if call.name == .read, call.path == folder("file") { reads.increment() }
      return .proceed
    }
    defer { FaultInjection.remove(id) }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 { group.addTask { _ = try? readFile(folder("file"), limit: 100) } }
    }
    #expect(reads.value == 8)
  }
}
