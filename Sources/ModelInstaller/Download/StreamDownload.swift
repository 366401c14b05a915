internal import FileIO
internal import ManifestVerifier
internal import ModelFormats
internal import TUFMetadata

/// Fetches a file as one stream, counted and hashed as it arrives.
///
/// - What an earlier attempt left is hashed first, and continued; so is what a source brought before it failed.
/// - What may pass is tried again at the same source; what will not is not, and the next source is asked.
/// - Bytes that turn out not to be what is signed are given up as a whole: without a tree nobody can say which of them are wrong.
struct StreamDownload: ~Copyable {
  private let path: TargetPath
  private let target: TargetFile
  private let sources: [DownloadSource]
  private let context: DownloadContext
  private let network: AnyTransport
  private var verification: StreamVerification
  /// How many bytes lie in the part file, all of them hashed.
  private var length: Int64 = 0
  private var beginning: [UInt8] = []

  init(_ path: TargetPath, _ target: TargetFile, from sources: [DownloadSource], _ context: DownloadContext, over network: AnyTransport) {
    (self.path, self.target, self.sources, self.context, self.network) = (path, target, sources, context, network)
    verification = StreamVerification(path.description, against: target)
  }

  /// Brings the part file to be the whole file that is signed.
  mutating func run(into part: PartFile) throws(InstallationError) {
    try resume(part)
    context.report(.file(path: path.description, byteCount: target.byteCount, present: length))
    if length == target.byteCount {
      if finishes() { return }
      try startAgain(part)
    }
    var worst: InstallationError?
    for source in sources {
      let began = length
      do throws(InstallationError) { return try fetch(from: source, part) } catch {
        switch error {
        case .transport, .served, .model: break
        default: throw error
        }
        // Of what is no such file at all nothing is worth keeping.
        if case .model(.wrongBeginning) = error { try startAgain(part) }
        // Of a body that ended too early, and again so: it is something else, a page of HTML say.
        if case .served(.wrongLength, _) = error, length > began { try startAgain(part, keeping: began) }
        context.report(.sourceFailed(path: path.description, source: source.shown.description, reason: error.description))
        if error.weight > worst?.weight ?? 0 { worst = error }
      }
    }
    throw worst ?? .unusableURL(expected: "at least one place where \(path) can be had")
  }

  // MARK: What is there

  /// Hashes what lies in the part file.
  private mutating func resume(_ part: PartFile) throws(InstallationError) {
    let found = try part.byteCount()
    guard found <= target.byteCount else { return try startAgain(part) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while length < found {
      guard !context.isCancelled() else { throw .cancelled }
      let count: Int
      do { count = try part.file.fill(&buffer, at: length, enough: found - length) } catch {
        throw .file(.system(.read, path: part.path, error))
      }
      guard count > 0 else { break }
      // What the file system holds beyond what was asked for is left for the next round.
      let piece = buffer.span.extracting(first: Int(min(Int64(count), found - length)))
      guard takes(piece) else { return try startAgain(part) }
    }
    if length < found { try part.truncate(to: length) }
    if hasBeginning, contradiction() != nil { try startAgain(part) }
  }

  private mutating func takes(_ piece: Span<UInt8>) -> Bool {
    do { try verification.update(piece) } catch { return false }
    remember(piece)
    length += Int64(piece.count)
    return true
  }

  private mutating func remember(_ piece: Span<UInt8>) {
    guard beginning.count < ModelInspection.beginningLength else { return }
    for index in 0..<min(piece.count, ModelInspection.beginningLength - beginning.count) { beginning.append(piece[index]) }
  }

  /// Whether as much is here as tells what a file is.
  private var hasBeginning: Bool { beginning.count == ModelInspection.beginningLength || Int64(beginning.count) == target.byteCount }

  private func contradiction() -> FileContent? { ModelInspection.contradiction(name: path.description, beginning: beginning) }

  /// - Parameter kept: how many of the first bytes stay, which are hashed anew.
  private mutating func startAgain(_ part: PartFile, keeping kept: Int64 = 0) throws(InstallationError) {
    try part.truncate(to: kept)
    if length > kept { context.report(.discarded(path: path.description, byteCount: length - kept)) }
    verification = StreamVerification(path.description, against: target)
    (length, beginning) = (0, [])
    if kept > 0 { try resume(part) }
  }

  private mutating func finishes() -> Bool { (try? finish()) != nil }

  private mutating func finish() throws(VerificationError) {
    var done = StreamVerification(path.description, against: target)
    swap(&done, &verification)
    try done.finish()
  }

  // MARK: One source

  private mutating func fetch(from source: DownloadSource, _ part: PartFile) throws(InstallationError) {
    var failures = 0
    /// Whether some of the bytes came from elsewhere, and so may be what is wrong.
    var isMixed = length > 0
    while true {
      let before = length
      do throws(InstallationError) {
        if length < target.byteCount { try transfer(from: source, part) }
        guard length == target.byteCount else {
          // A body without a length can end too early without anybody noticing.
          throw .served(.wrongLength(path: path.description, expected: target.byteCount, actual: length), by: source.shown)
        }
        do { return try finish() } catch {
          let isToBlame = !isMixed
          try startAgain(part)
          isMixed = false
          if isToBlame { throw .served(error, by: source.shown) }
        }
      } catch {
        failures = length > before ? 1 : failures + 1
        let delay: UInt32?
        switch error {
        case .transport(let fault): delay = context.retry.delay(after: failures, fault)
        case .served(.wrongLength, _) where length > before && length < target.byteCount: delay = context.retry.firstDelay
        default: delay = nil
        }
        guard let delay else { throw error }
        context.report(
          .retrying(path: path.description, source: source.shown.description, milliseconds: Int(delay), reason: error.description))
        try RetryPolicy.wait(delay, isCancelled: context.isCancelled)
      }
    }
  }

  private mutating func transfer(from source: DownloadSource, _ part: PartFile) throws(InstallationError) {
    do throws(InstallationError) {
      try source.read(length..<target.byteCount, of: target.byteCount, over: network, hub: context.hub, isCancelled: context.isCancelled) {
        piece throws(InstallationError) in try take(piece, from: source, part)
      }
    } catch {
      switch error {
      case .transport(.rangeIgnored): try transferBehind(length, from: source, part)
      default: throw error
      }
    }
  }

  /// Takes what stands behind the first bytes of a body, which are here already: never does a whole body follow what a part was.
  private mutating func transferBehind(
    _ known: Int64, from source: DownloadSource, _ part: PartFile
  ) throws(InstallationError) {
    var toSkip = known
    try source.readWhole(of: target.byteCount, over: network, hub: context.hub, isCancelled: context.isCancelled) {
      piece throws(InstallationError) in
      let skipped = Int(min(toSkip, Int64(piece.count)))
      toSkip -= Int64(skipped)
      if skipped < piece.count { try take(piece.extracting(skipped..<piece.count), from: source, part) }
    }
  }

  private mutating func take(
    _ piece: Span<UInt8>, from source: DownloadSource, _ part: PartFile
  ) throws(InstallationError) {
    guard !context.isCancelled() else { throw .cancelled }
    guard Int64(piece.count) <= target.byteCount - length else {
      throw .served(
        .wrongLength(path: path.description, expected: target.byteCount, actual: target.byteCount == .max ? .max : target.byteCount + 1),
        by: source.shown)
    }
    let knewEnough = hasBeginning
    remember(piece)
    if !knewEnough, hasBeginning, let content = contradiction() {
      throw .model(.wrongBeginning(path: path.description, found: content.description, from: source.shown.description))
    }
    try part.write(piece, at: length)
    do { try verification.update(piece) } catch { throw .served(error, by: source.shown) }
    length += Int64(piece.count)
    context.report(.received(path: path.description, byteCount: Int64(piece.count)))
  }
}
