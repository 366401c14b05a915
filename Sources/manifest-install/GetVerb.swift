internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import ManifestVerifier
internal import ModelInstaller
internal import TUFMetadata

enum GetVerb {
  private static let targets = Argument("TARGET", "The path of a file in the manifest.", .oneOrMore)
  private static let into = Option.value(
    "--into", "DIR", "The folder to put the files into, each under its path in the manifest; made where it is missing.", required: true)

  static let verb = Verb(
    "get", "Fetch files that the manifest lists, and verify them.",
    arguments: [targets],
    options: [DeviceState.state, DeviceState.root, MirrorOptions.metadata, MirrorOptions.targets, into] + Network.options,
    discussion: [
      "Refreshes once, as refresh does, and then fetches the files in the order given. One that is there already and intact is left alone.",
      "A file is verified while it arrives, and appears under its name only when all of it has the signed length and digests and is on the disk "
        + "itself; until then it lies in a folder of its own below DIR. Below DIR no symbolic link is followed. Files are read-only.",
      "Where a mirror fails, or serves what is not as signed, the next one is asked.",
      Network.discussion, MirrorOptions.discussion,
      "With --json: {\"files\":[{\"path\",\"status\",\"length\",\"from\"}…]}. The status is fetched or present.",
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .fileMismatch, .network, .disk, .locked, .malformed],
    examples: [
      .init("manifest-install get --state trust --into models org/name/1.0/weights.gguf", "from the mirrors that init was told"),
      .init(
        "manifest-install get --state trust --metadata-url https://example.org/metadata --targets-url https://example.org/targets --into . catalog.json",
        "from this mirror"),
    ],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let paths = try invocation.values(targets.name).map(path)
    let mirrors = try MirrorOptions.mirrors(MirrorOptions.targets, invocation, remembered: \.targets)
    let network = try Network.transport(invocation)
    // All are looked up before any is fetched, so that a mistyped name costs no download.
    var files: [(path: TargetPath, file: TargetFile)] = []
    let refresh = try DeviceRefresh(invocation, over: network, output) { refresh, source, store in
      files = []
      for path in paths {
        files.append((path, try source.find(path, in: refresh.manifest, now: refresh.now, keepingIn: &store)))
      }
      return true
    }
    let fetch = try TargetFetch(
      from: mirrors, over: network, consistentSnapshot: refresh.manifest.root.payload.consistentSnapshot,
      into: invocation.required(into.name),
      isCancelled: { Interruption.isRequested })

    let progress = output.progress(
      "Fetching", bytes: files.reduce(0) { sum, target in sum &+ UInt64(clamping: target.file.byteCount) }, files: UInt64(files.count))
    defer { progress.finish() }
    var report: [JSONResult] = []
    output.report("files", .array(report))
    for (path, file) in files {
      progress.begin("\(path)")
      let outcome = try fetch.fetch(path, file) { count in progress.advance(bytes: UInt64(clamping: count)) }
      progress.advance(files: 1)
      report.append(describe(path, file, outcome))
      output.report("files", .array(report))
      let size = HumanReadable.bytes(UInt64(clamping: file.byteCount))
      output.line("\(outcome == .present ? "present" : "fetched")  \(path)  \(size)", style: .good)
    }
    return .done
  }

  private static func path(_ text: String) throws -> TargetPath {
    do { return try TargetPath(text) } catch {
      let (expected, found, _) = Failure.details(of: error)
      throw Failure(.usage, "TARGET is no path of a manifest", expected: expected, found: found)
    }
  }

  private static func describe(
    _ path: TargetPath, _ file: TargetFile, _ outcome: FetchOutcome
  ) -> JSONResult {
    var members: [JSONResult.Member] = [.init("path", .string(path.description))]
    switch outcome {
    case .present: members.append(.init("status", "present"))
    case .fetched(let mirror): members += [.init("status", "fetched"), .init("from", .string(mirror.description))]
    }
    return .object(members + [.init("length", .integer(file.byteCount))])
  }
}
