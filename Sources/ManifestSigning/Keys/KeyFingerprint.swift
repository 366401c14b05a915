internal import Digests
public import TUFMetadata

/// A key id that two people can compare by voice: eight numbers of five digits, each two bytes of the id, most significant first.
///
/// That is the first 128 bits: nobody can find a second key with the same ones. Digits are the same in every language that the two may share,
/// need no word list, and none sounds like a letter; whoever distrusts this program recomputes them with a pocket calculator. A group never
/// exceeds 65535, so that most slips of the tongue show at once.
public struct KeyFingerprint: Hashable, Sendable, CustomStringConvertible {
  /// The number of groups.
  public static let groupCount = 8

  public let groups: [UInt16]

  public init(_ id: KeyID) {
    let bytes = id.digest.bytes
    groups = (0..<Self.groupCount).map { UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) }
  }

  /// `04711 65535 …`: the groups with their leading zeros, a space between them.
  public var description: String {
    groups.map { group in
      let digits = String(group)
      return String(repeating: "0", count: 5 - digits.count) + digits
    }.joined(separator: " ")
  }
}
