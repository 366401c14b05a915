internal import FileIO

/// A little space that the store keeps, so that going back is possible on a disk that is full.
extension ModelStore {
  private static let least: Int64 = 64 << 10

  /// Sees to it that a record of some length can be written again when the disk is full, as far as there is space for that now.
  func keepReserve(forRecordOf byteCount: Int) {
    let wanted = Int64(byteCount) + Self.least
    guard let staging = try? makeStaging([]) else { return }
    if let found = try? staging.status(of: StoreName.reserve), found.byteCount >= wanted { return }
    // Zeros would take no space where the file system compresses.
    var generator = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    while bytes.count < wanted { unsafe withUnsafeBytes(of: generator.next()) { unsafe bytes.append(contentsOf: $0) } }
    let file = try? TemporaryFile(
      named: StoreName.reserve, in: staging, path: shown([StoreName.staging, StoreName.reserve]), permissions: 0o600)
    guard let file, (try? file.write(all: bytes.span)) != nil else { return }
    try? file.replace()
  }

  /// - Returns: whether there was any.
  func releaseReserve() -> Bool {
    guard let staging = try? openFolder([StoreName.staging]), (try? staging.remove(StoreName.reserve)) != nil else { return false }
    try? staging.synchronizeNames()
    return true
  }
}
