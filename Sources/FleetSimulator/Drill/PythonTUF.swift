internal import FileIO
internal import ManifestSigning
internal import TUFMetadata

/// python-tuf as the second client, where it is installed. It gets the files through its standard input and needs no network; what it caches
/// lies in a temporary folder of its own.
package enum PythonTUF {
  private static let outputLimit = 64 << 20
  private static let seconds = 600

  /// Finds an interpreter that has python-tuf.
  /// - Parameters:
  ///   - path: the interpreter; nil for the first `python3` on the search path.
  ///   - searchPath: the variable `PATH`.
  package static func client(_ path: String?, searchPath: String?) -> Result<PeerClient, PeerProblem> {
    guard let interpreter = path ?? find(searchPath) else { return .failure(PeerProblem("not installed: no python3 on PATH")) }
    let version: String
    switch run(interpreter, ["version"], []) {
    case .success(let output): version = String(decoding: output.prefix(40), as: UTF8.self)
    case .failure(let problem): return .failure(problem)
    }
    let client = PeerClient(name: "python-tuf \(version)") { trials in
      run(interpreter, ["play"], input(trials)).flatMap { output in outcomes(output) }
    }
    return .success(client)
  }

  private static func find(_ searchPath: String?) -> String? {
    for folder in (searchPath ?? "").split(separator: ":") where folder.hasPrefix("/") {
      let path = "\(folder)/python3"
      if let status = try? FileSystem.status(of: path, followingLinks: true), status.kind == .regular { return path }
    }
    return nil
  }

  private static func run(_ interpreter: String, _ words: [String], _ input: [UInt8]) -> Result<[UInt8], PeerProblem> {
    do throws(SignerFault) {
      // Isolated: what lies in the current folder is not imported, whatever it is called.
      let outcome = try ChildProcess.run(
        [interpreter, "-I", "-c", PythonTUFScript.text] + words, input: input, outputLimit: outputLimit, seconds: seconds,
        isCancelled: { false })
      guard outcome.end == .exited(0) else {
        let said =
          String(decoding: outcome.messages, as: UTF8.self).split(whereSeparator: \.isNewline).last.map(String.init) ?? "no reason given"
        return .failure(PeerProblem("\(interpreter): \(said)"))
      }
      return .success(outcome.output)
    } catch { return .failure(PeerProblem("\(interpreter): \(error)")) }
  }

  // MARK: What goes in and comes out

  private static func input(_ trials: [PeerTrial]) -> [UInt8] {
    var texts: [JSONTree] = []
    var known: [[UInt8]: Int64] = [:]
    func text(_ bytes: [UInt8]) -> JSONTree {
      if let index = known[bytes] { return .integer(index) }
      let index = Int64(texts.count)
      known[bytes] = index
      texts.append(.string(ByteString(bytes)))
      return .integer(index)
    }
    let played = trials.map { trial -> JSONTree in
      let steps = trial.steps.map { step -> JSONTree in
        let files = step.files.map { (ByteString($0.key), text($0.value)) }
        return .object([
          "files": .object(Dictionary(files, uniquingKeysWith: { first, _ in first })), "time": .string(ByteString(step.now.description)),
        ])
      }
      return .object(["root": text(trial.anchor), "steps": .array(steps)])
    }
    return JSONTree.object(["texts": .array(texts), "trials": .array(played)]).canonicalBytes
  }

  private static func outcomes(_ output: [UInt8]) -> Result<[[PeerTrial.Outcome]], PeerProblem> {
    do throws(MetadataError) {
      let trials = try JSONDocument(parsing: output).root.requireElements { trial throws(MetadataError) in
        try trial.requireElements { step throws(MetadataError) in
          if let reason = step.member("error")?.string { return PeerTrial.Outcome.refused(reason.description) }
          func version(_ name: ByteString) throws(MetadataError) -> Int64 {
            try step.read(name) { value throws(MetadataError) in try value.requireInteger(in: 1...Int64.max) }
          }
          return .trusts(root: try version("root"), timestamp: try version("timestamp"), targets: try version("targets"))
        }
      }
      return .success(trials)
    } catch { return .failure(PeerProblem("its answer can't be read: \(error)")) }
  }
}
