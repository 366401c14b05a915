internal import FileIO

/// A little space that the store keeps, so that going back is possible on a disk that is full.
extension ModelStore {
  private static let least: Int64 = 64 << 10

  /// What is kept where a record is so long.
  static func reserveByteCount(forRecordOf byteCount: Int64) -> Int64 { byteCount.addingReportingOverflow(least).partialValue }

  /// What is kept now.
  var reservedByteCount: Int64 {
    guard let found = try? folder.status(of: StoreName.reserve), found.kind == .regular else { return 0 }
    return found.byteCount
  }

  /// Sees to it that a record of some length can be written again when the disk is full, as far as there is space for that now.
  func keepReserve(forRecordOf byteCount: Int) {
    let wanted = Self.reserveByteCount(forRecordOf: Int64(byteCount))
    guard reservedByteCount < wanted else { return }
    // Zeros would take no space where the file system compresses.
    var generator = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    while bytes.count < wanted {
      let word = generator.next()
      for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    guard let top = try? folder.reopened(),
      let file = try? TemporaryFile(named: StoreName.reserve, in: top, path: shown([StoreName.reserve]), permissions: 0o600),
      (try? file.write(all: bytes.span)) != nil
    else { return }
    try? file.replace()
  }

  /// - Returns: whether there was any.
  func releaseReserve() -> Bool {
    guard (try? folder.remove(StoreName.reserve)) != nil else { return false }
    try? folder.synchronizeNames()
    return true
  }
}
