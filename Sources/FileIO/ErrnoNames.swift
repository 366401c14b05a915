#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The error numbers that callers tell apart, so that they need not import the C library.
extension Errno {
  package static let notFound = Errno(ENOENT)
  package static let exists = Errno(EEXIST)
  package static let notPermitted = Errno(EPERM)
  package static let accessDenied = Errno(EACCES)
  package static let readOnlyFileSystem = Errno(EROFS)
  package static let nameTooLong = Errno(ENAMETOOLONG)
  package static let illegalByteSequence = Errno(EILSEQ)
  package static let noSpace = Errno(ENOSPC)
  package static let quotaExceeded = Errno(EDQUOT)
  package static let inputOutput = Errno(EIO)
  package static let interrupted = Errno(EINTR)
  package static let invalidArgument = Errno(EINVAL)
  package static let isDirectory = Errno(EISDIR)
  package static let notDirectory = Errno(ENOTDIR)
  package static let directoryNotEmpty = Errno(ENOTEMPTY)
  package static let tooManySymbolicLinks = Errno(ELOOP)
  package static let crossesFileSystems = Errno(EXDEV)
  package static let wouldBlock = Errno(EWOULDBLOCK)
  package static let noLocks = Errno(ENOLCK)
  package static let notSupported = Errno(EOPNOTSUPP)
  package static let notImplemented = Errno(ENOSYS)
  package static let noSuchDeviceOrAddress = Errno(ENXIO)
  package static let tooManyOpenFiles = Errno(EMFILE)

  /// Whether it is what a file system says that has no locks; systems and file systems differ in how they say so.
  package var meansNoLocks: Bool {
    [.notSupported, Errno(ENOTSUP), .noLocks, .notImplemented, .invalidArgument].contains(self)
  }
}
