internal import Digests
internal import FileIO
internal import ManifestVerifier
package import TUFMetadata

/// What came of a target.
package enum FetchOutcome: Equatable, Sendable {
  /// It was there already, and intact.
  case present
  case fetched(from: Mirror)
}

/// Fetches targets of one trusted manifest into a folder: each is verified while it arrives, and stands under its name only once all of it
/// is as signed and on the disk itself.
package struct TargetFetch<Network: Transport>: ~Copyable {
  private let mirrors: [Mirror]
  private let network: Network
  private let consistentSnapshot: Bool
  private let destination: Destination
  private let isCancelled: () -> Bool

  /// - Parameters:
  ///   - mirrors: asked in this order; where one fails, in whatever way, the next is.
  ///   - consistentSnapshot: what the trusted root says.
  ///   - destination: the path of a folder; made where it is missing.
  package init(
    from mirrors: [Mirror], over network: Network, consistentSnapshot: Bool, into destination: String, isCancelled: @escaping () -> Bool
  ) throws(InstallationError) {
    self.mirrors = mirrors
    self.network = network
    self.consistentSnapshot = consistentSnapshot
    self.isCancelled = isCancelled
    do { self.destination = try Destination(destination) } catch { throw .file(error) }
  }

  /// Fetches one target, unless the very file is there.
  /// - Parameter progress: told of each piece that was dealt with, as its number of bytes; of what a second mirror brings, only what goes
  ///   beyond the first.
  package func fetch(_ target: TargetPath, _ file: TargetFile, progress: (Int64) -> Void) throws(InstallationError) -> FetchOutcome {
    try Destination.requireNotReserved(target)
    // Both stay within the file's length, or little more.
    var (reported, reached): (Int64, Int64) = (0, 0)
    func report(_ count: Int64) {
      reached += count
      guard reached > reported else { return }
      progress(reached - reported)
      reported = reached
    }
    if try destination.holds(target, file, isCancelled: isCancelled, progress: { report(Int64($0)) }) { return .present }
    var worst: InstallationError?
    for mirror in mirrors {
      reached = 0
      do throws(InstallationError) {
        try fetch(target, file, from: mirror, progress: report)
        return .fetched(from: mirror)
      } catch {
        // Another mirror would not help a disk that is full.
        if case .file(let fault) = error, fault.path == destination.fullPath(target) { throw error }
        if error == .cancelled { throw error }
        if error.weight > worst?.weight ?? 0 { worst = error }
      }
    }
    throw worst ?? .unusableURL(expected: "at least one mirror of the targets")
  }

  private func fetch(
    _ target: TargetPath, _ file: TargetFile, from mirror: Mirror, progress: (Int64) -> Void
  ) throws(InstallationError) {
    var verification = StreamVerification(target.description, against: file)
    let staged = try destination.stage(target)
    let name = consistentSnapshot ? target.prefixed(by: Array(file.hashes.sha256.description.utf8)) : target.name.bytes
    do throws(InstallationError) {
      try mirror.read(name, byteLimit: file.byteCount, over: network, isCancelled: isCancelled) { piece throws(InstallationError) in
        do throws(VerificationError) { try verification.update(piece) } catch { throw .served(error, by: mirror) }
        do throws(FileError) { try staged.write(all: piece) } catch { throw .file(error) }
        progress(Int64(piece.count))
      }
    } catch {
      guard case .transport(.tooLong(_, let limit, let announced)) = error else { throw error }
      let actual = announced ?? (limit == .max ? limit : limit + 1)
      throw .served(.wrongLength(path: target.description, expected: limit, actual: actual), by: mirror)
    }
    do { try verification.finish() } catch { throw .served(error, by: mirror) }
    do { try destination.place(staged, as: target) } catch { throw .file(error) }
  }
}
