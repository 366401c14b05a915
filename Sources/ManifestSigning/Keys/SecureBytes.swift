internal import CSodium
internal import FileIO

/// Secret bytes: in memory of their own, locked into RAM, between guard pages, wiped and freed when they go out of scope.
///
/// The memory comes from `sodium_malloc`, which also keeps it out of core dumps. There is no way to turn the bytes into an
/// `Array`, `String` or `Data`; they are lent to a closure. Room is fixed at the start, so that growing never leaves a copy behind.
@safe public struct SecureBytes: ~Copyable {
  private let base: UnsafeMutablePointer<UInt8>
  /// How many bytes there is room for.
  public let capacity: Int
  /// How many bytes there are.
  public private(set) var count = 0

  /// Empty room for secret bytes.
  /// - Parameter capacity: in bytes.
  /// - Throws: `KeyError.memoryNotLocked` where the memory could reach the swap file, `KeyError.memoryUnavailable`, or
  ///   `KeyError.cryptographyUnavailable`.
  public init(capacity: Int) throws(KeyError) {
    try Sodium.prepare()
    let room = max(capacity, 1)
    guard let address = unsafe sodium_malloc(room) else { throw .memoryUnavailable(byteCount: room) }
    // sodium_malloc returns memory that it could not lock without a word, so that is asked again here.
    if unsafe sodium_mlock(address, room) != 0 {
      ProcessAccess.raiseLockedMemoryLimit()
      if unsafe sodium_mlock(address, room) != 0 {
        let errno = ProcessAccess.lastErrno
        // The block was never handed out: nothing else refers to it.
        unsafe sodium_free(address)
        throw .memoryNotLocked(errno, limit: ProcessAccess.lockedMemoryLimit)
      }
    }
    // sodium_malloc gave `room` bytes that nothing else is bound to.
    unsafe base = address.bindMemory(to: UInt8.self, capacity: room)
    self.capacity = room
  }

  /// Random bytes, fit for a key.
  public init(randomCount: Int) throws(KeyError) {
    try self.init(capacity: randomCount)
    // There is room for `randomCount` bytes.
    unsafe append { free, _ in
      unsafe randombytes_buf(free, randomCount)
      return randomCount
    }
  }

  deinit {
    // sodium_free wipes the bytes, unlocks and unmaps them; the pointer is unique and not used again.
    unsafe sodium_free(base)
  }

  /// Lends the bytes. The closure must not keep a copy.
  public borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    // The first `count` bytes have been written, and `self` is borrowed for the whole call.
    try body(unsafe UnsafeBufferPointer(start: base, count: count).span)
  }

  /// Lends the bytes to C code.
  package borrowing func withUnsafeBytes<R: ~Copyable, E: Error>(_ body: (UnsafePointer<UInt8>, Int) throws(E) -> R) throws(E) -> R {
    // The first `count` bytes have been written, and `self` is borrowed for the whole call.
    try unsafe body(UnsafePointer(base), count)
  }

  /// Lets C code write into the free room.
  /// - Parameter fill: gets the start of the free room and its length, and returns how many bytes it wrote from there.
  package mutating func append<E: Error>(_ fill: (UnsafeMutablePointer<UInt8>, Int) throws(E) -> Int) throws(E) {
    let free = capacity - count
    // From `count` on there are `free` more bytes in the block.
    let written = try unsafe fill(base + count, free)
    count += min(max(written, 0), free)
  }

  /// Adds bytes that are not secret by themselves, such as the clear part of a file.
  /// - Returns: false, adding nothing, where there is no room.
  @discardableResult package mutating func append(_ bytes: some Collection<UInt8>) -> Bool {
    guard bytes.count <= capacity - count else { return false }
    // The index stays below the length of the free room.
    unsafe append { free, room in
      for (index, byte) in bytes.enumerated() where index < room { unsafe free[index] = byte }
      return bytes.count
    }
    return true
  }

  /// Wipes and drops bytes from the end.
  package mutating func removeLast(_ number: Int) {
    let dropped = min(max(number, 0), count)
    count -= dropped
    // The dropped bytes lie within the block, from the new count on.
    unsafe sodium_memzero(base + count, dropped)
  }

  /// Compares in a time that depends on the lengths alone.
  package borrowing func isEqual(to other: borrowing SecureBytes) -> Bool {
    guard count == other.count else { return false }
    // Both blocks hold `count` bytes.
    return unsafe sodium_memcmp(base, other.base, count) == 0
  }
}

// The pointer has one owner, and whoever changes the bytes holds that owner exclusively.
extension SecureBytes: @unchecked Sendable {}
