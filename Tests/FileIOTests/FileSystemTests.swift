import FileIO
import Foundation
import TestSupport
import Testing

@Suite struct `Nothing below an open directory leads out of it` {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a symbolic link is refused at every component`() throws {
    try FileManager.default.createDirectory(atPath: folder("real/sub"), withIntermediateDirectories: true)
    try folder.write("content", to: "real/sub/file")
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "real")
    try FileManager.default.createSymbolicLink(atPath: folder("real/sub/link"), withDestinationPath: "file")
    let directory = try FileDescriptor(opening: folder.path, .directory)
    let file = try directory.open("real/sub/file", .read)
    #expect(try file.contents(limit: 100, named: "file") == Array("content".utf8))
    for path in ["link/sub/file", "real/sub/link", "link"] {
      let error = #expect(throws: Errno.self) { _ = try directory.open(path, .read) }
      #expect(error == .tooManySymbolicLinks || error == .notDirectory)
    }
  }

  @Test(arguments: ["", ".", "..", "../x", "a/../b", "a//b", "/etc/passwd", "a/", "a/.", "a\0b"])
  func `a path that is not made of plain names is refused`(path: String) throws {
    try FileManager.default.createDirectory(atPath: folder("a"), withIntermediateDirectories: false)
    try folder.write("", to: "b")
    let directory = try FileDescriptor(opening: folder.path, .directory)
    #expect(throws: Errno.invalidArgument) { _ = try directory.open(path, .read) }
  }

  @Test(.timeLimit(.minutes(1)))
  func `opening a FIFO does not wait for its other end`() throws {
    _ = try runChild("mkfifo", [folder("fifo")]).successful()
    let directory = try FileDescriptor(opening: folder.path, .directory)
    let fifo = try directory.open("fifo", .read)
    #expect(try fifo.status().kind == .fifo)
  }

  @Test func `no descriptor is passed on to a program that is started`() throws {
    let file = try FileDescriptor(opening: folder("file"), .createExclusive(permissions: 0o600))
    #expect(fcntl(file.descriptor, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test func `a descriptor is closed with its value`() throws {
    var number: CInt = -1
    do {
      let file = try FileDescriptor(opening: folder("file"), .createExclusive(permissions: 0o600))
      number = file.descriptor
    }
    let other = try FileDescriptor(opening: folder.path, .directory)
    // Another test may take the number first; then it no longer stands for this file.
    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
    #expect(target != folder("file"))
    _ = consume other
  }
}

@Suite struct `Names are bytes` {
  @Test func `names that are not UTF-8 are listed, sorted by byte, and can be opened and removed`() throws {
    let folder = try TemporaryFolder()
    // "é" composed and decomposed are two names, and Swift's order of strings is not that of bytes.
    let names: [[UInt8]] = [
      [0xFF, 0x80], Array("b".utf8), Array("B".utf8), Array("e\u{301}".utf8), Array("\u{E9}".utf8), [0x80], Array("😀".utf8),
    ]
    let directory = try FileDescriptor(opening: folder.path, .directory)
    for name in names { _ = try directory.open(name, .createExclusive(permissions: 0o600)) }
    let sorted = names.sorted { $0.lexicographicallyPrecedes($1) }
    #expect(try FileSystem.names(inDirectory: folder.path) == sorted)
    #expect(try directory.names() == sorted)
    #expect(try directory.names() == sorted)
    #expect(try directory.status(of: [0xFF, 0x80]).kind == .regular)
    try FileSystem.removeTree(folder.path)
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  @Test func `an error in the midst of a listing is told, not taken for its end`() throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b", "c"] { try folder.write("", to: name) }
    FaultInjection.withHook(below: folder.path) {
      $0.name == .list && $0.ordinal == 3 ? .fail(.inputOutput) : .proceed
    } _: {
      #expect(throws: Errno.inputOutput) { try FileSystem.names(inDirectory: folder.path) }
    }
  }

  @Test func `a directory of many names is listed whole`() throws {
    let folder = try TemporaryFolder()
    try folder.write("", to: "10000")
    for number in 10_001..<15_000 { try FileSystem.hardLink(folder("10000"), to: folder("\(number)")) }
    #expect(try FileSystem.names(inDirectory: folder.path) == (10_000..<15_000).map { Array("\($0)".utf8) })
  }
}

@Suite struct `A file's status tells what it is and whether it changed` {
  @Test func `each kind is told`() throws {
    let folder = try TemporaryFolder()
    try folder.write("1234567", to: "file")
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "file")
    _ = try runChild("mkfifo", [folder("fifo")]).successful()
    let socket = try UnixSocket(at: folder("socket"))
    let kinds = ["file", "link", "fifo", "socket", "."].map { try? FileSystem.status(of: folder($0), followingLinks: false).kind }
    #expect(kinds == [.regular, .symbolicLink, .fifo, .socket, .directory])
    #expect(try FileSystem.status(of: "/dev/null", followingLinks: false).kind == .characterDevice)
    let followed = try FileSystem.status(of: folder("link"), followingLinks: true)
    #expect(followed.kind == .regular && followed.byteCount == 7 && followed.linkCount == 1)
    socket.close()
  }

  @Test func `a write changes it, even where the modification time is set back`() throws {
    let folder = try TemporaryFolder()
    let file = try FileDescriptor(opening: folder("file"), .createExclusive(permissions: 0o600))
    try file.write(all: [1, 2, 3].span)
    let before = try file.status()
    #expect(try file.status() == before)
    usleep(20_000)
    try file.write(all: [4].span)
    try file.truncate(to: 3)
    let date = Date(timeIntervalSince1970: Double(before.modifiedNanoseconds) / 1e9)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder("file"))
    let after = try file.status()
    #expect(after != before && after.changedNanoseconds > before.changedNanoseconds && after.isSameFile(as: before))
  }

  @Test func `reads at an offset are filled, short only at the end`() throws {
    let folder = try TemporaryFolder()
    try folder.write("0123456789", to: "file")
    let file = try FileDescriptor(opening: folder("file"), .read)
    var buffer = [UInt8](repeating: 0, count: 4)
    try FaultInjection.withHook(below: folder.path) {
      $0.name == .read ? .short(1) : .proceed
    } _: { () throws(Errno) in
      #expect(try file.fill(&buffer, at: 3) == 4)
      #expect(buffer == Array("3456".utf8))
      #expect(try file.fill(&buffer, at: 8) == 2)
      #expect(try file.fill(&buffer, at: 10) == 0)
      #expect(try file.read(into: &buffer) == 1)
    }
    #expect(buffer[0] == UInt8(ascii: "0"))
  }
}

@Suite struct `Names are moved, linked and removed without harm to others` {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// With `fallsBack`, as on a file system that knows no exclusive rename.
  @Test(arguments: [false, true])
  func `an exclusive rename never replaces`(fallsBack: Bool) throws {
    try FaultInjection.withHook(below: folder.path) {
      fallsBack && $0.name == .rename && $0.ordinal == 0 ? .fail(.invalidArgument) : .proceed
    } _: {
      try folder.write("old", to: "old")
      try FileSystem.renameExclusively(folder("old"), to: folder("new"))
    }
    #expect(try folder.names == ["new"])
    try folder.write("another", to: "another")
    try FileSystem.createDirectory(folder("empty"))
    try FileSystem.createDirectory(folder("directory"))
    for (old, new) in [("another", "new"), ("directory", "empty"), ("directory", "new")] {
      FaultInjection.withHook(below: folder.path) {
        fallsBack && $0.name == .rename && $0.ordinal == 0 ? .fail(.invalidArgument) : .proceed
      } _: {
        #expect(throws: Errno.exists) { try FileSystem.renameExclusively(folder(old), to: folder(new)) }
      }
    }
    #expect(try folder.names == ["another", "directory", "empty", "new"])
    try FaultInjection.withHook(below: folder.path) {
      fallsBack && $0.name == .rename && $0.ordinal == 0 ? .fail(.invalidArgument) : .proceed
    } _: {
      try FileSystem.renameExclusively(folder("directory"), to: folder("moved"))
    }
    #expect(try folder.names == ["another", "empty", "moved", "new"])
  }

  @Test func `missing directories are made, and one that is there will do`() throws {
    try FileSystem.createDirectories(folder("a/b/c//d/"), permissions: 0o700)
    try FileSystem.createDirectories(folder("a/b/c/d"))
    try FileSystem.createDirectories("/")
    #expect(try FileSystem.status(of: folder("a/b"), followingLinks: false).permissions == 0o700)
    try folder.write("", to: "file")
    #expect(throws: FileError.system(.create, path: folder("file"), .notDirectory)) { try FileSystem.createDirectories(folder("file")) }
    #expect(throws: FileError.self) { try FileSystem.createDirectories(folder("file/below")) }
    #expect(throws: FileError.system(.create, path: "", .notFound)) { try FileSystem.createDirectories("") }
  }

  @Test func `removing a tree removes links, not what they point at`() throws {
    try FileSystem.createDirectories(folder("kept"))
    try folder.write("kept", to: "kept/file")
    try FileSystem.createDirectories(folder("tree/" + Array(repeating: "deep", count: 200).joined(separator: "/")))
    try folder.write("", to: "tree/deep/file")
    try FileManager.default.createSymbolicLink(atPath: folder("tree/link"), withDestinationPath: "../kept")
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "kept")
    try FileSystem.removeTree(folder("tree"))
    try FileSystem.removeTree(folder("link"))
    #expect(try folder.names == ["kept"])
    #expect(try folder.text(of: "kept/file") == "kept")
    #expect(throws: FileError.system(.remove, path: folder("tree"), .notFound)) { try FileSystem.removeTree(folder("tree")) }
    #expect(throws: FileError.system(.remove, path: folder("kept/.."), .invalidArgument)) { try FileSystem.removeTree(folder("kept/..")) }
  }

  @Test func `removing a tree stops before another file system`() throws {
    try FileSystem.createDirectories(folder("tree/mounted"))
    _ = try runChild("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder("tree/mounted")]).successful()
    try folder.write("kept", to: "tree/mounted/file")
    #expect(throws: FileError.system(.remove, path: folder("tree"), .crossesFileSystems)) { try FileSystem.removeTree(folder("tree")) }
    #expect(try folder.text(of: "tree/mounted/file") == "kept")
    _ = try runChild("umount", [folder("tree/mounted")]).successful()
  }

  @Test func `a copy lives on its own, and never replaces`() throws {
    let text = String(repeating: "0123456789abcdef", count: 200_000)
    try folder.write(text, to: "source")
    try FileSystem.cloneOrCopy(from: folder("source"), to: folder("copy"), permissions: 0o444)
    try folder.write("changed", to: "source")
    #expect(try folder.text(of: "copy") == text)
    #expect(try FileSystem.status(of: folder("copy"), followingLinks: false).permissions == 0o444)
    #expect(throws: FileError.system(.create, path: folder("copy"), .exists)) {
      try FileSystem.cloneOrCopy(from: folder("source"), to: folder("copy"), permissions: 0o444)
    }
    #expect(throws: FileError.notRegular(path: "/dev/zero", .characterDevice)) {
      try FileSystem.cloneOrCopy(from: "/dev/zero", to: folder("zero"), permissions: 0o444)
    }
    #expect(try folder.names == ["copy", "source"])
  }

  @Test func `a copy that fails at any call leaves nothing under its name, or all`() throws {
    try folder.write("content", to: "source")
    let calls = try callCount(below: folder.path) {
      try FileSystem.cloneOrCopy(from: folder("source"), to: folder("copy"), permissions: 0o600)
    }
    for failing in 0..<calls {
      try? FileManager.default.removeItem(atPath: folder("copy"))
      FaultInjection.withHook(below: folder.path) {
        $0.ordinal == failing ? .fail(.noSpace) : .proceed
      } _: {
        _ = try? FileSystem.cloneOrCopy(from: folder("source"), to: folder("copy"), permissions: 0o600)
      }
      let names = try folder.names
      #expect(names == ["source"] || names == ["copy", "source"])
      if names.count == 2 { #expect(try folder.text(of: "copy") == "content") }
    }
  }

  @Test func `a hard link is a second name of one file`() throws {
    try folder.write("content", to: "first")
    try FileSystem.hardLink(folder("first"), to: folder("second"))
    let statuses = try ["first", "second"].map { try FileSystem.status(of: folder($0), followingLinks: false) }
    #expect(statuses[0].isSameFile(as: statuses[1]) && statuses[0].linkCount == 2)
    #expect(throws: Errno.exists) { try FileSystem.hardLink(folder("first"), to: folder("second")) }
  }

  @Test func `of a file with holes that is counted which lies on the disk`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write([UInt8](repeating: 1, count: 1 << 20), to: "file")
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
    try handle.truncate(atOffset: 1 << 30)
    try handle.close()
    try folder.write("x", to: "small")
    let opened = try FileDescriptor(opening: folder.path, .directory)
    #expect(try (1 << 20..<1 << 24).contains(opened.allocatedByteCount(of: Array("file".utf8))))
    #expect(try opened.allocatedByteCount(of: Array("small".utf8)) == 1)
    #expect(throws: Errno.notFound) { try opened.allocatedByteCount(of: Array("none".utf8)) }
  }

  @Test func `content takes whole blocks`() throws {
    let folder = try TemporaryFolder()
    let space = try FileDescriptor(opening: folder.path, .directory).space()
    let block = space.blockByteCount
    #expect(space.rounded(0) == 0 && space.rounded(1) == block && space.rounded(block) == block && space.rounded(block + 1) == 2 * block)
    #expect(space.rounded(.max) >= .max - block)
    #expect(space.freeByteCount >= 0 && block >= 1)
  }
}
