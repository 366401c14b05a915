/// The version of a metadata file: a whole number from 1 (TUF 1.0.34 §4.3).
public struct Version: Hashable, Sendable, Comparable {
  /// The number, from 1 to 2⁶³ − 1.
  public let number: Int64

  /// The first version of anything.
  public static let first = Version(unchecked: 1)

  /// - Returns: nil where the number is below 1.
  public init?(_ number: Int64) {
    guard number >= 1 else { return nil }
    self.number = number
  }

  private init(unchecked number: Int64) { self.number = number }

  /// The version after this one; nil after the last that can be written, at which a fast-forward attack would leave a repository.
  public var next: Version? { number < Int64.max ? Version(unchecked: number + 1) : nil }

  public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

extension Version: CustomStringConvertible {
  public var description: String { String(number) }
}
