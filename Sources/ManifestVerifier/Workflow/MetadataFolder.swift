internal import FileIO
internal import TUFMetadata

/// A folder of published metadata, read with plain file calls.
package struct MetadataFolder: Sendable {
  package let path: String

  package init(_ path: String) { self.path = path }

  /// The file that a refresh asks for; nil where there is none, or can be none: a folder can't hold every name that a role may have. Every
  /// other failure is an error and not the end of a chain.
  package func read(_ request: MetadataRequest) throws(VerificationError) -> [UInt8]? {
    do { return try readFile("\(path)/\(request.urlPath)", limit: request.byteLimit) } catch {
      if case .tooLarge = error { throw .tooLarge(role: request.role.name, byteLimit: request.byteLimit) }
      guard let errno = error.errno, [.notFound, .nameTooLong, .illegalByteSequence].contains(errno) else { throw .file(error) }
      return nil
    }
  }
}

extension ClientWorkflow {
  /// Refreshes from a folder, keeping nothing.
  /// - Returns: what is trusted now.
  package mutating func refresh(from folder: MetadataFolder) throws(VerificationError) -> TrustedManifest {
    while try step(from: folder) != nil {}
    guard let manifest else { throw .neverRefreshed(role: "timestamp") }
    return manifest
  }

  /// Answers one request from a folder.
  /// - Returns: what to keep, in this order, before the next step; nil once nothing more is needed.
  package mutating func step(from folder: MetadataFolder) throws(VerificationError) -> [TrustChange]? {
    guard let request else { return nil }
    guard let bytes = try folder.read(request) else { return try supplyNotAvailable() }
    return try supply(bytes)
  }
}
