public import FileIO
public import ModelFormats
public import TUFMetadata

/// Why something can't be signed or published.
public enum SigningError: Error, Equatable, Sendable {
  /// The operating system refused.
  case system(Errno, operation: String, path: String)
  /// A key or a passphrase can't be used.
  /// - `path`: the file or folder at fault, or empty where there is none.
  case key(KeyError, path: String)
  /// A file or folder can't be used.
  case file(FileError)
  /// A folder can't be published as it is.
  /// - `problems`: in the order of the paths, the first ones where there are many.
  /// - `count`: how many there are in all.
  case scan(_ problems: [ScanProblem], count: Int)
  /// A file is not the model file that its name or its first bytes promise.
  case format(path: TargetPath, ModelFormatError)
  /// A file was written to, cut or replaced between the scan and the end of its hashing.
  case changedWhileHashed(path: TargetPath)
  /// A `model.json` is not one.
  case description(path: TargetPath, MetadataError)
  /// A `model.json` does not fit the files beside it.
  /// - `problems`: the first ones where there are many.
  /// - `count`: how many there are in all.
  case descriptionMismatch(path: TargetPath, _ problems: [DescriptionProblem], count: Int)
  /// The caller asked to stop.
  case cancelled
}

extension SigningError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .system(let error, let operation, let path): "can't \(operation) \(path): \(error)"
    case .key(let error, let path): path.isEmpty ? "\(error)" : "\(path): \(error)"
    case .file(let error): "\(error)"
    case .scan(let problems, let count): Self.list("the folder can't be published:", problems, count: count)
    case .format(let path, let error): "\(path): \(error)"
    case .changedWhileHashed(let path): "\(path) changed while it was hashed; publish when nothing writes to it any more"
    case .description(let path, let error): "\(path): \(error)"
    case .descriptionMismatch(let path, let problems, let count): Self.list("\(path) does not fit the files:", problems, count: count)
    case .cancelled: "cancelled"
    }
  }

  private static func list(_ heading: String, _ problems: [some CustomStringConvertible], count: Int) -> String {
    let lines = [heading] + problems.map { "  \($0)" }
    return (problems.count < count ? lines + ["  and \(count - problems.count) more"] : lines).joined(separator: "\n")
  }
}
