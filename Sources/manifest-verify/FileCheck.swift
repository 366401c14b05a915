internal import CommandLineSupport
internal import Digests
internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata

/// Holds the files below one folder against the manifest. No symbolic link below the folder is followed: a link could lead to a file that
/// somebody else changes after the check.
struct FileCheck: ~Copyable {
  /// A file that is too short is hashed for the report up to this many bytes.
  private static let shortFileLimit: Int64 = 64 << 20

  private let basePath: String
  private let base: FileDescriptor
  private var verifier: FileVerifier
  private let method: FileVerifier.Method
  /// The files whose `.verity` can't be used, and why.
  private(set) var unusableSegments: [(path: TargetPath, reason: String)] = []
  /// The folder of the last file: files come in the order of their paths, so that each folder is opened once.
  private var folder: FileDescriptor
  private var folderPath: [UInt8] = []

  /// - Throws: `FileError` where the folder can't be opened.
  init(below path: String, method: FileVerifier.Method, jobs: Int? = nil) throws(FileError) {
    let base = try Self.openFolder(path)
    self.init(path, base, folder: try Self.openFolder(path), method, jobs)
  }

  private init(
    _ path: String, _ base: consuming FileDescriptor, folder: consuming FileDescriptor, _ method: FileVerifier.Method, _ jobs: Int?
  ) {
    basePath = path
    self.base = base
    self.folder = folder
    self.method = method
    verifier = FileVerifier(method: method, jobs: jobs)
  }

  private static func openFolder(_ path: String) throws(FileError) -> FileDescriptor {
    try FileError.describing(.open, path) { () throws(Errno) in try FileDescriptor(opening: path, .directory) }
  }

  /// Verifies one file.
  /// - Parameter progress: told the number of bytes of each piece that was hashed.
  mutating func check(_ path: TargetPath, _ file: TargetFile, progress: (Int) -> Void) throws(Interrupted) -> CheckedFile.Outcome {
    let outcome = try verify(path, file, progress)
    // What is too short has failed without being read; what is small is hashed, for the report.
    guard case .wrongLength(let found, nil) = outcome, found < file.byteCount, found <= Self.shortFileLimit else { return outcome }
    // Held against its own length, it differs in the digest alone.
    let shorter = TargetFile(byteCount: found, hashes: FileHashes(sha256: file.hashes.sha256), fsverity: nil)
    guard case .wrongDigest(_, let digest) = try verify(path, shorter, progress) else { return outcome }
    return .wrongLength(found: found, digest: digest)
  }

  private mutating func verify(
    _ path: TargetPath, _ file: TargetFile, _ progress: (Int) -> Void
  ) throws(Interrupted) -> CheckedFile.Outcome {
    let descriptor: FileDescriptor
    do { descriptor = try open(path) } catch { return outcome(of: error, path) }
    let segments = method == .tree ? segments(of: path, file) : nil
    do throws(VerificationError) {
      // The path only serves messages, which are made elsewhere.
      let verified = try verifier.verify(
        descriptor, path: "", against: file, segments: segments, isCancelled: { Interruption.isRequested }, progress: progress)
      _ = consume verified
      return .ok
    } catch {
      switch error {
      case .wrongLength(_, _, let found): return .wrongLength(found: found, digest: nil)
      case .wrongDigest(_, let expected, let found): return .wrongDigest(expected: expected, found: found)
      case .wrongSegment(_, let range, let expected, let found): return .wrongSegment(range, expected: expected, found: found)
      case .changedWhileRead: return .changed
      case .cancelled: throw Interrupted()
      case .file(.notRegular(_, let kind)): return .unreadable(reason: "a \(kind.rawValue)")
      case .file(.system(_, _, let errno)): return .unreadable(reason: errno.description)
      default: return .unreadable(reason: error.description)
      }
    }
  }

  // MARK: Segments

  /// What the `.verity` beside a file holds; nil where there is none, or none that can be used, which is noted.
  private mutating func segments(of path: TargetPath, _ file: TargetFile) -> SegmentDigests? {
    do {
      return try readSegments(of: path, file)
    } catch {
      unusableSegments.append((path, "\(error)"))
      return nil
    }
  }

  /// Whether a path is that of a usable `.verity`.
  /// - Parameter find: what the manifest says of a path.
  func isSegments(_ path: TargetPath, find: (TargetPath) -> TargetFile?) -> Bool {
    let suffix = Array(TargetFile.segmentsSuffix.utf8)
    guard path.name.bytes.suffix(suffix.count).elementsEqual(suffix),
      let owner = try? TargetPath(ByteString(Array(path.name.bytes.dropLast(suffix.count)))), let file = find(owner)
    else { return false }
    return ((try? readSegments(of: owner, file)) ?? nil) != nil
  }

  private func readSegments(of path: TargetPath, _ file: TargetFile) throws -> SegmentDigests? {
    guard let byteCount = file.segmentsByteCount else { return nil }
    let name = path.name.bytes + TargetFile.segmentsSuffix.utf8
    let descriptor: FileDescriptor
    do throws(Errno) { descriptor = try base.open(name, .readNoFollow) } catch {
      if error == .notFound || error == .notDirectory || error == .nameTooLong { return nil }
      throw error
    }
    return try file.segmentDigests(descriptor.contents(limit: byteCount, named: "\(basePath)/\(ByteString(name))"))
  }

  // MARK: Opening

  mutating func open(_ path: TargetPath) throws(Errno) -> FileDescriptor {
    let bytes = path.name.bytes
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return try base.open(bytes, .readNoFollow) }
    if !folderPath.elementsEqual(bytes[..<slash]) {
      let parent = Array(bytes[..<slash])
      folder = try base.open(parent, .directoryNoFollow)
      folderPath = parent
    }
    return try folder.open(Array(bytes[(slash + 1)...]), .readNoFollow)
  }

  private func outcome(of error: Errno, _ path: TargetPath) -> CheckedFile.Outcome {
    switch error {
    case .notFound: return .missing
    case .tooManySymbolicLinks, .notDirectory:
      if let link = symbolicLink(on: path) {
        return .unreadable(reason: "\(link) is a symbolic link; none is followed below the base folder")
      }
      return .missing
    case .noSuchDeviceOrAddress: return .unreadable(reason: "a socket")
    default: return .unreadable(reason: error.description)
    }
  }

  /// The first component of a path that is a symbolic link. For words only: it may have changed since.
  private func symbolicLink(on path: TargetPath) -> String? {
    var prefix = ""
    for segment in path.segments {
      prefix += (prefix.isEmpty ? "" : "/") + segment.description
      guard let status = try? FileSystem.status(of: "\(basePath)/\(prefix)", followingLinks: false) else { return nil }
      if status.kind == .symbolicLink { return prefix }
    }
    return nil
  }

  // MARK: What should not be there

  /// Names every file below the base folder that the manifest does not list, and every folder that can't be looked into.
  /// - Parameters:
  ///   - state: a folder that is left out, should it lie below the base folder.
  ///   - isKnown: whether a path is one that was dealt with already.
  func findExtraFiles(leavingOut state: String, isKnown: (TargetPath) -> Bool, report: (CheckedFile) -> Void) throws(Interrupted) {
    let state = try? FileSystem.status(of: state, followingLinks: true)
    try walk(base, [], state, isKnown, report)
  }

  private func walk(
    _ folder: borrowing FileDescriptor, _ prefix: [UInt8], _ state: FileStatus?, _ isKnown: (TargetPath) -> Bool,
    _ report: (CheckedFile) -> Void
  ) throws(Interrupted) {
    let names: [[UInt8]]
    do { names = try folder.names() } catch {
      return report(CheckedFile(path: ByteString(prefix.dropLast()), file: nil, outcome: .unreadable(reason: error.description)))
    }
    for name in names {
      try Interruption.check()
      let path = ByteString(prefix + name)
      if let target = try? TargetPath(path), isKnown(target) { continue }
      do throws(Errno) {
        let status = try folder.status(of: name)
        if status.kind == .directory {
          if let state, state.isSameFile(as: status) { continue }
          let child = try folder.open(name, .directoryNoFollow)
          do throws(Interrupted) { try walk(child, path.bytes + [UInt8(ascii: "/")], state, isKnown, report) } catch { throw .interrupted }
        } else {
          report(CheckedFile(path: path, file: nil, outcome: .extra(status.kind, byteCount: status.byteCount)))
        }
      } catch {
        try Interruption.check()
        // Removed since it was listed.
        if error == .notFound { continue }
        report(CheckedFile(path: path, file: nil, outcome: .unreadable(reason: error.description)))
      }
    }
  }
}
