internal import FileIO
internal import ManifestVerifier
internal import ModelCatalog
public import TUFMetadata

/// What a machine does that hashes its part of the catalog: `manifest-sign hash`.
public struct FragmentHashing {
  /// One of several parts of a folder that several machines see.
  public struct Part: Equatable, Sendable {
    let number: Int
    let count: Int

    /// - Returns: nil unless `number` is one of `0..<count`.
    public init?(number: Int, of count: Int) {
      guard count >= 1, (0..<count).contains(number) else { return nil }
      self.number = number
      self.count = count
    }

    func contains(_ path: TargetPath) -> Bool {
      // Any spread does; this one depends on nothing but the path.
      var hash: UInt64 = 14_695_981_039_346_656_037
      for byte in path.name.bytes { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
      return (hash >> 16) % UInt64(count) == UInt64(number)
    }
  }

  /// What was hashed.
  public struct Report: Sendable {
    public let fileCount: Int
    public let byteCount: Int64
    public let expires: UTCTime
    public let keyID: KeyID
  }

  /// Days that a fragment can be valid.
  public static let lifetimeBounds = 1...365

  /// Refuses a key that everybody has, and one that the roots beside its folder have left behind. Whoever publishes knows of more.
  private static func requireFresh(_ id: KeyID, path: String) throws(SigningError) {
    guard !ExampleKeys.contains(id) else { throw .exampleKey(id: id.description) }
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    try RetiredKeys(readingRootsOf: RepositoryLayout(folder + "/..")).refuse(id)
  }

  /// Hashes a folder, or a part of it, and writes the signed fragment.
  /// - Parameters:
  ///   - folder: `<org>/<name>/<version>/files…`.
  ///   - output: the file to make or replace.
  ///   - key: the path of the machine's secret key.
  ///   - days: how long the fragment can be merged.
  ///   - jobs: the most threads that hash; nil for as many as there are cores.
  public static func run(
    _ folder: String, part: Part?, to output: String, key: String, passphrases: PassphraseSource, now: UTCTime, days: Int,
    jobs: Int? = nil, observer: some PublishingObserver
  ) throws(SigningError) -> Report {
    // Opened before gigabytes are read.
    let file = try SecretKeyFile.read(path: key)
    if !file.isEncrypted { observer.notice(.unencrypted(name: file.name, path: key)) }
    try requireFresh(Key(file.publicKey).id, path: key)
    let signer = SecretKeySigner(try passphrases.open(file))
    let scan = try CatalogScanner.scan(
      folder, SecretSearch(knowing: [signer.publicKey], collectingOthers: true), known: DigestCache(),
      isElsewhere: { part?.contains($0) == false }, jobs: jobs)
    let files = scan.files.filter { part?.contains($0.path) ?? true }
    observer.willHash(fileCount: files.count, byteCount: files.reduce(0) { $0 + $1.status.byteCount })
    var hashed: [HashedFile] = []
    try CatalogHasher(folder: folder, jobs: jobs).hash(files, observer) { hashed.append($1) }
    var descriptions: [TargetPath: [UInt8]] = [:]
    for model in scan.models {
      let path = try model.descriptionPath()
      guard let text = model.description, part?.contains(path) ?? true else { continue }
      // What is no description would be refused only when the fragments are merged.
      do { _ = try ModelDescription(parsing: text, of: model.name) } catch { throw .description(path: path, error) }
      descriptions[path] = text
    }
    let expires = now.adding(days: days)
    let bytes = try Fragment.bytes(hashed, descriptions, expires: expires, by: signer)
    try onDisk { () throws(FileError) in try replaceFile(at: output, with: bytes) }
    return Report(
      fileCount: hashed.count, byteCount: hashed.reduce(0) { $0 + $1.target.byteCount }, expires: expires, keyID: Key(signer.publicKey).id)
  }
}
