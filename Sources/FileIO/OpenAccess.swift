#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How a file is opened. Whatever the way, it is closed on exec, never waits for the other end of a FIFO and never becomes the terminal.
package enum OpenAccess: Equatable, Sendable {
  case read
  /// Refuses a symbolic link as the last component.
  case readNoFollow
  case directory
  case directoryNoFollow
  /// A new file for writing; refuses whatever already has the name. The process's umask applies.
  case createExclusive(permissions: UInt16)
  case readWrite
  /// Made where it is missing; refuses a symbolic link as the last component.
  case readWriteCreating(permissions: UInt16)

  var flags: CInt {
    let always = O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    return switch self {
    case .read: always | O_RDONLY
    case .readNoFollow: always | O_RDONLY | O_NOFOLLOW
    case .directory: always | O_RDONLY | O_DIRECTORY
    case .directoryNoFollow: always | O_RDONLY | O_DIRECTORY | O_NOFOLLOW
    case .createExclusive: always | O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    case .readWrite: always | O_RDWR
    case .readWriteCreating: always | O_RDWR | O_CREAT | O_NOFOLLOW
    }
  }

  var permissions: UInt16 {
    switch self {
    case .createExclusive(let permissions), .readWriteCreating(let permissions): permissions
    case .read, .readNoFollow, .directory, .directoryNoFollow, .readWrite: 0
    }
  }

  /// A new file without a name in the folder that is opened (`O_TMPFILE`, which the C library hides); nil where there is no such thing.
  static var unnamedFlags: CInt? {
    #if canImport(Darwin)
      return nil
    #else
      return O_CLOEXEC | O_RDWR | O_DIRECTORY | 0o20_000_000
    #endif
  }

  static let noFollowFlag = O_NOFOLLOW
}
