internal import Digests
public import TUFMetadata

/// How the files of a large catalog are spread over delegated roles by the hashes of their paths (TUF 1.0.34 §4.5, `path_hash_prefixes`): a
/// device that looks one file up fetches the one bin that may list it, and a change signs the bins that it touches.
///
/// Bins are named `bin-0000` and so on by their number, whatever their count: a snapshot has to go on listing what it has listed once
/// (TUF 1.0.34 §5.5.5), so that names of their own for each count would never go away again.
public struct HashBins: Equatable, Sendable {
  /// As many as a device follows delegations in one walk, and a snapshot of them is half a megabyte.
  public static let greatestCount = 1 << 14
  static let namePrefix = "bin-"

  /// A power of two, at least 2.
  public let count: Int

  /// - Returns: nil where it is no power of two from 2 to the greatest count.
  public init?(count: Int) {
    guard (2...Self.greatestCount).contains(count), count & (count - 1) == 0 else { return nil }
    self.count = count
  }

  /// The bins that published targets metadata delegates to; nil where it has none of this kind.
  init?(_ delegations: Delegations) {
    let roles = delegations.roles.filter { Self.isBin($0.name) }
    guard let bins = HashBins(count: roles.count) else { return nil }
    for (number, role) in roles.enumerated() {
      guard role.name == bins.name(number), role.scope == .pathHashPrefixes(bins.prefixes(number)) else { return nil }
    }
    self = bins
  }

  private var bitCount: Int { count.trailingZeroBitCount }

  /// The bin that a path falls into.
  package func number(of path: TargetPath) -> Int {
    let digest = SHA256.hash(of: path.name.bytes).bytes
    // 16 bits number the bins, and a digest has 32 bytes.
    return (Int(digest[0]) << 8 | Int(digest[1])) >> (16 - bitCount)
  }

  package func name(_ number: Int) -> ByteString { ByteString(Self.namePrefix + Self.hexadecimal(number, digitCount: 4)) }

  /// The beginnings of the hashes of a bin's paths, of as few digits as can tell the bins apart.
  package func prefixes(_ number: Int) -> [ByteString] {
    let digitCount = (bitCount + 3) / 4
    let spread = 1 << (4 * digitCount - bitCount)
    return (0..<spread).map { ByteString(Self.hexadecimal(number * spread + $0, digitCount: digitCount)) }
  }

  private static func hexadecimal(_ number: Int, digitCount: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, digitCount - digits.utf8.count)) + digits
  }

  /// Whether a role is a bin, by its name.
  public static func isBin(_ role: ByteString) -> Bool { role.bytes.starts(with: namePrefix.utf8) }

  /// The delegations of the top-level targets: to the teams, and then, the last that a search comes to, to the bins; nil for none.
  /// - Parameters:
  ///   - bins: nil where the files are not spread.
  ///   - keys: who may sign the bins, and how many have to: those of the top-level targets.
  ///   - known: what the root lists.
  ///   - published: the delegations so far, whose teams stay.
  static func delegations(to bins: HashBins?, _ keys: RoleKeys, _ known: [KeyID: Key], keeping published: JSONTree?) -> JSONTree? {
    var members: [ByteString: JSONTree] = [:]
    if case .object(let old)? = published { members = old }
    var teams: [JSONTree] = []
    if case .array(let old)? = members[.roles] { teams = old.filter { !($0.member(.name)?.text.map(isBin) ?? false) } }
    guard bins != nil || !teams.isEmpty else { return nil }
    let teamKeys = Set(teams.flatMap { $0.member(.keyids)?.elements.compactMap(\.text) ?? [] })
    var objects: [ByteString: JSONTree] = [:]
    if case .object(let old)? = members[.keys] { objects = old.filter { teamKeys.contains($0.key) } }
    var roles = teams
    if let bins {
      let publicKeys = keys.keyIDs.compactMap { id in known[id]?.ed25519.map { (ByteString(id.digest.hexadecimal), Key.tree($0)) } }
      objects.merge(publicKeys) { old, _ in old }
      roles += bins.roles(publicKeys.map { .string($0.0) }, threshold: keys.threshold)
    }
    members[.keys] = .object(objects)
    members[.roles] = .array(roles)
    return .object(members)
  }

  private func roles(_ keyIDs: [JSONTree], threshold: Int) -> [JSONTree] {
    (0..<count).map { number in
      .object([
        .keyids: .array(keyIDs), .name: .string(name(number)), .pathHashPrefixes: .array(prefixes(number).map { .string($0) }),
        .terminating: .boolean(true), .threshold: .integer(Int64(threshold)),
      ])
    }
  }

  /// What the snapshot says of a bin.
  ///
  /// Of up to 256 bins it gives length and hash. Of more, only versions: a snapshot of 4096 bins has 123 KB then instead of 530, and whoever
  /// publishes never gives a version twice, so that the version alone tells one file from all others (TUF 1.0.34 §4.4). A file over the length
  /// that clients take of what has no stated length is always described in full.
  func description(_ version: Version, _ bytes: [UInt8]) -> MetadataFile {
    guard count > Self.describedCount, bytes.count <= Self.undescribedByteLimit else {
      return MetadataFile(version: version, byteCount: Int64(bytes.count), hashes: FileHashes(sha256: SHA256.hash(of: bytes)))
    }
    return MetadataFile(version: version, byteCount: nil, hashes: nil)
  }

  private static let describedCount = 256
  private static let undescribedByteLimit = 1_000_000
}

extension JSONTree {
  /// A member of an object; nil where there is none, or this is no object.
  fileprivate func member(_ name: ByteString) -> JSONTree? { if case .object(let members) = self { members[name] } else { nil } }

  fileprivate var text: ByteString? { if case .string(let text) = self { text } else { nil } }

  fileprivate var elements: [JSONTree] { if case .array(let elements) = self { elements } else { [] } }
}
