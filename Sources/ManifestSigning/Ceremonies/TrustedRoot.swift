internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata

/// The root that a signer trusts: what proposals are held against, rather than against what their proposer handed over.
public struct TrustedRoot: Sendable {
  let file: MetadataEnvelope
  let bytes: [UInt8]

  /// Reads the root of whoever signs.
  /// - Parameter path: nil for the copy beside the secret keys, which `init` and each publication keep up to date.
  /// - Throws: `ceremony(.noTrustedRoot)`, `file`, or what is wrong with the root.
  public init(_ layout: RepositoryLayout, path: String? = nil) throws(SigningError) {
    let place = path ?? layout.trustedRoot
    do throws(FileError) { bytes = try readFile(place, limit: VerificationLimits().rootByteCount) } catch {
      guard path == nil, error.errno == .notFound || error.errno == .notDirectory else { throw .file(error) }
      throw .ceremony(.noTrustedRoot(path: place))
    }
    do throws(VerificationError) { _ = try Trusted<Root>(selfSigned: bytes) } catch { throw .published(error) }
    do { file = try MetadataEnvelope(parsing: bytes) } catch { throw .metadata(path: place, error) }
  }

  /// Holds what is published against this root: it stands in the chain, whose every link was verified when the state was read.
  public func require(_ state: PublishedState) throws(SigningError) {
    let newest = state.root.payload.version
    guard file.version <= newest, let index = Int(exactly: file.version.number - 1), index < state.roots.count else {
      throw .ceremony(.olderThanTrusted(trusted: file.version, published: newest))
    }
    // Signatures may have been added since; what they are over may not differ.
    guard let published = try? MetadataEnvelope(parsing: state.roots[index]), published.message == file.message else {
      throw .ceremony(.otherThanTrusted(file.version))
    }
  }

  /// Holds what is published against the copy beside the secret keys, where there is one: a folder that was exchanged for another repository's, or
  /// put back from an old backup, is not signed for.
  static func requireKept(_ state: PublishedState, _ layout: RepositoryLayout) throws(SigningError) {
    do throws(SigningError) { try TrustedRoot(layout).require(state) } catch {
      guard case .ceremony(.noTrustedRoot) = error else { throw error }
    }
  }

  /// Keeps the newest root beside the secret keys where it follows from the one that is there.
  static func keep(_ newest: [UInt8], after state: PublishedState, _ layout: RepositoryLayout) {
    guard (try? requireKept(state, layout)) != nil else { return }
    keep(newest, layout)
  }

  /// Keeps a root beside the secret keys, where there is a folder of them that can be written: an older copy does as well, for the chain of
  /// roots is walked from it.
  static func keep(_ bytes: [UInt8], _ layout: RepositoryLayout) {
    if let known = try? readFile(layout.trustedRoot, limit: VerificationLimits().rootByteCount), known == bytes { return }
    // Keys that lie elsewhere, or in a token: whoever signs names the root.
    guard (try? FileSystem.status(of: layout.secrets, followingLinks: true).kind) == .directory else { return }
    try? replaceFile(at: layout.trustedRoot, with: bytes, permissions: 0o600)
  }
}
