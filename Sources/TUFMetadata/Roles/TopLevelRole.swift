/// The four roles that every repository has (TUF 1.0.34 §2.1).
public enum TopLevelRole: String, Hashable, Sendable, CaseIterable {
  case root, timestamp, snapshot, targets

  /// The role's name as metadata writes it.
  public var name: ByteString { ByteString(rawValue) }

  /// The name of the role's file without a version: `root.json` and so on.
  public var fileName: String { rawValue + ".json" }

  /// Whether a delegated role may not bear this name, because its file could be taken for a top-level role's.
  static func isReserved(_ name: ByteString) -> Bool { allCases.contains { $0.name == name } }
}

extension TopLevelRole: CustomStringConvertible {
  public var description: String { rawValue }
}
