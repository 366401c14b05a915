/// Pseudorandom numbers from a seed, so that a failure can be repeated (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }

  /// That many bytes.
  package mutating func bytes(_ count: Int) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count + 8)
    while result.count < count {
      let word = next()
      for shift in stride(from: 0, to: 64, by: 8) { result.append(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
    }
    result.removeLast(result.count - count)
    return result
  }

  /// Cuts a length into pieces of 0 to `largest`.
  package mutating func pieces(of length: Int, largest: Int) -> [Range<Int>] {
    var result: [Range<Int>] = []
    var offset = 0
    while offset < length {
      // As often small as large: the square root of a uniform number would seldom give either end.
      let bound = largest >> Int.random(in: 0...largest.bitWidth - 1 - largest.leadingZeroBitCount, using: &self)
      let end = min(length, offset + Int.random(in: 0...bound, using: &self))
      result.append(offset..<end)
      offset = end
    }
    return result
  }
}
