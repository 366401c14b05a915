internal import FileIO

/// An installed file that is not what is signed, and of which some parts may be good all the same. What is, their hashes tell.
final class FormerFile: Sendable {
  let file: FileDescriptor

  init(_ file: consuming FileDescriptor) { self.file = file }
}
