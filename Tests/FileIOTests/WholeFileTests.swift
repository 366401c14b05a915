import FileIO
import Foundation
import TestSupport
import Testing

@Suite struct `A whole file is read within its limit and from a regular file only` {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [0, 1, 4095, 4096, 4097, 1_000_000])
  func `a file of exactly the limit is read, one byte more is refused`(byteCount: Int) throws {
    let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try Data(bytes).write(to: URL(fileURLWithPath: folder("file")))
    #expect(try readFile(folder("file"), limit: byteCount) == bytes)
    #expect(try readFile(folder("file"), limit: Int.max) == bytes)
    if byteCount > 0 {
      let error = FileError.tooLarge(path: folder("file"), limit: byteCount - 1)
      #expect(throws: error) { try readFile(folder("file"), limit: byteCount - 1) }
    }
  }

  @Test func `a file whose told size is wrong is still read whole, and still held to the limit`() throws {
    // The kernel tells size 0 for this one.
    let bytes = try readFile("/proc/self/status", limit: 1 << 20)
    #expect(String(decoding: bytes, as: UTF8.self).contains("VmPeak"))
    #expect(throws: FileError.tooLarge(path: "/proc/self/status", limit: 10)) { try readFile("/proc/self/status", limit: 10) }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a FIFO, a socket, a device and a directory are refused at once`() throws {
    _ = try runChild("mkfifo", [folder("fifo")]).successful()
    #expect(throws: FileError.notRegular(path: folder("fifo"), .fifo)) { try readFile(folder("fifo"), limit: 10) }
    #expect(throws: FileError.notRegular(path: "/dev/zero", .characterDevice)) { try readFile("/dev/zero", limit: 10) }
    #expect(throws: FileError.notRegular(path: folder.path, .directory)) { try readFile(folder.path, limit: 10) }
    let socket = try UnixSocket(at: folder("socket"))
    #expect(throws: FileError.notRegular(path: folder("socket"), .socket)) { try readFile(folder("socket"), limit: 10) }
    socket.close()
  }

  @Test func `a symbolic link is followed only where that is wanted`() throws {
    try folder.write("content", to: "file")
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "file")
    #expect(try readFile(folder("link"), limit: 10) == Array("content".utf8))
    #expect(throws: FileError.notRegular(path: folder("link"), .symbolicLink)) {
      try readFile(folder("link"), limit: 10, followingLinks: false)
    }
  }

  @Test func `a path with NUL inside is refused, not cut there`() throws {
    try folder.write("content", to: "file")
    #expect(throws: FileError.system(.read, path: folder("file\0x"), .invalidArgument)) {
      try readFile(folder("file\0x"), limit: 10)
    }
  }

  @Test func `short and interrupted reads change nothing`() throws {
    try folder.write("a longer content", to: "file")
    let bytes = try FaultInjection.withHook(below: folder.path) { call in
      guard call.name == .read else { return .proceed }
      return call.ordinal.isMultiple(of: 2) ? .fail(.interrupted) : .short(1)
    } _: { () throws(FileError) in
      try readFile(folder("file"), limit: 100)
    }
    #expect(bytes == Array("a longer content".utf8))
  }

  @Test func `a read error is told with the path`() throws {
    try folder.write("content", to: "file")
    let path = folder("file")
    FaultInjection.withHook(below: folder.path) {
      $0.name == .read ? .fail(.inputOutput) : .proceed
    } _: {
      #expect(throws: FileError.system(.read, path: path, .inputOutput)) { try readFile(path, limit: 100) }
    }
  }
}

@Suite struct `A file is replaced or made whole` {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `replacing makes a new file, and replaces an old one`() throws {
    for text in ["first", "the second, longer", ""] {
      try replaceFile(at: folder("file"), with: Array(text.utf8))
      #expect(try folder.text(of: "file") == text)
    }
    #expect(try folder.names == ["file"])
  }

  @Test func `permissions are as asked`() throws {
    try replaceFile(at: folder("file"), with: [1], permissions: 0o600)
    #expect(try FileSystem.status(of: folder("file"), followingLinks: false).permissions == 0o600)
    try replaceFile(at: folder("file"), with: [1], permissions: 0o400)
    #expect(try FileSystem.status(of: folder("file"), followingLinks: false).permissions == 0o400)
  }

  @Test func `making a file never overwrites, nor follows a dangling link`() throws {
    try createFile(at: folder("file"), with: Array("first".utf8))
    #expect(throws: FileError.system(.create, path: folder("file"), .exists)) { try createFile(at: folder("file"), with: [1]) }
    #expect(try folder.text(of: "file") == "first")
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "nowhere")
    #expect(throws: FileError.system(.create, path: folder("link"), .exists)) { try createFile(at: folder("link"), with: [1]) }
    #expect(try folder.names == ["file", "link"])
  }

  @Test func `replacing a symbolic link leaves its target alone`() throws {
    try folder.write("target", to: "target")
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "target")
    try replaceFile(at: folder("link"), with: Array("new".utf8))
    #expect(try folder.text(of: "target") == "target")
    #expect(try FileSystem.status(of: folder("link"), followingLinks: false).kind == .regular)
  }

  @Test(arguments: ["", ".", "..", "sub/", "sub/.."])
  func `a folder's own name is no place for a file`(name: String) throws {
    #expect(throws: FileError.system(.create, path: folder(name), .isDirectory)) { try replaceFile(at: folder(name), with: [1]) }
  }

  @Test func `the longest name that the file system takes can be replaced`() throws {
    let name = String(repeating: "n", count: 255)
    try replaceFile(at: folder(name), with: [1])
    #expect(try folder.names == [name])
  }

  @Test func `errors read well by themselves`() {
    let path = "manifests/metadata/timestamp.json"
    #expect("\(FileError.system(.write, path: path, .noSpace))" == "can't write \(path): No space left on device")
    #expect("\(FileError.tooLarge(path: path, limit: 16384))" == "can't read \(path): it is longer than the limit of 16384 bytes")
    #expect("\(FileError.notRegular(path: path, .fifo))" == "can't read \(path): it is a FIFO, not a regular file")
    #expect("\(FileLockError.held(path: "state/lock", by: 17))" == "state/lock is locked by process 17")
    #expect("\(FileLockError.held(path: "state/lock", by: nil))" == "state/lock is locked by another process")
  }
}
