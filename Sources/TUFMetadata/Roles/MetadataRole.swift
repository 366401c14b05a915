/// A role that has a metadata file of its own: one of the four, or one that a targets role delegates to.
public enum MetadataRole: Hashable, Sendable {
  case topLevel(TopLevelRole)
  /// Never bears a top-level role's name.
  case delegated(ByteString)

  public static let root = MetadataRole.topLevel(.root)
  public static let timestamp = MetadataRole.topLevel(.timestamp)
  public static let snapshot = MetadataRole.topLevel(.snapshot)
  public static let targets = MetadataRole.topLevel(.targets)

  /// The role's name as metadata writes it.
  public var name: ByteString {
    switch self {
    case .topLevel(let role): role.name
    case .delegated(let name): name
    }
  }

  /// The name under which a snapshot lists the role's file: not encoded in any way (TUF 1.0.34 §4.4).
  package var snapshotName: ByteString { ByteString(name.bytes + Array(".json".utf8)) }

  /// The name of the role's file in a URL or folder, without a version: all but letters, digits, `-`, `.`, `_` and `~` is
  /// percent-encoded, a `/` too, so that `../x` stays one harmless name.
  public var fileName: String {
    let encoded = name.bytes.map { byte -> String in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
        String(UnicodeScalar(byte))
      default:
        (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded.joined() + ".json"
  }
}
