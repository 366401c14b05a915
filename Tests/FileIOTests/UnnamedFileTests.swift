import FileIO
import Foundation
import TestSupport
import Testing

@Suite struct `a file without a name` {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `leaves nothing behind until it is named, and is never put in place of another`() throws {
    let place = try FileDescriptor(opening: folder.path, .directory)
    do throws(Errno) {
      let file = try UnnamedFile(in: place, permissions: 0o600)
      try file.file.write(all: Array("content".utf8).span)
      #expect((try? folder.names) == [])
      try file.name(Array("name".utf8), in: place)
    } catch {
      // This file system has none: the callers then use a temporary name.
      #expect(error == .notSupported)
      return
    }
    #expect(try folder.text(of: "name") == "content")
    #expect(throws: Errno.exists) { try UnnamedFile(in: place, permissions: 0o600).name(Array("name".utf8), in: place) }
    #expect(try folder.names == ["name"])
  }
}
