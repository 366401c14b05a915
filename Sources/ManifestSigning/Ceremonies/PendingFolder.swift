internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata

/// `pending`: the files that wait for signatures, under the names that they will have without their versions, and `policy.json` where lifetimes
/// or holders are to change. It is shared, holds no secret, and never lies in what is served.
enum PendingFolder {
  static let policyName = "policy.json"
  /// Where the next state of the served folder is put together.
  static let nextMetadataName = "next-metadata"
  /// Where the files of a publication wait whose signatures are still to come.
  private static let suffix = ".json"

  static func read(
    _ layout: RepositoryLayout
  ) throws(SigningError) -> (files: [MetadataRole: MetadataEnvelope], policy: Policy?) {
    var files: [MetadataRole: MetadataEnvelope] = [:]
    var policy: Policy?
    for name in try names(layout) where name.hasSuffix(suffix) && !name.hasPrefix(".") {
      let path = "\(layout.pending)/\(name)"
      guard name != policyName else {
        policy = try Policy.read(path)
        continue
      }
      let bytes = try onDisk { () throws(FileError) in
        try readFile(path, limit: VerificationLimits().metadataByteCount, followingLinks: false)
      }
      do { files[role(named: String(name.dropLast(suffix.count)))] = try MetadataEnvelope(parsing: bytes) } catch {
        throw .metadata(path: path, error)
      }
    }
    return (files, policy)
  }

  /// Whether nothing waits.
  static func isEmpty(_ layout: RepositoryLayout) throws(SigningError) -> Bool { try !names(layout).contains { $0.hasSuffix(suffix) } }

  /// The role that a file's name stands for: percent-encoded, as everywhere (TUF 1.0.34 §4.5).
  private static func role(named name: String) -> MetadataRole {
    if let role = TopLevelRole(rawValue: name) { return .topLevel(role) }
    var bytes: [UInt8] = []
    var rest = Array(name.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return .delegated(ByteString(bytes))
  }

  /// Writes what waits, and takes away what does no longer.
  static func write(_ ceremony: Ceremony, _ layout: RepositoryLayout) throws(SigningError) {
    var kept: Set<String> = []
    // What a killed process has left; where there is no folder yet, nothing has.
    _ = try? TemporaryFile.removeLeftovers(inDirectory: layout.pending)
    for (role, file) in ceremony.pending {
      kept.insert(role.fileName)
      try write(file.bytes, to: role.fileName, layout)
    }
    if let policy = ceremony.proposedPolicy {
      kept.insert(policyName)
      try write(policy.bytes, to: policyName, layout)
    }
    _ = try clear(layout, keeping: kept)
  }

  /// Takes away what waits.
  /// - Returns: the names of the files.
  static func clear(_ layout: RepositoryLayout, keeping kept: Set<String> = []) throws(SigningError) -> [String] {
    let dropped = try names(layout).filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") && !kept.contains($0) }
    for name in dropped {
      let path = "\(layout.pending)/\(name)"
      try onDisk { () throws(FileError) in
        try FileError.describing(.remove, path) { () throws(Errno) in try FileSystem.remove(path) }
      }
    }
    return dropped
  }

  private static func write(_ bytes: [UInt8], to name: String, _ layout: RepositoryLayout) throws(SigningError) {
    let path = "\(layout.pending)/\(name)"
    try onDisk { () throws(FileError) in
      try FileSystem.createDirectories(layout.pending, permissions: 0o755)
      do throws(FileError) {
        guard try readFile(path, limit: bytes.count, followingLinks: false) != bytes else { return }
      } catch {}  // Missing, longer, or no file: it is replaced.
      try replaceFile(at: path, with: bytes)
    }
  }

  private static func names(_ layout: RepositoryLayout) throws(SigningError) -> [String] {
    do throws(Errno) {
      return try FileSystem.names(inDirectory: layout.pending).map { String(decoding: $0, as: UTF8.self) }
    } catch {
      guard error == .notFound else { throw .file(.system(.list, path: layout.pending, error)) }
      return []
    }
  }
}
