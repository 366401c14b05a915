/// A pattern of target paths: `*`, `?` and `[…]` as in the shell, none of which crosses a `/` (TUF 1.0.34 §4.5).
public struct PathPattern: Hashable, Sendable {
  /// The pattern as the metadata has it.
  public let text: ByteString

  public init(_ text: ByteString) { self.text = text }

  /// Whether the pattern matches the whole of a path.
  ///
  /// The time is at most the product of both lengths: a pattern of many stars does not explode.
  public func matches(_ path: TargetPath) -> Bool {
    let pattern = text.bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let segments = path.name.bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return pattern.count == segments.count && zip(pattern, segments).allSatisfy { Self.matches($0, $1) }
  }

  private enum Element {
    case star
    case any
    case scalar(Unicode.Scalar)
    case set(ranges: [ClosedRange<Unicode.Scalar>], negated: Bool)

    func matches(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .star: false
      case .any: true
      case .scalar(let own): own == scalar
      case .set(let ranges, let negated): ranges.contains { $0.contains(scalar) } != negated
      }
    }
  }

  private static func matches(_ pattern: ArraySlice<UInt8>, _ segment: ArraySlice<UInt8>) -> Bool {
    let elements = parse(Array(String(decoding: pattern, as: UTF8.self).unicodeScalars))
    let segment = Array(String(decoding: segment, as: UTF8.self).unicodeScalars)
    var (element, position) = (0, 0)
    var retry: (element: Int, position: Int)?
    while position < segment.count {
      if element < elements.count, case .star = elements[element] {
        retry = (element + 1, position)
        element += 1
      } else if element < elements.count, elements[element].matches(segment[position]) {
        element += 1
        position += 1
      } else if let last = retry {
        // The last star takes one character more; an earlier one never needs to.
        retry = (last.element, last.position + 1)
        (element, position) = (last.element, last.position + 1)
      } else {
        return false
      }
    }
    return elements[element...].allSatisfy { if case .star = $0 { true } else { false } }
  }

  private static func parse(_ scalars: [Unicode.Scalar]) -> [Element] {
    var elements: [Element] = []
    // Known beforehand, so that a pattern of many "[" and no "]" is not searched to its end for each.
    let lastClosing = scalars.lastIndex(of: "]") ?? 0
    var index = 0
    while index < scalars.count {
      switch scalars[index] {
      case "*": elements.append(.star)
      case "?": elements.append(.any)
      case "[":
        if let (set, end) = parseSet(scalars, from: index + 1, lastClosing: lastClosing) {
          elements.append(set)
          index = end
        } else {
          elements.append(.scalar("["))
        }
      case let scalar: elements.append(.scalar(scalar))
      }
      index += 1
    }
    return elements
  }

  // A "]" right after the opening (or after "!") is a member; a set that never closes is an ordinary "[".
  private static func parseSet(_ scalars: [Unicode.Scalar], from start: Int, lastClosing: Int) -> (Element, end: Int)? {
    var index = start
    let negated = index < scalars.count && scalars[index] == "!"
    if negated { index += 1 }
    let first = index
    guard first < lastClosing, let end = scalars[(first + 1)...lastClosing].firstIndex(of: "]") else { return nil }
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    while index < end {
      if index + 2 < end, scalars[index + 1] == "-" {
        if scalars[index] <= scalars[index + 2] { ranges.append(scalars[index]...scalars[index + 2]) }
        index += 3
      } else {
        ranges.append(scalars[index]...scalars[index])
        index += 1
      }
    }
    return (.set(ranges: ranges, negated: negated), end)
  }
}
