internal import FileIO
internal import ManifestSigning
internal import ManifestVerifier
internal import TUFMetadata

/// A rehearsal laid out as a repository in a temporary folder, on which the code runs that real ceremonies run on. Its keys are throw-away ones, in
/// memory; the folder is removed with the value.
struct StagedRepository: ~Copyable {
  private let folder: String
  private let layout: RepositoryLayout

  /// Lays out what a simulated publisher has published.
  /// - Parameter temporary: the folder in which it gets one of its own.
  init(_ publisher: SimulatedPublisher, _ lifetimes: [TopLevelRole: Int], in temporary: String) throws(SimulationError) {
    folder = try Self.layOut(publisher, lifetimes, in: temporary)
    layout = RepositoryLayout(folder)
  }

  private static func layOut(
    _ publisher: SimulatedPublisher, _ lifetimes: [TopLevelRole: Int], in temporary: String
  ) throws(SimulationError) -> String {
    let folder = try makeFolder(in: temporary)
    let layout = RepositoryLayout(folder)
    do throws(Errno) {
      for path in [folder + "/manifests", layout.metadata, layout.keys] { try FileSystem.createDirectory(path) }
      for (path, bytes) in publisher.files { try write(bytes, to: "\(layout.metadata)/\(path)") }
      try write(policy(lifetimes), to: layout.policy)
      return folder
    } catch {
      try? FileSystem.removeTree(folder)
      throw .signing(.file(.system(.create, path: folder, error)))
    }
  }

  /// Nothing here outlives the drill, so nothing waits for the disk.
  private static func write(_ bytes: [UInt8], to path: String) throws(Errno) {
    try FileDescriptor(opening: path, .createExclusive(permissions: 0o644)).write(all: bytes.span)
  }

  deinit { try? FileSystem.removeTree(folder) }

  private static func policy(_ lifetimes: [TopLevelRole: Int]) -> [UInt8] {
    let days = lifetimes.map { ($0.key.name, JSONTree.integer(Int64($0.value))) }
    return JSONTree.object([
      "holders": .object([:]), "lifetimes": .object(Dictionary(days, uniquingKeysWith: { first, _ in first })),
    ]).canonicalBytes
  }

  private static func makeFolder(in temporary: String) throws(SimulationError) -> String {
    var attemptsLeft = 100
    while true {
      let path = "\(temporary)/manifest-sign-drill-\(String(UInt64.random(in: .min ... .max), radix: 36))"
      attemptsLeft -= 1
      do throws(Errno) {
        try FileSystem.createDirectory(path, permissions: 0o700)
        return path
      } catch {
        if error == .exists, attemptsLeft > 0 { continue }
        throw .signing(.file(.system(.create, path: path, error)))
      }
    }
  }

  private static func onDisk<Result>(_ body: () throws(FileError) -> Result) throws(SimulationError) -> Result {
    do { return try body() } catch { throw .signing(.file(error)) }
  }

  // MARK: What it publishes

  /// The files that it serves now, by URL path.
  func files() throws(SimulationError) -> [String: [UInt8]] { try Self.onDisk { () throws(FileError) in try Self.files(layout.metadata) } }

  private static func files(_ folder: String) throws(FileError) -> [String: [UInt8]] {
    let names = try FileError.describing(.list, folder) { () throws(Errno) in try FileSystem.names(inDirectory: folder) }
    var files: [String: [UInt8]] = [:]
    for name in names where name.first != UInt8(ascii: ".") {
      let path = String(decoding: name, as: UTF8.self)
      files[path] = try readFile("\(folder)/\(path)", limit: VerificationLimits().metadataByteCount)
    }
    return files
  }

  /// Exchanges a role's keys with those at hand, as `manifest-sign rotate` does.
  func rotate(
    _ role: MetadataRole, _ exchanged: [(old: SimulatedKey, new: SimulatedKey)], _ mode: RotationMode, with keys: [SimulatedKey],
    at now: UTCTime
  ) throws(SimulationError) {
    do throws(SigningError) {
      let repository = try Repository(layout)
      let root = try TrustedRoot(layout, path: layout.metadata(.root, .first))
      let report = try repository.rotate(
        role, exchanged.map { ($0.old.key.id, $0.new.publicKey) }, dropping: mode == .dropOld ? exchanged.map(\.old.key.id) : [], mode,
        trusting: root, allowsShared: true, with: Self.signing(keys),
        now: now)
      guard report.ceremony.publication != nil else { throw .ceremony(.nothingPending) }
    } catch { throw .signing(error) }
  }

  /// Signs again what is due, as `manifest-sign refresh` does.
  /// - Returns: whether anything was published.
  func refresh(with keys: [SimulatedKey], at now: UTCTime) throws(SimulationError) -> Bool {
    do throws(SigningError) {
      let repository = try Repository(layout)
      return try repository.refresh(with: Self.signing(keys), now: now).publication != nil
    } catch { throw .signing(error) }
  }

  private static func signing(_ keys: [SimulatedKey]) -> SigningKeys { SigningKeys(keys.map { ($0.name, $0) }) }

  /// What a person does after a rotation broke off: signs what waits, or begins again where nothing does and nothing came of it.
  /// - Parameter version: that of the root before the rotation.
  func resume(
    after version: Version, with keys: [SimulatedKey], at now: UTCTime, orBeginAgain work: () throws(SimulationError) -> Void
  ) throws(SimulationError) {
    var beginsAgain = false
    do throws(SigningError) {
      let repository = try Repository(layout)
      let ceremony = try repository.ceremony()
      if !ceremony.pending.isEmpty {
        let root = try TrustedRoot(layout, path: layout.metadata(.root, .first))
        _ = try repository.sign(repository.review(trusting: root, now: now), with: Self.signing(keys), now: now)
      } else {
        beginsAgain = ceremony.state.root.payload.version == version
      }
    } catch { throw .signing(error) }
    // Not while the lock is held.
    if beginsAgain { try work() }
  }

  // MARK: Crash

  /// Runs some work of the publisher's that comes to its end only until it has placed so many files; then every call fails, as for a process
  /// that is gone.
  /// - Returns: whether it ended before that.
  func run(untilPlacing count: Int, _ work: (borrowing StagedRepository) throws(SimulationError) -> Void) throws(SimulationError) -> Bool {
    let crash = Crash(after: count)
    let hook = FaultInjection.install(below: folder, crash.action)
    defer { FaultInjection.remove(hook) }
    do throws(SimulationError) { try work(self) } catch {
      guard crash.hasHappened else { throw error }
    }
    return !crash.hasHappened
  }
}
