internal import FileIO
package import ManifestSigning
internal import ManifestVerifier
package import TUFMetadata

/// What a drill is played on: the published metadata byte for byte, read once and never written to. No secret key is looked for.
///
/// It is read as it lies there, whole or not: what is wrong with it is for the devices to say.
package struct DrillMaterial: Sendable {
  /// A published root file, well formed or not.
  package struct RootFile: Sendable {
    package let version: Version
    package let bytes: [UInt8]
  }

  /// What devices are served, by URL path: all roots, and the newest of everything else.
  package private(set) var files: [String: [UInt8]] = [:]
  /// The names in the folder of the metadata.
  let names: [String]
  /// The root files in the order of the versions that their names give; there may be gaps.
  package let roots: [RootFile]
  /// The roots from the first one on, as far as each follows the one before.
  let chain: [Trusted<Root>]
  package let timestamp: Timestamp?
  let snapshot: Snapshot?
  let targets: Targets?
  /// The list of models; nil where there is none, or where only metadata lies here.
  let catalog: [UInt8]?
  /// The delegated roles that can be reached and whose files are there and well formed, by name. A snapshot goes on listing those too that nobody
  /// delegates to any more.
  let delegated: [ByteString: Targets]
  /// Older snapshots, some of them over the whole time; the newest first.
  let olderSnapshots: [[UInt8]]
  /// Days from signing to expiry.
  let lifetimes: [TopLevelRole: Int]
  /// What people call the keys.
  package let keyNames: [KeyID: String]
  /// Whether the names of the files carry versions.
  private let isVersioned: Bool

  /// Reads a repository.
  /// - Throws: `noRepository` where there is no first root, or why something can't be read.
  package init(_ layout: RepositoryLayout) throws(SigningError) {
    names = try Self.names(in: layout.metadata, of: layout)
    guard names.contains("1.root.json") else { throw .noRepository(path: layout.folder) }
    var files: [String: [UInt8]] = [:]
    var roots: [RootFile] = []
    for version in Self.versions(of: "root.json", in: names) {
      let path = "\(version).root.json"
      let bytes = try Self.read(layout.metadata + "/" + path)
      files[path] = bytes
      roots.append(RootFile(version: version, bytes: bytes))
    }
    self.roots = roots
    chain = Self.chain(roots)
    let isVersioned = chain.last?.payload.consistentSnapshot ?? true
    self.isVersioned = isVersioned

    let present = Set(names)
    func take<Payload: ReadableRolePayload>(
      _: Payload.Type, _ role: MetadataRole, _ version: Version?
    ) throws(SigningError) -> Payload? {
      let path = Self.path(of: role, isVersioned ? version : nil)
      guard present.contains(path) else { return nil }
      let bytes = try Self.read(layout.metadata + "/" + path)
      files[path] = bytes
      return try? UnverifiedMetadata<Payload>(parsing: bytes).payload
    }
    timestamp = try take(Timestamp.self, .timestamp, nil)
    snapshot = try take(Snapshot.self, .snapshot, timestamp?.snapshot.version)
    targets = try take(Targets.self, .targets, snapshot?.targets.version)
    var delegated: [ByteString: Targets] = [:]
    for (name, file) in snapshot?.files ?? [:] where name != .targetsFile && name.bytes.count > 5 {
      let role = ByteString(Array(name.bytes.dropLast(5)))
      delegated[role] = try take(Targets.self, .delegated(role), file.version)
    }
    catalog = targets.flatMap { Catalog.published($0, layout) }
    self.delegated = Self.reachable(from: targets, in: delegated)
    self.files = files
    olderSnapshots = try Self.olderSnapshots(layout, names, before: timestamp?.snapshot.version)
    lifetimes = Policy.standardLifetimes.merging(try Self.policy(layout)?.lifetimes ?? [:]) { $1 }
    keyNames = try Self.keyNames(layout)
  }

  /// The mirror that serves it all.
  package var mirror: SimulatedMirror { SimulatedMirror(files) }

  /// Whether anything was published beside roots.
  package var isPublished: Bool { names.contains(TopLevelRole.timestamp.fileName) }

  /// What a person calls a key.
  func name(of id: KeyID) -> String { keyNames[id] ?? "\(id.description.prefix(12))…" }

  /// The newest file of a role that devices are served.
  func served(_ role: MetadataRole, _ version: Version?) -> [UInt8]? { files[Self.path(of: role, isVersioned ? version : nil)] }

  private static func path(of role: MetadataRole, _ version: Version?) -> String {
    version.map { "\($0).\(role.fileName)" } ?? role.fileName
  }

  /// The newest version of a file that lies in the folder, whoever names it.
  func newestVersion(of fileName: String) -> Version? { Self.versions(of: fileName, in: names).last }

  private static func reachable(from targets: Targets?, in delegated: [ByteString: Targets]) -> [ByteString: Targets] {
    var reached: [ByteString: Targets] = [:]
    var waiting = [targets].compactMap(\.self)
    while let delegator = waiting.popLast() {
      for role in delegator.delegations?.roles ?? [] where reached[role.name] == nil {
        guard let listed = delegated[role.name] else { continue }
        reached[role.name] = listed
        waiting.append(listed)
      }
    }
    return reached
  }

  // MARK: Reading

  private static func names(in folder: String, of layout: RepositoryLayout) throws(SigningError) -> [String] {
    do throws(Errno) {
      return try FileSystem.names(inDirectory: folder).map { String(decoding: $0, as: UTF8.self) }
    } catch {
      guard error == .notFound || error == .notDirectory else { throw .file(.system(.list, path: folder, error)) }
      throw .noRepository(path: layout.folder)
    }
  }

  private static func read(_ path: String) throws(SigningError) -> [UInt8] {
    do { return try readFile(path, limit: VerificationLimits().metadataByteCount) } catch { throw .file(error) }
  }

  /// The versions of a file that stand before its name, in their order.
  private static func versions(of fileName: String, in names: [String]) -> [Version] {
    let suffix = "." + fileName
    return names.filter { $0.hasSuffix(suffix) }.compactMap { name in
      let number = name.dropLast(suffix.count)
      return number.first == "0" ? nil : Int64(number).flatMap(Version.init)
    }.sorted()
  }

  private static func chain(_ roots: [RootFile]) -> [Trusted<Root>] {
    guard let first = roots.first, first.version == .first, var newest = try? Trusted<Root>(selfSigned: first.bytes) else { return [] }
    var chain = [newest]
    for root in roots.dropFirst() {
      guard let next = try? newest.successor(root.bytes) else { break }
      chain.append(next)
      newest = next
    }
    return chain
  }

  private static let sampledSnapshotCount = 12

  /// A publication keeps its old snapshots, and a device that was offline may have kept any of them.
  private static func olderSnapshots(
    _ layout: RepositoryLayout, _ names: [String], before current: Version?
  ) throws(SigningError) -> [[UInt8]] {
    guard let current else { return [] }
    let versions = versions(of: TopLevelRole.snapshot.fileName, in: names).filter { $0 < current }
    let step = max(1, (versions.count + sampledSnapshotCount - 1) / sampledSnapshotCount)
    var snapshots: [[UInt8]] = []
    for index in stride(from: versions.count - 1, through: 0, by: -step) {
      snapshots.append(try read("\(layout.metadata)/\(versions[index]).\(TopLevelRole.snapshot.fileName)"))
    }
    return snapshots
  }

  /// A mirror has no policy beside it.
  private static func policy(_ layout: RepositoryLayout) throws(SigningError) -> Policy? {
    do { return try Policy.read(layout.policy) } catch {
      guard case .file(let cause) = error, cause.errno == .notFound || cause.errno == .notDirectory else { throw error }
      return nil
    }
  }

  private static func keyNames(_ layout: RepositoryLayout) throws(SigningError) -> [KeyID: String] {
    let suffix = ".pem"
    let files: [[UInt8]]
    do throws(Errno) { files = try FileSystem.names(inDirectory: layout.keys) } catch {
      guard error == .notFound || error == .notDirectory else { throw .file(.system(.list, path: layout.keys, error)) }
      return [:]
    }
    var names: [KeyID: String] = [:]
    for file in files.map({ String(decoding: $0, as: UTF8.self) }) where file.hasSuffix(suffix) && !file.hasPrefix(".") {
      let key = try PublicKeyFile.read(path: "\(layout.keys)/\(file)")
      names[Key(key).id] = String(file.dropLast(suffix.count))
    }
    return names
  }
}
