internal import FileIO

/// The files in a tar archive that is not compressed: POSIX.1-2017, pax §ustar, whose headers GNU tar's begin like.
enum TarMembers {
  struct Member {
    let offset: Int64
    let byteCount: Int64
  }

  private static let blockByteCount = 512
  /// Keeps an endless archive from an endless search.
  private static let memberLimit = 100_000

  static func isArchive(_ header: Span<UInt8>) -> Bool {
    header.count >= blockByteCount && "ustar".utf8.enumerated().allSatisfy { header[257 + $0.offset] == $0.element }
  }

  /// As far as the headers can be read.
  static func list(_ file: borrowing FileDescriptor) throws(Errno) -> [Member] {
    var members: [Member] = []
    var header = [UInt8](repeating: 0, count: blockByteCount)
    var offset: Int64 = 0
    while members.count < memberLimit, try file.fill(&header, at: offset) == blockByteCount, isArchive(header.span) {
      guard let byteCount = byteCount(header) else { break }
      members.append(Member(offset: offset + Int64(blockByteCount), byteCount: byteCount))
      let (end, overflow) = offset.addingReportingOverflow((byteCount + 1023) / 512 * 512)
      guard !overflow else { break }
      offset = end
    }
    return members
  }

  /// The octal digits of the field; nil for the binary form, which only files of 8 GiB and more need.
  private static func byteCount(_ header: [UInt8]) -> Int64? {
    var value: Int64 = 0
    for byte in header[124..<136] {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "7"): value = value << 3 | Int64(byte - UInt8(ascii: "0"))
      case 0, UInt8(ascii: " "): continue
      default: return nil
      }
    }
    return value
  }
}
