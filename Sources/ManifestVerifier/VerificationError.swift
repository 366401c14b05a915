public import Digests
public import FileIO
public import TUFMetadata

/// Why metadata or a file is not trusted.
///
/// Role names, paths and other texts come from untrusted input; whoever prints them escapes them.
public enum VerificationError: Error, Equatable, Sendable {
  /// Metadata is not well formed.
  case malformed(role: ByteString, MetadataError)
  /// Metadata is longer than what may be taken for this role.
  case tooLarge(role: ByteString, byteLimit: Int)
  /// Metadata does not have the length that was signed for it.
  case wrongMetadataLength(role: ByteString, expected: Int64, actual: Int64)
  /// Metadata does not have a digest that was signed for it.
  case wrongMetadataDigest(role: ByteString, expected: String, actual: String)
  /// Too few distinct keys of the role have made a valid signature.
  case thresholdNotMet(role: ByteString, signed: Int, threshold: Int, keyCount: Int, delegator: ByteString)
  /// Metadata has another version than the one that was asked for or signed for.
  case wrongVersion(role: ByteString, expected: Version, actual: Version)
  /// Metadata is older than what was trusted before.
  case rolledBack(role: ByteString, trusted: Version, offered: Version)
  /// A file that the trusted snapshot listed is not in the new one.
  case removedFromSnapshot(name: ByteString)
  /// Metadata has expired.
  case expired(role: ByteString, since: UTCTime, now: UTCTime)
  /// The clock says an earlier time than that of the newest refresh that succeeded.
  case clockSetBack(newest: UTCTime, now: UTCTime)
  /// Metadata that has to be there is not.
  case unavailable(role: ByteString, urlPath: String)
  /// A mirror says that there is no newer root, and another one, which may have it, failed.
  case undecidedRoot(urlPath: String)
  /// The first root names a key of the worked example, whose secret halves are published.
  case exampleKey(id: String)
  /// There are more new root versions than one refresh follows.
  case tooManyRoots(limit: Int)
  /// A role is delegated to, and the snapshot does not list its metadata.
  case notInSnapshot(role: ByteString)
  /// A search would visit more delegated roles than are allowed.
  case tooManyDelegations(limit: Int)
  /// What is kept on the device is not what was trusted once: damaged, or changed by somebody else.
  indirect case damagedState(role: ByteString, VerificationError)
  /// A file of the state kept on the device is gone, or can't be what was kept; the reason names it.
  case unusableState(reason: String)
  /// Something that was trusted once is no longer kept on the device.
  case missingFromState(name: ByteString)
  /// A root that was trusted is kept, and the roots that lead to it from where trust begins are not: it was the first of another refresh.
  case gapInRoots(missing: Version, kept: Version)
  /// The trusted snapshot lists metadata of a delegated role, and none is kept on the device.
  case notKept(role: ByteString)
  /// None is kept because the newest refresh could not trust what it got, if it got any.
  case refusedAtRefresh(role: ByteString, kind: RefusalKind, reason: String)
  /// Nothing has been verified yet: the first refresh is still to come.
  case neverRefreshed(role: ByteString)
  /// The manifest lists no file under this path.
  case notListed(path: TargetPath)
  /// A file has another length than the signed one. `actual` is what was found, at least.
  case wrongLength(path: String, expected: Int64, actual: Int64)
  /// A file has the signed length and another digest. Both are written as the algorithm, a colon and hexadecimal digits.
  case wrongDigest(path: String, expected: String, actual: String)
  /// A segment of a file has another digest. The offsets are of its first byte and of the one behind its last.
  case wrongSegment(path: String, range: Range<Int64>, expected: String, actual: String)
  /// A `.verity`, which is to tell the digest of each segment of a file, is not of that file.
  case wrongSegments(path: String, DigestError)
  /// A file changed while it was being read.
  case changedWhileRead(path: String)
  /// A file can't be read, or is no regular file.
  case file(FileError)
  /// The caller asked to stop.
  case cancelled
}

extension VerificationError {
  /// What kind of fault refused metadata.
  public enum RefusalKind: String, CaseIterable, Sendable {
    case untrusted, outdated, unavailable, malformed
  }

  /// The signatures that a threshold wants, in words.
  package static func wanted(_ threshold: Int, _ keyCount: Int, _ delegator: ByteString) -> String {
    threshold > keyCount
      ? "valid signatures of \(threshold) keys, more than the \(keyCount) that \(delegator) lists"
      : "valid signatures of \(threshold) of the \(keyCount) keys that \(delegator) lists"
  }

  package static func bytes(_ count: Int64) -> String { count == 1 ? "1 byte" : "\(count) bytes" }

  /// The kind of fault that it is where it refuses a role.
  package var refusalKind: RefusalKind {
    switch self {
    case .refusedAtRefresh(_, let kind, _): kind
    case .rolledBack, .removedFromSnapshot, .expired, .clockSetBack: .outdated
    case .unavailable, .undecidedRoot: .unavailable
    case .malformed, .tooLarge, .tooManyDelegations, .damagedState, .missingFromState, .unusableState, .gapInRoots, .notKept: .malformed
    default: .untrusted
    }
  }
}

extension VerificationError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed(let role, let error): "\(role) metadata is malformed: \(error)"
    case .tooLarge(let role, let limit): "\(role) metadata is longer than the \(limit) bytes allowed for it"
    case .wrongMetadataLength(let role, let expected, let actual):
      "\(role) metadata has the wrong length: expected \(Self.bytes(expected)), found \(actual)"
    case .wrongMetadataDigest(let role, let expected, let actual):
      "\(role) metadata has the wrong digest: expected \(expected), found \(actual)"
    case .thresholdNotMet(let role, let signed, let threshold, let keyCount, let delegator):
      "\(role) metadata is not trusted: expected \(Self.wanted(threshold, keyCount, delegator)), found \(signed)"
    case .wrongVersion(let role, let expected, let actual): "\(role) metadata has the wrong version: expected \(expected), found \(actual)"
    case .rolledBack(let role, let trusted, let offered):
      "\(role) metadata was rolled back: expected version \(trusted) or newer, found version \(offered)"
    case .removedFromSnapshot(let name): "\(name) is missing from the new snapshot: expected every file of the trusted one"
    case .expired(let role, let since, let now): "\(role) metadata has expired: it was valid until \(since), and it is \(now)"
    case .clockSetBack(let newest, let now):
      "the clock was set back: expected \(newest) or later, the time of the newest refresh that succeeded, found \(now)"
    case .unavailable(let role, let path): "\(role) metadata is not available: expected it at \(path)"
    case .undecidedRoot(let path):
      "whether there is a newer root can't be told: a mirror has no \(path), and another one, which may have it, failed"
    case .exampleKey(let id): "the key \(id) is one of the worked example's, whose secret halves are published: it protects nothing"
    case .tooManyRoots(let limit): "more than \(limit) new root versions: expected the chain to end within one refresh"
    case .notInSnapshot(let role): "the snapshot does not list the metadata of the delegated role \(role)"
    case .tooManyDelegations(let limit): "more than \(limit) delegated roles on the way to one target"
    case .damagedState(let role, let error): "the trusted state kept on this device is damaged (\(role)): \(error)"
    case .unusableState(let reason): reason
    case .missingFromState(let name): "\(name), which was trusted, is missing from the state kept on this device"
    case .gapInRoots(let missing, let kept):
      "root version \(missing) is not kept on this device, and version \(kept) was trusted: expected the roots in between"
    case .notKept(let role):
      "the metadata of the delegated role \(role) is not kept on this device: expected what the trusted snapshot lists"
    case .refusedAtRefresh(let role, _, let reason):
      "no metadata of the delegated role \(role) is kept on this device, for the newest refresh could not trust it: \(reason)"
    case .neverRefreshed(let role): "no \(role) metadata is trusted yet: expected at least one successful refresh"
    case .notListed(let path): "\(path) is not listed in the trusted manifest"
    case .wrongLength(let path, let expected, let actual):
      "\(path) has the wrong length: expected \(Self.bytes(expected)), found \(actual)\(actual > expected ? " or more" : "")"
    case .wrongDigest(let path, let expected, let actual): "\(path) has the wrong digest: expected \(expected), found \(actual)"
    case .wrongSegment(let path, let range, let expected, let actual):
      "\(path) has the wrong digest in bytes \(range.lowerBound) to \(range.upperBound - 1): expected \(expected), found \(actual)"
    case .wrongSegments(let path, let error): "\(path) is not of the signed file: \(error)"
    case .changedWhileRead(let path): "\(path) changed while it was being read"
    case .file(let error): error.description
    case .cancelled: "cancelled"
    }
  }
}
