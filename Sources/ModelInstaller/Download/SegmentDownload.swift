internal import Digests
internal import Dispatch
internal import FileIO
internal import ManifestVerifier
internal import Synchronization
internal import TUFMetadata

/// Fetches a file segment by segment, several at once: each is one bounded request, verified by itself before it is written, and fetched from the
/// next source where it is not what is signed. What an earlier attempt left is verified segment by segment too, and kept as far as it is good; what is not
/// there is looked for in the installed file that was damaged, before it is fetched.
///
/// The digests of the whole file are computed meanwhile, from what was written, in order.
struct SegmentDownload {
  let path: TargetPath
  let target: TargetFile
  let segments: SegmentDigests
  let sources: [DownloadSource]
  let context: DownloadContext

  init(
    _ path: TargetPath, _ target: TargetFile, _ segments: SegmentDigests, from sources: [DownloadSource], _ context: DownloadContext
  ) {
    (self.path, self.target, self.segments, self.sources, self.context) = (path, target, segments, sources, context)
  }

  /// Brings the part file to be the whole file that is signed.
  /// - Parameter former: the file that is to be replaced, of which some segments may be good.
  func run(into part: PartFile, replacing former: FormerFile? = nil) throws(InstallationError) {
    var found = try part.byteCount()
    if found == 0, let former, (try? part.file.clone(from: former.file)) != nil { found = try part.byteCount() }
    if found > target.byteCount { try part.truncate(to: target.byteCount) }
    let work = SegmentWork(count: segments.count, sourceCount: sources.count)
    try useWhatIsHere(part, byteCount: min(found, target.byteCount), former, work)
    let present = work.finished.reduce(Int64(0)) { $0 + Int64(segments.range(of: $1).count) }
    context.report(.file(path: path.description, byteCount: target.byteCount, present: present))
    let group = DispatchGroup()
    let threadCount = min(context.connections, work.leftCount)
    work.threadsStart(threadCount)
    for number in 0..<threadCount {
      // A queue of its own is a thread of its own, which may wait for a server.
      DispatchQueue(label: "segments \(number)").async(group: group) { fetchSegments(into: part, work) }
    }
    let digest = hashInOrder(part, work)
    group.wait()
    if let error = work.error { throw error }
    if work.leftCount > 0 { try fetchInStreams(part, work) }
    // What was hashed in order is all of it, unless the rest came in one stream.
    try (digest ?? hashInOrder(part, work))?.get()
  }

  // MARK: What is here

  private func useWhatIsHere(_ part: PartFile, byteCount: Int64, _ former: FormerFile?, _ work: SegmentWork) throws(InstallationError) {
    // A file system may hold less than the whole of a segment.
    let count = former == nil ? (0..<segments.count).prefix { segments.range(of: $0).upperBound <= byteCount }.count : segments.count
    guard count > 0 else { return }
    let next = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: min(count, Self.verifierCount)) { _ in
      var buffer = [UInt8](repeating: 0, count: SegmentDigests.segmentByteCount)
      while !context.isCancelled(), work.error == nil {
        let segment = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard segment < count else { return }
        if isGood(segment, of: part.file, &buffer) {
          work.finish(segment)
        } else if let former, isGood(segment, of: former.file, &buffer) {
          let range = segments.range(of: segment)
          do throws(InstallationError) {
            try part.write(buffer.span.extracting(first: range.count), at: range.lowerBound)
            work.finish(segment)
          } catch { work.fail(error) }
        }
      }
    }
    guard !context.isCancelled() else { throw .cancelled }
    if let error = work.error { throw error }
  }

  /// How much need not be fetched: the segments that are good in any of these files.
  func goodByteCount(in files: [FormerFile]) -> Int64 {
    let next = Atomic(0)
    let sum = Atomic<Int64>(0)
    DispatchQueue.concurrentPerform(iterations: min(segments.count, Self.verifierCount)) { _ in
      var buffer = [UInt8](repeating: 0, count: SegmentDigests.segmentByteCount)
      while !context.isCancelled() {
        let segment = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard segment < segments.count else { return }
        guard files.contains(where: { isGood(segment, of: $0.file, &buffer) }) else { continue }
        sum.wrappingAdd(Int64(segments.range(of: segment).count), ordering: .relaxed)
      }
    }
    return sum.load(ordering: .relaxed)
  }

  /// Reads a segment and verifies it. What can't be read is fetched.
  private func isGood(_ segment: Int, of file: borrowing FileDescriptor, _ buffer: inout [UInt8]) -> Bool {
    let range = segments.range(of: segment)
    guard let read = try? file.fill(&buffer, at: range.lowerBound, enough: Int64(range.count)), read >= range.count else { return false }
    return (try? segments.verify(buffer.span.extracting(first: range.count), segment: segment)) != nil
  }

  private static let verifierCount = 4

  // MARK: One segment after another

  private func fetchSegments(into part: PartFile, _ work: SegmentWork) {
    var buffer: [UInt8] = []
    buffer.reserveCapacity(SegmentDigests.segmentByteCount)
    do throws(InstallationError) {
      let network = AnyTransport(try context.makeTransport())
      while let segment = work.take() {
        try fetch(segment, into: part, &buffer, work, network)
      }
    } catch { work.fail(error) }
    work.threadEnded()
  }

  private func fetch(
    _ segment: Int, into part: PartFile, _ buffer: inout [UInt8], _ work: SegmentWork, _ network: AnyTransport
  ) throws(InstallationError) {
    var worst: InstallationError?
    for source in work.usableSources {
      var failures = 0
      var delivered = work.deliveryCount(of: source)
      attempts: while true {
        guard !context.isCancelled() else { throw .cancelled }
        // Another thread's error ends the whole.
        guard work.error == nil else { return }
        do throws(InstallationError) {
          try read(segment, from: sources[source], &buffer, network)
          try part.write(buffer.span, at: segments.range(of: segment).lowerBound)
          context.report(.received(path: path.description, byteCount: Int64(buffer.count)))
          return work.finish(segment, from: source)
        } catch {
          switch error {
          case .file(let fault) where fault.path == part.path: throw error
          case .cancelled: throw error
          case .transport(.rangeIgnored):
            work.exclude(source, onlyFromSegments: true)
            break attempts
          case .transport(let fault):
            // A source that goes on bringing others is not one that brings nothing.
            let count = work.deliveryCount(of: source)
            failures = count > delivered ? 1 : failures + 1
            delivered = count
            if let delay = context.retry.delay(after: failures, fault) {
              context.report(
                .retrying(
                  path: path.description, source: sources[source].shown.description, milliseconds: Int(delay), reason: error.description))
              try RetryPolicy.wait(delay, isCancelled: { context.isCancelled() || work.error != nil })
              continue attempts
            }
          default: break
          }
          if work.blame(source) {
            context.report(
              .sourceFailed(path: path.description, source: sources[source].shown.description, reason: error.description))
          }
          if error.weight > worst?.weight ?? 0 { worst = error }
          break attempts
        }
      }
    }
    // Without a source that knows parts the whole is fetched in one stream, at the end.
    if work.hasStreams { return work.leave(segment) }
    throw worst ?? .unusableURL(expected: "at least one place where \(path) can be had")
  }

  private func read(
    _ segment: Int, from source: DownloadSource, _ buffer: inout [UInt8], _ network: AnyTransport
  ) throws(InstallationError) {
    let range = segments.range(of: segment)
    var verification = segments.begin(segment)
    buffer.removeAll(keepingCapacity: true)
    try source.read(range, of: target.byteCount, over: network, hub: context.hub, isCancelled: context.isCancelled) {
      piece throws(InstallationError) in
      do throws(DigestError) { try verification.update(piece) } catch { throw wrong(segment, error, source) }
      buffer.append(piece)
    }
    do throws(DigestError) { try verification.finish() } catch { throw wrong(segment, error, source) }
  }

  private func wrong(_ segment: Int, _ error: DigestError, _ source: DownloadSource) -> InstallationError {
    let range = segments.range(of: segment)
    let fault: VerificationError =
      switch error {
      case .segmentDigest(_, let expected, let actual):
        .wrongSegment(path: path.description, range: range, expected: "sha256:\(expected)", actual: "sha256:\(actual)")
      case .segmentLength(_, let expected, let actual):
        .wrongLength(path: path.description, expected: Int64(expected), actual: Int64(actual))
      default: .wrongSegments(path: path.description, error)
      }
    return .served(fault, by: source.shown)
  }

  // MARK: The whole in one stream

  /// Fetches what is missing from servers that know no parts: as one stream each, of which every segment is verified before it is written.
  /// What broke off begins again, as often as it brings something new.
  private func fetchInStreams(_ part: PartFile, _ work: SegmentWork) throws(InstallationError) {
    let network = AnyTransport(try context.makeTransport())
    var worst: InstallationError?
    for source in work.streamSources {
      var failures = 0
      while true {
        let before = work.leftCount
        do throws(InstallationError) {
          let byteCount = try stream(from: sources[source], part, work, network)
          if work.leftCount == 0 { return }
          throw .served(.wrongLength(path: path.description, expected: target.byteCount, actual: byteCount), by: sources[source].shown)
        } catch {
          if case .file(let fault) = error, fault.path == part.path { throw error }
          if error == .cancelled { throw error }
          failures = work.leftCount < before ? 1 : failures + 1
          if case .transport(let fault) = error, let delay = context.retry.delay(after: failures, fault) {
            try RetryPolicy.wait(delay, isCancelled: context.isCancelled)
            continue
          }
          context.report(.sourceFailed(path: path.description, source: sources[source].shown.description, reason: error.description))
          if error.weight > worst?.weight ?? 0 { worst = error }
          break
        }
      }
    }
    throw worst ?? .unusableURL(expected: "at least one place where \(path) can be had")
  }

  private func stream(
    from source: DownloadSource, _ part: PartFile, _ work: SegmentWork, _ network: AnyTransport
  ) throws(InstallationError) -> Int64 {
    var segment = 0
    var byteCount: Int64 = 0
    var buffer: [UInt8] = []
    buffer.reserveCapacity(SegmentDigests.segmentByteCount)
    let finished = Set(work.finished)
    try source.readWhole(of: target.byteCount, over: network, hub: context.hub, isCancelled: context.isCancelled) {
      piece throws(InstallationError) in
      byteCount += Int64(piece.count)
      var offset = 0
      while offset < piece.count, segment < segments.count {
        let length = segments.range(of: segment).count
        let count = min(piece.count - offset, length - buffer.count)
        buffer.append(piece.extracting(offset..<(offset + count)))
        offset += count
        guard buffer.count == length else { continue }
        if !finished.contains(segment) {
          do throws(DigestError) { try segments.verify(buffer.span, segment: segment) } catch { throw wrong(segment, error, source) }
          try part.write(buffer.span, at: segments.range(of: segment).lowerBound)
          context.report(.received(path: path.description, byteCount: Int64(length)))
          work.finish(segment)
        }
        segment += 1
        buffer.removeAll(keepingCapacity: true)
      }
    }
    return byteCount
  }

  // MARK: The whole file's digests

  /// Hashes what has been written, in order, as far as it goes without a gap, until nothing more comes.
  /// - Returns: whether the file is what is signed; nil where not all of it is there.
  private func hashInOrder(_ part: PartFile, _ work: SegmentWork) -> Result<Void, InstallationError>? {
    var verification = StreamVerification(path.description, against: target, segments: segments)
    var buffer = [UInt8](repeating: 0, count: SegmentDigests.segmentByteCount)
    for segment in 0..<segments.count {
      guard work.waitFor(segment) else { return nil }
      let range = segments.range(of: segment)
      do throws(Errno) {
        let count = try part.file.fill(&buffer, at: range.lowerBound, enough: Int64(range.count))
        guard count >= range.count else { throw .inputOutput }
      } catch { return .failure(.file(.system(.read, path: part.path, error))) }
      do { try verification.update(buffer.span.extracting(first: range.count)) } catch { return .failure(.verification(error)) }
    }
    do { try verification.finish() } catch { return .failure(.verification(error)) }
    return .success(())
  }
}
