/// A new file that has no name until all of it is on the disk: whatever ends the process before that leaves nothing behind.
package struct UnnamedFile: ~Copyable, Sendable {
  package let file: FileDescriptor

  /// - Throws: `notSupported` where the file system or the platform has no such files.
  package init(in folder: borrowing FileDescriptor, permissions: UInt16) throws(Errno) {
    guard let flags = OpenAccess.unnamedFlags else { throw .notSupported }
    do throws(Errno) {
      file = try FileDescriptor(
        owning: SystemCalls.openFile(CPath("."), below: folder.descriptor, flags: flags, permissions: permissions))
    } catch {
      // Some file systems and kernels take it for an attempt to write to the folder.
      throw error == .isDirectory || error == .invalidArgument ? .notSupported : error
    }
  }

  /// Gives it a name, which nothing may have yet, once it is on the disk.
  /// - Throws: `exists`; `notFound` where `/proc`, through which it is named, is not there.
  package consuming func name(_ name: [UInt8], in folder: borrowing FileDescriptor) throws(Errno) {
    try file.synchronize()
    try SystemCalls.nameFile(file.descriptor, CPath(name), below: folder.descriptor)
    try FileSystem.synchronize(directory: folder)
  }
}
