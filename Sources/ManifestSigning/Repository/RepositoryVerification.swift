internal import Digests
internal import FileIO
public import ManifestVerifier
public import TUFMetadata

/// What devices of every age, and the files on disk, say of a published repository.
public struct RepositoryVerification {
  /// What one device meets that was shipped with one of the published roots and has kept nothing.
  public struct Device: Sendable {
    public let shippedRoot: Version
    public let outcome: Result<TrustedManifest, VerificationError>
  }

  /// What became of one file of the manifest.
  public enum FileOutcome: Equatable, Sendable {
    case intact
    /// The models themselves need not be there: they may be served from elsewhere.
    case notStaged
    case failed(VerificationError)
  }

  let layout: RepositoryLayout

  public init(_ layout: RepositoryLayout) { self.layout = layout }

  /// Refreshes one device for each published root.
  /// - Parameter now: the time that expiry is held against.
  public func devices(_ state: PublishedState, at now: UTCTime) -> [Device] {
    var version: Version? = .first
    var devices: [Device] = []
    for root in state.roots {
      guard let shipped = version else { break }
      devices.append(Device(shippedRoot: shipped, outcome: refresh(root, now)))
      version = shipped.next
    }
    return devices
  }

  private func refresh(_ root: [UInt8], _ now: UTCTime) -> Result<TrustedManifest, VerificationError> {
    do {
      var workflow = try ClientWorkflow(anchor: root, stored: StoredMetadata(), now: now)
      return .success(try workflow.refresh(from: MetadataFolder(layout.metadata)))
    } catch {
      return .failure(error)
    }
  }

  /// Verifies every file of the manifest by all its digests, in byte order of the paths: those in `targets`, and those in the
  /// folder of the models where one is given.
  /// - Parameters:
  ///   - models: the folder that was published.
  ///   - report: told of each file; a failure names the local path that was read.
  ///   - jobs: the most threads that work on one file; nil for as many as there are cores.
  /// - Throws: `cancelled`.
  public func files(
    of state: PublishedState, models: String?, jobs: Int? = nil, isCancelled: () -> Bool,
    report: (FileOutcome) -> Void
  ) throws(SigningError) {
    var verifier = FileVerifier(method: .every, jobs: jobs)
    for listed in state.files?.files ?? [] {
      let (path, file) = (listed.path, listed.target)
      let isDocument = CatalogContent.isDocument(path)
      let place = layout.target(path, file)
      report(try verify(&verifier, place, file, mustExist: isDocument, isCancelled))
      if let fault = Self.fault(inSegmentsOf: file, layout.segments(path, file)) { report(.failed(fault)) }
      guard let models, !isDocument else { continue }
      report(try verify(&verifier, "\(models)/\(path)", file, mustExist: true, isCancelled))
    }
  }

  /// What is wrong with a `.verity` that is served; it need not be there.
  static func fault(inSegmentsOf file: TargetFile, _ place: String?) -> VerificationError? {
    guard let place, let byteCount = file.segmentsByteCount else { return nil }
    do throws(FileError) {
      let bytes = try readFile(place, limit: byteCount, followingLinks: false)
      do throws(DigestError) { _ = try file.segmentDigests(bytes) } catch { return .wrongSegments(path: place, error) }
      return nil
    } catch {
      if case .tooLarge = error { return .wrongSegments(path: place, .segmentsLength(expected: Int64(byteCount), actual: byteCount + 1)) }
      return error.errno == .notFound || error.errno == .notDirectory ? nil : .file(error)
    }
  }

  func verify(
    _ verifier: inout FileVerifier, _ place: String, _ file: TargetFile, mustExist: Bool, _ isCancelled: () -> Bool
  ) throws(SigningError) -> FileOutcome {
    do throws(VerificationError) {
      let descriptor: FileDescriptor
      // What a link leads to can change after this, and is not what would be published.
      do { descriptor = try openRegularFile(place, followingLinks: false) } catch { throw .file(error) }
      _ = try verifier.verify(descriptor, path: place, against: file, isCancelled: isCancelled)
      return .intact
    } catch {
      if error == .cancelled { throw .cancelled }
      if case .file(let fileError) = error, fileError.errno == .notFound, !mustExist { return .notStaged }
      return .failed(error)
    }
  }
}
