internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata

/// Fetches a small file into memory, verified.
enum MemoryDownload {
  /// - Parameter byteLimit: the most bytes that such a file may have.
  static func run(
    _ path: TargetPath, _ target: TargetFile, from sources: [DownloadSource], byteLimit: Int64, _ context: DownloadContext,
    over network: AnyTransport
  ) throws(InstallationError) -> [UInt8] {
    guard target.byteCount <= byteLimit else {
      throw .verification(.wrongLength(path: path.description, expected: byteLimit, actual: target.byteCount))
    }
    var worst: InstallationError?
    for source in sources {
      var failures = 0
      while true {
        do throws(InstallationError) {
          var bytes: [UInt8] = []
          try source.readWhole(of: target.byteCount, over: network, hub: context.hub, isCancelled: context.isCancelled) {
            piece throws(InstallationError) in
            bytes.append(piece)
          }
          var verification = StreamVerification(path.description, against: target)
          do throws(VerificationError) {
            try verification.update(bytes.span)
            try verification.finish()
          } catch { throw InstallationError.served(error, by: source.shown) }
          return bytes
        } catch {
          if error == .cancelled { throw error }
          failures += 1
          if case .transport(let fault) = error, let delay = context.retry.delay(after: failures, fault) {
            context.report(
              .retrying(path: path.description, source: source.shown.description, milliseconds: Int(delay), reason: error.description))
            try RetryPolicy.wait(delay, isCancelled: context.isCancelled)
            continue
          }
          context.report(.sourceFailed(path: path.description, source: source.shown.description, reason: error.description))
          if error.weight > worst?.weight ?? 0 { worst = error }
          break
        }
      }
    }
    throw worst ?? .unusableURL(expected: "at least one mirror of the targets")
  }
}

extension [UInt8] {
  /// Appends bytes all at once: one by one they would take longer than they took to arrive.
  mutating func append(_ bytes: Span<UInt8>) {
    // The buffer is read at once and not kept.
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}
