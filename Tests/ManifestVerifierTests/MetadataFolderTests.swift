import FileIO
import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import TestSupport
import Testing

@Suite struct `A folder of metadata is read as a mirror would be` {
  static func refresh(_ folder: TemporaryFolder, _ repository: FixtureRepository) throws -> TrustedManifest {
    var workflow = try ClientWorkflow(anchor: repository.anchor, stored: .init(), now: FixtureRepository.now)
    return try workflow.refresh(from: MetadataFolder(folder.path))
  }

  static func folder(_ repository: FixtureRepository) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for (name, bytes) in repository.files { try folder.write(bytes, to: name) }
    return folder
  }

  @Test(arguments: [true, false]) func `a published tree is refreshed from`(consistent: Bool) throws {
    var repository = FixtureRepository { $0.consistentSnapshot = consistent }
    repository.rotate { _ in }
    let folder = try Self.folder(repository)
    #expect(try Self.refresh(folder, repository).versions == [2, 1, 1, 1])
  }

  @Test func `a root that can't be read is an error and not the end of the chain`() throws {
    let repository = FixtureRepository()
    let folder = try Self.folder(repository)
    FaultInjection.withHook(below: folder.path) {
      $0.path.hasSuffix("2.root.json") ? .fail(.inputOutput) : .proceed
    } _: {
      let path = folder("2.root.json")
      #expect(throws: VerificationError.file(.system(.read, path: path, .inputOutput))) { try Self.refresh(folder, repository) }
    }
  }

  @Test func `a file that is too long is not read to its end`() throws {
    let repository = FixtureRepository()
    let folder = try Self.folder(repository)
    try folder.write([UInt8](repeating: 0, count: 16_385), to: "timestamp.json")
    #expect(throws: VerificationError.tooLarge(role: "timestamp", byteLimit: 16_384)) { try Self.refresh(folder, repository) }
  }

  @Test func `a folder that is empty lacks the timestamp`() throws {
    let folder = try TemporaryFolder()
    #expect(throws: VerificationError.unavailable(role: "timestamp", urlPath: "timestamp.json")) {
      try Self.refresh(folder, FixtureRepository())
    }
  }
}
