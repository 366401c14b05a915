internal import Digests
internal import TUFMetadata

/// Where the files of a device's trusted state lie.
struct TrustLayout {
  let path: String

  init(_ path: String) { self.path = path }

  static let recordName = "trust"
  static let lockName = "lock"
  static let turnName = "refresh-lock"
  static let rootsName = "roots"
  static let refusalsName = "refusals"

  var record: String { path + "/" + Self.recordName }
  /// Held while the state is read, or one change of it written.
  var lock: String { path + "/" + Self.lockName }
  /// Held by the one process that may change the state, from the first thing that it reads to the last that it writes.
  var turn: String { path + "/" + Self.turnName }
  /// Why delegated roles were refused at the newest refresh.
  var refusals: String { path + "/" + Self.refusalsName }
  var roots: String { path + "/" + Self.rootsName }
  func root(_ version: Version) -> String { "\(roots)/\(version).json" }
  func metadata(_ role: MetadataRole) -> String {
    switch role {
    case .topLevel(let role): "\(path)/\(role.fileName)"
    // Hashed, because a name may be too long for the disk, or the same as another where letter case does not count.
    case .delegated(let name): "\(path)/\(SHA256.hash(of: name.bytes)).json"
    }
  }

  /// The version that a name in `roots` stands for; nil for a name that is not one of ours.
  static func rootVersion(_ name: [UInt8]) -> Version? {
    let text = String(decoding: name, as: UTF8.self)
    guard text.hasSuffix(".json"), let version = Int64(text.dropLast(5)).flatMap(Version.init), text == "\(version).json" else {
      return nil
    }
    return version
  }
}
