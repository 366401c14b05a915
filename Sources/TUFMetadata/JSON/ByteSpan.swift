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

  /// How many bytes both have in common, where the first `start` are known to be the same and no more than `end` matter.
  @inline(__always)
  func sharedLength(with other: Span<UInt8>, from start: Int, upTo end: Int) -> Int {
    let end = Swift.min(end, count, other.count)
    var index = start
    while index <= end - 8 {
      let difference = word(at: index) ^ other.word(at: index)
      if difference != 0 { return index + difference.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < end, self[index] == other[index] { index += 1 }
    return index
  }

  /// The first quote or backslash from `start` on; `count` where there is none.
  @inline(__always)
  func firstEscaped(from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var index = start
    while index <= count - 8 {
      let quote = word(at: index) ^ (ones &* 0x22)
      let backslash = word(at: index) ^ (ones &* 0x5C)
      // The high bit of each byte that was one of the two. A borrow sets wrong bits only above the lowest right one.
      let hits = (((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)) & (ones &* 0x80)
      if hits != 0 { return index + hits.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < count, self[index] != 0x22, self[index] != 0x5C { index += 1 }
    return index
  }
}
