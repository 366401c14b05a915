internal import Digests
internal import TUFMetadata

/// Where the hashes of a file's segments are published: beside the file in the published tree.
package struct SegmentSource: Sendable {
  private let target: TargetFile
  private let byteCount: Int
  private let sources: [DownloadSource]

  /// - Returns: nil where the file has none.
  init?(of path: TargetPath, _ target: TargetFile, mirrors: [Mirror], consistentSnapshot: Bool) {
    guard let byteCount = target.segmentsByteCount,
      let served = target.segmentsPath(of: path, consistentSnapshot: consistentSnapshot)
    else { return nil }
    self.target = target
    self.byteCount = byteCount
    sources = mirrors.map { DownloadSource(in: $0, path: served) }
  }

  /// Fetches the hashes and holds them against what is signed.
  /// - Returns: nil where no mirror has them: then the file is fetched as a whole.
  func fetch(
    _ path: TargetPath, _ context: DownloadContext, over network: AnyTransport
  ) throws(InstallationError) -> SegmentDigests? {
    for source in sources {
      do throws(InstallationError) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        try source.readWhole(of: Int64(byteCount), over: network, hub: context.hub, isCancelled: context.isCancelled) {
          piece throws(InstallationError) in
          bytes.append(piece)
        }
        if let digests = try? target.segmentDigests(bytes) { return digests }
        context.report(.warning("\(source.shown) serves a .verity of \(path) that is not as signed; it is not used"))
      } catch {
        if error == .cancelled { throw error }
        // Not there, or out of reach: whether the file is, its own download tells.
      }
    }
    return nil
  }
}
