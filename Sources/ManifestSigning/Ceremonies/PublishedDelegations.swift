internal import FileIO
public import ManifestVerifier
internal import TUFMetadata

/// The delegated roles as they are published, each verified through its delegator as a device would. What has expired is read all the same.
public struct PublishedDelegations: Sendable {
  /// The metadata of each role that can be reached.
  let files: [ByteString: MetadataEnvelope]
  /// Why a role that is delegated to can't be used.
  public let refusals: [DelegationWalk.Refusal]
  /// The newest version of each metadata file that has ever lain in the folder, by the file's name without its version.
  private let lastVersions: [String: Version]
  private let listed: [ByteString: MetadataFile]

  /// - Throws: `file` or `published`.
  public init(_ state: PublishedState, _ layout: RepositoryLayout) throws(SigningError) {
    guard let manifest = state.manifest else {
      (files, refusals, lastVersions, listed) = ([:], [], [:], [:])
      return
    }
    var files: [ByteString: MetadataEnvelope] = [:]
    // No expiry is refused at the earliest of all times.
    let earliest = UTCTime(secondsSince1970: 0)?.adding(days: .min) ?? manifest.root.payload.expires
    do throws(VerificationError) {
      var walk = try DelegationWalk(over: manifest, now: earliest)
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
    listed = manifest.snapshot.payload.files
    lastVersions = try onDisk { () throws(FileError) in try Self.newestVersions(layout.metadata) }
  }

  /// The version that a role's next metadata gets: none is given twice, nor one below what a snapshot has listed.
  func nextVersion(of name: ByteString) throws(SigningError) -> Version {
    let role = MetadataRole.delegated(name)
    let last = [lastVersions[role.fileName], listed[role.snapshotName]?.version].compactMap(\.self).max()
    guard let next = last.map(\.next) ?? .first else { throw .noVersionLeft(role: .targets) }
    return next
  }

  private static func newestVersions(_ folder: String) throws(FileError) -> [String: Version] {
    let names = try FileError.describing(.list, folder) { () throws(Errno) in try FileSystem.names(inDirectory: folder) }
    var newest: [String: Version] = [:]
    for name in names {
      let text = String(decoding: name, as: UTF8.self)
      guard let dot = text.firstIndex(of: "."), let version = Int64(text[..<dot]).flatMap(Version.init) else { continue }
      let rest = String(text[text.index(after: dot)...])
      newest[rest] = max(newest[rest] ?? version, version)
    }
    return newest
  }
}
