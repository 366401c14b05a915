package import FileIO
internal import TUFMetadata

/// A folder of published metadata, read with plain file calls.
package struct MetadataFolder: Sendable {
  package let path: String

  package init(_ path: String) { self.path = path }

  /// The file that a refresh asks for; nil where there is none. Every other failure is an error and not the end of a chain.
  package func read(_ request: MetadataRequest) throws(VerificationError) -> [UInt8]? {
    do { return try readFile("\(path)/\(request.urlPath)", limit: request.byteLimit) } catch {
      if case .tooLarge = error { throw .tooLarge(role: request.role.name, byteLimit: request.byteLimit) }
      guard error.errno == .notFound else { throw .file(error) }
      return nil
    }
  }
}

extension ClientWorkflow {
  /// Refreshes from a folder.
  /// - Parameter keep: stores each change durably before it returns.
  /// - Returns: what is trusted now.
  package mutating func refresh<Failure: Error>(
    from folder: MetadataFolder, keep: (TrustChange) throws(Failure) -> Void
  ) throws -> TrustedManifest {
    while let request {
      let changes = try folder.read(request).map { bytes throws(VerificationError) in try supply(bytes) } ?? supplyNotAvailable()
      for change in changes { try keep(change) }
    }
    guard let manifest else { throw VerificationError.unavailable(role: "timestamp", urlPath: "timestamp.json") }
    return manifest
  }
}
