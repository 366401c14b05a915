/// A cursor over a file's beginning that holds one window of it at a time, so that a header of any length is read in constant memory.
///
/// Every read is checked against the file's length and the header's bound before anything is fetched or allocated.
struct ByteWindow {
  /// The file's length in bytes.
  let length: UInt64
  /// Where the header must have ended; never beyond `length`.
  private(set) var end: UInt64
  /// Why `end` is where it is, for the message.
  private var endIsLimit: Bool

  private let windowLength: Int
  private let read: (_ offset: UInt64, _ count: Int) -> [UInt8]
  private var bytes: [UInt8] = []
  private var start: UInt64 = 0
  private var index = 0

  /// - Parameters:
  ///   - length: the file's length in bytes.
  ///   - limit: how many bytes the header may take.
  ///   - windowLength: bytes asked for at a time.
  ///   - read: the bytes at an offset; fewer than asked for stand for a failure.
  init(length: UInt64, limit: UInt64, windowLength: Int, read: @escaping (_ offset: UInt64, _ count: Int) -> [UInt8]) {
    self.length = length
    self.end = min(length, limit)
    self.endIsLimit = limit < length
    self.windowLength = max(windowLength, 16)
    self.read = read
  }

  /// Where the next byte stands in the file.
  var offset: UInt64 { start + UInt64(index) }

  /// How many bytes are left of the header's bound.
  var remaining: UInt64 { end - offset }

  /// Narrows the bound to the length that a header states for itself; the caller has held it against the file's length.
  mutating func narrow(to newEnd: UInt64) {
    end = min(end, max(newEnd, offset))
    endIsLimit = false
    // What the window holds beyond the bound must not be seen.
    let kept = end - start
    if kept < UInt64(bytes.count) { bytes.removeSubrange(Int(kept)...) }
  }

  /// The next byte without passing it; nil at the bound.
  mutating func peek() throws(ModelFormatError) -> UInt8? {
    if index < bytes.count { return bytes[index] }
    guard offset < end else { return nil }
    try refill()
    return bytes[index]
  }

  /// Passes the byte that `peek` gave.
  mutating func advance() { if index < bytes.count { index += 1 } }

  mutating func byte(of item: HeaderItem) throws(ModelFormatError) -> UInt8 {
    try demand(1, of: item)
    if index == bytes.count { try refill() }
    defer { index += 1 }
    return bytes[index]
  }

  mutating func uint32(of item: HeaderItem) throws(ModelFormatError) -> UInt32 {
    UInt32(truncatingIfNeeded: try littleEndian(4, of: item))
  }

  mutating func uint64(of item: HeaderItem) throws(ModelFormatError) -> UInt64 { try littleEndian(8, of: item) }

  /// The next bytes, which the caller has bounded.
  mutating func take(_ count: UInt64, of item: HeaderItem) throws(ModelFormatError) -> [UInt8] {
    try demand(count, of: item)
    var result: [UInt8] = []
    result.reserveCapacity(Int(count))
    while result.count < Int(count) {
      if index == bytes.count { try refill() }
      let part = min(bytes.count - index, Int(count) - result.count)
      result.append(contentsOf: bytes[index..<index + part])
      index += part
    }
    return result
  }

  /// Passes bytes without fetching those beyond the window.
  mutating func skip(_ count: UInt64, of item: HeaderItem) throws(ModelFormatError) {
    try demand(count, of: item)
    if count <= UInt64(bytes.count - index) {
      index += Int(count)
    } else {
      start = offset + count
      bytes = []
      index = 0
    }
  }

  /// Refuses a count of items that cannot fit in what is left, before anything is done for them.
  func demand(_ count: UInt64, of item: HeaderItem) throws(ModelFormatError) {
    guard count > remaining else { return }
    if endIsLimit { throw .headerTooLong(item, offset: offset, needed: count, limit: end) }
    throw .truncatedHeader(item, offset: offset, needed: count, end: end)
  }

  /// Refuses `count` items of at least `size` bytes each where they cannot fit.
  func demand(_ count: UInt64, itemsOf size: UInt64, of item: HeaderItem) throws(ModelFormatError) {
    let (total, overflow) = count.multipliedReportingOverflow(by: size)
    try demand(overflow ? .max : total, of: item)
  }

  private mutating func littleEndian(_ count: Int, of item: HeaderItem) throws(ModelFormatError) -> UInt64 {
    try demand(UInt64(count), of: item)
    var value: UInt64 = 0
    for position in 0..<count {
      if index == bytes.count { try refill() }
      value |= UInt64(bytes[index]) << UInt64(8 * position)
      index += 1
    }
    return value
  }

  /// Fetches the next window; there is at least one byte left.
  private mutating func refill() throws(ModelFormatError) {
    let next = offset
    let count = Int(min(UInt64(windowLength), end - next))
    let fetched = read(next, count)
    guard fetched.count == count, count > 0 else { throw .shortRead(offset: next, expected: count, found: fetched.count) }
    (bytes, start, index) = (fetched, next, 0)
  }
}
