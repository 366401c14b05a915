/// How much a JSON text may ask of its reader. Each limit stops one attack.
package struct JSONLimits: Equatable, Sendable {
  /// The deepest nesting that any caller can allow. Trees are walked and released recursively, so the stack bounds them.
  package static let greatestDepth = 1000
  /// The longest text that any caller can allow: the tape has 32-bit offsets.
  package static let greatestByteCount = Int(UInt32.max)
  /// The most values that any caller can allow: the tape has 27 bits for a count.
  package static let greatestValueCount = (1 << 27) - 1

  /// How many arrays and objects may be open at once. Stops the 100,000 brackets that exhaust a stack.
  package let depth: Int
  /// How many bytes the text may have. Stops a mirror that sends without end; whoever fetches applies it to the transfer too.
  package let byteCount: Int
  /// How many values and member names there may be. Stops `[0,0,0,…]`, which takes eight times its own size in memory.
  package let valueCount: Int

  /// A limit below 0 is taken for 0, one above what the reader can hold for the greatest that it can.
  package init(depth: Int = 32, byteCount: Int = greatestByteCount, valueCount: Int = greatestValueCount) {
    self.depth = min(max(depth, 0), Self.greatestDepth)
    self.byteCount = min(max(byteCount, 0), Self.greatestByteCount)
    self.valueCount = min(max(valueCount, 0), Self.greatestValueCount)
  }
}
