/// A file being written beside the one that it is to become. Nothing stands under the final name before all of it is on the disk;
/// unless it is placed, it is removed when the value ends.
package struct TemporaryFile: ~Copyable, Sendable {
  /// The final path.
  package let path: String
  package let file: FileDescriptor
  private let folder: FileDescriptor
  private let name: [UInt8]
  private let temporaryName: [UInt8]
  private var isPlaced = false

  /// - Parameter permissions: of the file; the process's umask applies.
  package init(for path: String, permissions: UInt16) throws(FileError) {
    let (folderPath, name) = PathParts.split(path)
    guard !PathParts.isSpecial(name), path.utf8.last != UInt8(ascii: "/") else { throw .system(.create, path: path, .isDirectory) }
    let folder = try FileError.describing(.create, path) { () throws(Errno) in try FileDescriptor(opening: folderPath, .directory) }
    try self.init(named: name, in: folder, path: path, permissions: permissions)
  }

  /// Begins a file in an open folder, which another one of the same file system may take over: see `replace(in:)`.
  /// - Parameters:
  ///   - name: the final one.
  ///   - path: the final one, for messages.
  ///   - permissions: of the file; the process's umask applies.
  package init(named name: [UInt8], in folder: consuming FileDescriptor, path: String, permissions: UInt16) throws(FileError) {
    var attemptsLeft = 100
    while true {
      attemptsLeft -= 1
      let temporaryName = Self.randomName()
      do throws(Errno) {
        let file = try folder.open(temporaryName, .createExclusive(permissions: permissions))
        guard try Self.claim(file, temporaryName, folder) else { throw .exists }
        (self.path, self.name, self.temporaryName) = (path, name, temporaryName)
        self.file = file
        self.folder = folder
        return
      } catch {
        // Another name, then; the bound is for a file system gone mad.
        if error == .exists, attemptsLeft > 0 { continue }
        throw .system(.create, path: path, error)
      }
    }
  }

  deinit {
    if !isPlaced { Self.remove(temporaryName, below: folder) }
  }

  package func write(all bytes: Span<UInt8>) throws(FileError) {
    do { try file.write(all: bytes) } catch { throw .system(.write, path: path, error) }
  }

  /// Puts the file in place of whatever has its final name.
  package consuming func replace() throws(FileError) {
    do throws(Errno) {
      try file.synchronize()
      try SystemCalls.rename(CPath(temporaryName), below: folder.descriptor, to: CPath(name), below: folder.descriptor)
      isPlaced = true
      try FileSystem.synchronize(directory: folder)
    } catch { throw .system(.replace, path: path, error) }
  }

  /// Moves the file to its final name in another folder of the same file system, in place of whatever has that name there.
  package consuming func replace(in destination: borrowing FileDescriptor) throws(FileError) {
    do throws(Errno) {
      try file.synchronize()
      try SystemCalls.rename(CPath(temporaryName), below: folder.descriptor, to: CPath(name), below: destination.descriptor)
      isPlaced = true
      try FileSystem.synchronize(directory: destination)
    } catch { throw .system(.replace, path: path, error) }
  }

  /// Gives the file its final name, which nothing may have yet.
  package consuming func create() throws(FileError) {
    do throws(Errno) {
      try file.synchronize()
      try FileSystem.renameExclusively(CPath(temporaryName), below: folder.descriptor, to: CPath(name), below: folder.descriptor)
      isPlaced = true
      try FileSystem.synchronize(directory: folder)
    } catch { throw .system(.create, path: path, error) }
  }

  // MARK: Leftovers

  private static let prefix = Array(".signed-manifest-".utf8)
  private static let suffix = Array(".tmp".utf8)

  /// Whether a name is one that this type gives to unfinished files.
  package static func isTemporary(_ name: [UInt8]) -> Bool {
    guard name.count == prefix.count + 16 + suffix.count, name.starts(with: prefix), name.suffix(suffix.count) == suffix[...] else {
      return false
    }
    return name[prefix.count..<(prefix.count + 16)].allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Removes the unfinished files that killed processes left in a directory, and none that a living one is still writing.
  /// - Returns: how many there were.
  @discardableResult
  package static func removeLeftovers(inDirectory path: String) throws(FileError) -> Int {
    do throws(Errno) {
      let folder = try FileDescriptor(opening: path, .directory)
      var count = 0
      for name in try folder.names() where isTemporary(name) {
        do throws(Errno) {
          let file = try folder.open(name, .readNoFollow)
          guard try file.status().kind == .regular else { continue }
          // A writer holds this lock for as long as it lives.
          try SystemCalls.lock(file.descriptor)
          try SystemCalls.remove(CPath(name), below: folder.descriptor, directory: false)
          count += 1
        } catch {
          // Placed or removed in the meantime, in use, another user's, or of a file system without locks, where it can't be told: left alone.
          guard error.meansNoLocks || [.notFound, .wouldBlock, .accessDenied].contains(error) else { throw error }
        }
      }
      return count
    } catch { throw .system(.remove, path: path, error) }
  }

  private static func randomName() -> [UInt8] {
    let number = String(UInt64.random(in: .min ... .max), radix: 16)
    return prefix + Array(repeating: UInt8(ascii: "0"), count: 16 - number.utf8.count) + Array(number.utf8) + suffix
  }

  /// Marks a new file as being written; false where a cleaner was faster, and took it for a leftover.
  private static func claim(_ file: borrowing FileDescriptor, _ name: [UInt8], _ folder: borrowing FileDescriptor) throws(Errno) -> Bool {
    do throws(Errno) {
      do throws(Errno) {
        try SystemCalls.lock(file.descriptor)
      } catch {
        if error == .wouldBlock { return false }
        // A file system without locks: leftovers can't be told from living files there, so they stay.
      }
      return try file.status().linkCount > 0
    } catch {
      remove(name, below: folder)
      throw error
    }
  }

  /// As far as it can be: the error that led here is the one to report.
  private static func remove(_ name: [UInt8], below folder: borrowing FileDescriptor) {
    do { try SystemCalls.remove(CPath(name), below: folder.descriptor, directory: false) } catch {}
  }
}
