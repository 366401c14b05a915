internal import FileIO
public import TUFMetadata

/// How long each role's metadata lives, and who holds which key: `keys/policy.json`, which is shared and holds no secret.
///
/// Where the catalog is spread over bins, their number stands there as well, as `"bins": 256`; and where machines hash parts of it, the names of
/// their keys, as `"machines": ["machine-1"]`.
/// ```json
/// {"holders": {"root-1": "Alice"}, "lifetimes": {"root": 365, "snapshot": 30, "targets": 365, "timestamp": 14}}
/// ```
public struct Policy: Equatable, Sendable {
  /// Days from signing to expiry.
  public var lifetimes: [TopLevelRole: Int]
  /// The people who hold the keys, by the keys' names.
  public var holders: [String: String]
  /// The roles that the files are spread over; nil where the top-level targets list all of them.
  public var bins: HashBins?
  /// The names of the keys of machines whose fragments are merged, as they lie in `keys`.
  public var machines: [String] = []

  /// The lifetimes that hold unless told otherwise, in days.
  public static let standardLifetimes: [TopLevelRole: Int] = [.root: 365, .targets: 365, .snapshot: 30, .timestamp: 14]
  /// The lifetimes that can be chosen, in days.
  public static let lifetimeBounds = 1...36_500
  private static let byteLimit = 1 << 20

  public init(lifetimes: [TopLevelRole: Int] = [:], holders: [String: String] = [:], bins: HashBins? = nil) {
    self.lifetimes = Self.standardLifetimes.merging(lifetimes) { _, chosen in chosen }
    self.holders = holders
    self.bins = bins
  }

  /// Days from signing to expiry of a role's metadata.
  public func lifetime(of role: TopLevelRole) -> Int { lifetimes[role] ?? Self.standardLifetimes[role] ?? 1 }

  /// Whether metadata should be signed again: its last third has begun.
  public func isDue(_ role: TopLevelRole, expires: UTCTime, at now: UTCTime) -> Bool {
    expires.secondsSince1970 - now.secondsSince1970 <= Int64(lifetime(of: role)) * 86_400 / 3
  }

  package static func read(_ path: String) throws(SigningError) -> Policy {
    let bytes = try onDisk { () throws(FileError) in try readFile(path, limit: byteLimit) }
    do { return try Policy(JSONDocument(parsing: bytes).root) } catch { throw .metadata(path: path, error) }
  }

  private init(_ json: JSONValue) throws(MetadataError) {
    try json.requireObject()
    var lifetimes: [TopLevelRole: Int] = [:]
    _ = try json.readIfPresent("lifetimes") { object throws(MetadataError) in
      try object.requireObject()
      for (name, value) in object.members {
        guard let role = TopLevelRole(rawValue: name.description) else {
          throw .invalidValue(path: name.description, expected: "one of the four roles", found: "another name")
        }
        do throws(MetadataError) { lifetimes[role] = Int(try value.requireInteger(in: 1...Int64(Self.lifetimeBounds.upperBound))) } catch {
          throw error.within(name)
        }
      }
    }
    var holders: [String: String] = [:]
    _ = try json.readIfPresent("holders") { object throws(MetadataError) in
      try object.requireObject()
      for (name, value) in object.members { holders[name.description] = try value.requireString().description }
    }
    let bins = try json.readIfPresent("bins") { value throws(MetadataError) in
      guard let bins = HashBins(count: Int(clamping: try value.requireInteger(in: 1...Int64(HashBins.greatestCount)))) else {
        throw value.unexpected("a power of two from 2 to \(HashBins.greatestCount)")
      }
      return bins
    }
    self.init(lifetimes: lifetimes, holders: holders, bins: bins)
    machines =
      try json.readIfPresent("machines") { value throws(MetadataError) in
        try value.requireElements { name throws(MetadataError) in try name.requireString().description }
      } ?? []
  }

  var bytes: [UInt8] { PrettyJSON.bytes(tree, order: []) }

  private var tree: JSONTree {
    var members: [ByteString: JSONTree] = [
      "holders": .object(
        Dictionary(holders.map { (ByteString($0.key), .string(ByteString($0.value))) }, uniquingKeysWith: { first, _ in first })),
      "lifetimes": .object(
        Dictionary(lifetimes.map { ($0.key.name, .integer(Int64($0.value))) }, uniquingKeysWith: { first, _ in first })),
    ]
    if !machines.isEmpty { members["machines"] = .array(machines.map { .string(ByteString($0)) }) }
    members["bins"] = bins.map { .integer(Int64($0.count)) }
    return .object(members)
  }
}
