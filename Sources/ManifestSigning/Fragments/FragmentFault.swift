public import TUFMetadata

/// Why a fragment, a part of the catalog that was hashed on another machine, is not merged.
public enum FragmentFault: Error, Equatable, Sendable {
  /// It holds no signature.
  case unsigned
  /// None of the keys that signed it is one of a machine that keys/policy.json lists.
  case unlistedKey(ids: [String])
  /// A machine's key is named, and the signature is not its own.
  case invalidSignature(name: String)
  case expired(since: UTCTime, now: UTCTime)
  /// It is no targets metadata, or lacks what `hash` writes.
  case malformed(MetadataError)
  /// It lists a path that another fragment lists too, with the same content.
  case overlap(path: TargetPath, other: String)
  /// It lists a path that another fragment lists with other content.
  case contradiction(path: TargetPath, other: String)
  /// It lists a path where no file of a model can be.
  case misplaced(path: TargetPath)
  /// It delegates, which a machine may not.
  case delegates
}

extension FragmentFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unsigned: "it is not signed"
    case .unlistedKey(let ids):
      "it is signed by \(ids.joined(separator: ", ")): expected the key of a machine that keys/policy.json lists under \"machines\""
    case .invalidSignature(let name): "the signature is not that of \(name)"
    case .expired(let since, let now): "it was valid until \(since), and it is \(now)"
    case .malformed(let error): "\(error)"
    case .overlap(let path, let other): "it lists \(path), and so does \(other)"
    case .contradiction(let path, let other): "it lists \(path) with other content than \(other)"
    case .misplaced(let path): "it lists \(path), where no file of a model can be: expected <org>/<name>/<version>/files"
    case .delegates: "it delegates to other roles"
    }
  }
}
