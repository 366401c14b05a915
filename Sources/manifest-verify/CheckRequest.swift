internal import CommandLineSupport
internal import ManifestVerifier
internal import TUFMetadata

/// A file that a person asks to be checked, and what is trusted of it.
struct CheckRequest {
  private enum Answer {
    case listed(TargetPath, TargetFile)
    case notListed
    case notTrusted(VerificationError)
  }

  private let text: String
  private let answer: Answer

  /// Looks a file up as its path in the manifest or, where that is not listed, as a path that begins with the base folder's own.
  /// - Parameter visited: gets the delegated roles that the search came by.
  init(_ text: String, below base: String, in kept: inout KeptManifest, _ visited: inout Set<ByteString>, _ read: KeptManifest.Reader) {
    self.text = text
    var refusal: VerificationError?
    for path in Self.paths(text, below: base) {
      do throws(VerificationError) {
        let lookup = try kept.find(path, read)
        visited.formUnion(lookup.visited)
        guard let finding = lookup.finding else { continue }
        answer = .listed(path, finding.file)
        return
      } catch {
        refusal = refusal ?? error
      }
    }
    answer = refusal.map(Answer.notTrusted) ?? .notListed
  }

  /// The paths of a manifest that a person may mean, the likeliest first.
  static func paths(_ text: String, below base: String) -> [TargetPath] {
    var folder = base[...]
    while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
    let prefixes = ["", "./", folder == "/" ? "/" : "\(folder)/"]
    return prefixes.filter { text.utf8.starts(with: $0.utf8) }.compactMap { prefix in
      try? TargetPath(ByteString(Array(text.utf8.dropFirst(prefix.utf8.count))))
    }
  }

  var byteCount: Int64? { if case .listed(_, let file) = answer { file.byteCount } else { nil } }

  func run(_ check: inout FileCheck, _ report: CheckReport) throws(Interrupted) {
    switch answer {
    case .listed(let path, let file): try report.run(&check, path, file)
    case .notListed: report.add(CheckedFile(path: ByteString(text), file: nil, outcome: .notListed))
    case .notTrusted(let error): report.add(CheckedFile(path: ByteString(text), file: nil, outcome: .notTrusted(error)))
    }
  }
}
