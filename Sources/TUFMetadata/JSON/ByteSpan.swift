extension Span<UInt8> {
  /// Eight bytes, the first one lowest. The bounds are checked.
  @inline(__always)
  func word(at offset: Int) -> UInt64 {
    // Unsafe only for types that have invalid bit patterns; UInt64 has none, and the load checks its bounds.
    UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The order of the unsigned bytes, a prefix first: below 0 where this comes first, 0 where both are equal.
  @inline(__always)
  func byteOrder(to other: Span<UInt8>) -> Int {
    let common = Swift.min(count, other.count)
    var index = 0
    // Paths share long beginnings: eight bytes at a time.
    while index <= common - 8 {
      let left = word(at: index)
      let right = other.word(at: index)
      if left != right { return left.byteSwapped < right.byteSwapped ? -1 : 1 }
      index += 8
    }
    while index < common {
      if self[index] != other[index] { return self[index] < other[index] ? -1 : 1 }
      index += 1
    }
    return count == other.count ? 0 : count < other.count ? -1 : 1
  }
}
