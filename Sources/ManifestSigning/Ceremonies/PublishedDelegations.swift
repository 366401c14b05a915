internal import FileIO
public import ManifestVerifier
public import TUFMetadata

/// The delegated roles as they are published, each verified through its delegator as a device would.
public struct PublishedDelegations: Sendable {
  /// The metadata of each role that can be reached.
  let files: [ByteString: MetadataEnvelope]
  /// Why a role that is delegated to can't be used.
  public let refusals: [DelegationWalk.Refusal]

  /// - Parameter now: the time that expiries are held against; nil where what has expired is read all the same.
  /// - Throws: `file` or `published`.
  public init(_ state: PublishedState, _ layout: RepositoryLayout, at now: UTCTime? = nil) throws(SigningError) {
    guard let manifest = state.manifest else {
      (files, refusals) = ([:], [])
      return
    }
    var files: [ByteString: MetadataEnvelope] = [:]
    do throws(VerificationError) {
      var walk = try DelegationWalk(over: manifest, now: now ?? .earliest)
      let folder = MetadataFolder(layout.metadata)
      while let request = walk.request {
        do throws(VerificationError) {
          guard let bytes = try folder.read(request) else { throw .unavailable(role: request.role.name, urlPath: request.urlPath) }
          _ = try walk.supply(bytes)
          files[request.role.name] = try? MetadataEnvelope(parsing: bytes)
        } catch { try walk.skip(for: error) }
      }
      refusals = walk.refusals
    } catch { throw .published(error) }
    self.files = files
  }
}
