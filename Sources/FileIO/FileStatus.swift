/// What a name in a file system stands for.
public enum FileKind: String, Equatable, Sendable {
  case regular = "regular file"
  case directory = "directory"
  case symbolicLink = "symbolic link"
  case fifo = "FIFO"
  case socket = "socket"
  case characterDevice = "character device"
  case blockDevice = "block device"
  case unknown = "file of an unknown kind"
}

/// What the file system says of a file. Two equal values of one open file mean that it did not change in between.
package struct FileStatus: Equatable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  package let kind: FileKind
  package let byteCount: Int64
  /// Nanoseconds since 1970; times that 64 bits can't hold wrap round, so that they still tell a change.
  package let modifiedNanoseconds: Int64
  /// As for `modifiedNanoseconds`; the one time that no program can set back.
  package let changedNanoseconds: Int64
  /// The lower 12 bits of the mode.
  package let permissions: UInt16
  package let owner: UInt32
  package let linkCount: UInt64

  package init(
    device: UInt64, inode: UInt64, kind: FileKind, byteCount: Int64, modifiedNanoseconds: Int64, changedNanoseconds: Int64,
    permissions: UInt16, owner: UInt32, linkCount: UInt64
  ) {
    self.device = device
    self.inode = inode
    self.kind = kind
    self.byteCount = byteCount
    self.modifiedNanoseconds = modifiedNanoseconds
    self.changedNanoseconds = changedNanoseconds
    self.permissions = permissions
    self.owner = owner
    self.linkCount = linkCount
  }

  /// Whether both describe one file, whatever its content.
  package func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}
