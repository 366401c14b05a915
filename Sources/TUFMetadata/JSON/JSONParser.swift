/// Reads a JSON text once, from left to right, without recursion.
///
/// A value waits in `pending` until the container around it closes; then all children of the container move to the tape together.
struct JSONParser {
  private(set) var tape: [JSONNode] = []
  var text: JSONText
  /// Of the next byte to be read.
  var position = 0

  private let limits: JSONLimits
  /// The children read so far of each open container, one container after another.
  private var pending: [JSONNode] = []
  private var open: [Container] = []
  private var nodeCount = 0
  /// Counts what has been read that is not in canonical form. A container during which it stood still is canonical.
  private var deviations = 0

  private struct Container {
    let kind: JSONValue.Kind
    let start: Int
    /// Where its children begin in `pending`.
    let firstPending: Int
    /// `deviations` at its start.
    let deviations: Int
  }

  init(source: [UInt8], limits: JSONLimits) {
    text = JSONText(source: source)
    self.limits = limits
  }

  /// - Parameter source: the bytes of `text.source`, borrowed once for the whole run.
  mutating func parse(_ source: Span<UInt8>) throws(MetadataError) {
    guard source.count <= limits.byteCount else { throw .syntax(.tooLarge(limit: limits.byteCount), offset: limits.byteCount) }
    try refuseByteOrderMark(source)
    // Typical metadata takes no more than its own size. Memory that is reserved and not used is never touched.
    tape.reserveCapacity(source.count / MemoryLayout<JSONNode>.stride + 1)
    tape.preferLargePages()
    do {
      try parseValues(source)
    } catch {
      // A member that stood twice before the place of the error is the first wrong byte.
      throw earlierDuplicate(than: error)
    }
    // One node is pending: the root.
    tape.append(contentsOf: pending)
    pending = []
    skipWhiteSpace(source)
    if position < source.count { throw .syntax(.trailingBytes, offset: position) }
  }

  private func refuseByteOrderMark(_ source: Span<UInt8>) throws(MetadataError) {
    let isUTF8 = source.count >= 3 && source[0] == 0xEF && source[1] == 0xBB && source[2] == 0xBF
    let isUTF16 = source.count >= 2 && (source[0] == 0xFE && source[1] == 0xFF || source[0] == 0xFF && source[1] == 0xFE)
    if isUTF8 || isUTF16 { throw .syntax(.byteOrderMark, offset: 0) }
  }

  // MARK: Structure

  private mutating func parseValues(_ source: Span<UInt8>) throws(MetadataError) {
    skipWhiteSpace(source)
    if position == source.count { throw .syntax(.empty, offset: position) }
    // White space around the root is not part of it.
    deviations = 0
    while true {
      let start = position
      switch try byte(source) {
      case UInt8(ascii: "{"):
        try enter(.object)
        skipWhiteSpace(source)
        if try byte(source) != UInt8(ascii: "}") {
          try parseName(source)
          continue
        }
      case UInt8(ascii: "["):
        try enter(.array)
        skipWhiteSpace(source)
        if try byte(source) != UInt8(ascii: "]") { continue }
      case UInt8(ascii: "\""): try push(parseString(source))
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try push(parseInteger(source))
      case UInt8(ascii: "t"):
        try expect("true", source)
        try push(.boolean(true, start: start))
      case UInt8(ascii: "f"):
        try expect("false", source)
        try push(.boolean(false, start: start))
      case UInt8(ascii: "n"):
        try expect("null", source)
        try push(.null(start: start))
      case let other: throw .syntax(.unexpectedByte(other), offset: start)
      }
      if try !advanceToNextValue(source) { return }
    }
  }

  /// Closes what ends here, and steps over what stands between two values. False after the end of the root.
  private mutating func advanceToNextValue(_ source: Span<UInt8>) throws(MetadataError) -> Bool {
    while let container = open.last {
      skipWhiteSpace(source)
      let isObject = container.kind == .object
      let next = try byte(source)
      if next == UInt8(ascii: ",") {
        position += 1
        skipWhiteSpace(source)
        if isObject { try parseName(source) }
        return true
      }
      guard next == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { throw .syntax(.unexpectedByte(next), offset: position) }
      position += 1
      try close(container)
    }
    return false
  }

  private mutating func enter(_ kind: JSONValue.Kind) throws(MetadataError) {
    guard open.count < limits.depth else { throw .syntax(.tooDeep(limit: limits.depth), offset: position) }
    open.append(Container(kind: kind, start: position, firstPending: pending.count, deviations: deviations))
    position += 1
  }

  private mutating func close(_ container: Container) throws(MetadataError) {
    if container.kind == .object { try sortMembers(from: container.firstPending) }
    let node = JSONNode.container(
      container.kind, start: UInt32(truncatingIfNeeded: container.start), end: position, firstChild: tape.count,
      childCount: pending.count - container.firstPending, canonical: deviations == container.deviations)
    tape.append(contentsOf: pending[container.firstPending...])
    pending.removeLast(pending.count - container.firstPending)
    open.removeLast()
    try push(node)
  }

  private mutating func parseName(_ source: Span<UInt8>) throws(MetadataError) {
    let first = try byte(source)
    guard first == UInt8(ascii: "\"") else { throw .syntax(.unexpectedByte(first), offset: position) }
    try push(parseString(source))
    skipWhiteSpace(source)
    let colon = try byte(source)
    guard colon == UInt8(ascii: ":") else { throw .syntax(.unexpectedByte(colon), offset: position) }
    position += 1
    skipWhiteSpace(source)
  }

  @inline(__always)
  private mutating func push(_ node: JSONNode) throws(MetadataError) {
    guard nodeCount < limits.valueCount else { throw .syntax(.tooManyValues(limit: limits.valueCount), offset: Int(node.start)) }
    nodeCount += 1
    pending.append(node)
    // A container has counted its own deviations already.
    if !node.isCanonical && node.kind != .object && node.kind != .array { deviations += 1 }
  }

  // MARK: Members

  /// Brings the members of the innermost object into byte order of their names. One pass where they are in that order already.
  private mutating func sortMembers(from first: Int) throws(MetadataError) {
    var isSorted = true
    var index = first + 2
    while index < pending.count {
      if text.order(pending[index - 2], pending[index]) >= 0 {
        isSorted = false
        break
      }
      index += 2
    }
    if isSorted { return }

    deviations += 1
    var members: [JSONMember] = []
    members.reserveCapacity((pending.count - first) / 2)
    for index in stride(from: first, to: pending.count, by: 2) {
      members.append(JSONMember(name: pending[index], value: pending[index + 1]))
    }
    if let name = JSONMember.sort(&members, of: text) {
      // Which duplicate comes first in the text, and where, is found out in `earlierDuplicate`: before the end of the object.
      throw .syntax(.duplicateMember(text.string(name).description), offset: position)
    }
    for (number, member) in members.enumerated() {
      pending[first + 2 * number] = member.name
      pending[first + 2 * number + 1] = member.value
    }
  }

  /// The first member that stands a second time in an object that is still open; `error` where there is none before it.
  private func earlierDuplicate(than error: MetadataError) -> MetadataError {
    guard case .syntax(_, var offset) = error else { return error }
    var result = error
    var end = pending.count
    for container in open.reversed() {
      if container.kind == .object {
        // Names stand at even places; the last may still wait for its value.
        var names = stride(from: container.firstPending, to: end, by: 2).map { pending[$0] }
        names.sort { left, right in
          let order = text.order(left, right)
          return order == 0 ? left.start < right.start : order < 0
        }
        for (left, right) in zip(names, names.dropFirst()) where text.order(left, right) == 0 && Int(right.start) <= offset {
          offset = Int(right.start)
          result = .syntax(.duplicateMember(text.string(right).description), offset: offset)
        }
      }
      end = container.firstPending
    }
    return result
  }

  // MARK: Bytes

  /// The byte at `position`.
  @inline(__always)
  func byte(_ source: Span<UInt8>) throws(MetadataError) -> UInt8 {
    guard position < source.count else { throw .syntax(.unexpectedEnd, offset: position) }
    return source[position]
  }

  @inline(__always)
  private mutating func skipWhiteSpace(_ source: Span<UInt8>) {
    guard position < source.count, source[position] <= UInt8(ascii: " ") else { return }
    let start = position
    while position < source.count {
      switch source[position] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
      case _:
        if position > start { deviations += 1 }
        return
      }
    }
  }

  private mutating func expect(_ literal: StaticString, _ source: Span<UInt8>) throws(MetadataError) {
    for expected in literal.description.utf8 {
      let found = try byte(source)
      guard found == expected else { throw .syntax(.unexpectedByte(found), offset: position) }
      position += 1
    }
  }
}
