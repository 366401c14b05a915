package import TUFMetadata

/// Which of two version names is the newer one, where nobody has said it: in a derived description the newest stands first.
///
/// Names are compared piece by piece. Digits next to each other are one number and are compared as numbers, so that 1.10 is newer
/// than 1.9; other bytes are compared as bytes. A name that only goes on where the other ends is the newer one (1.2.1 after 1.2),
/// unless it goes on with "-": then it is a pre-release of the other (1.2-rc1 before 1.2, as SemVer 2.0 §11 has it).
package enum VersionOrder {
  package static func isNewer(_ left: ByteString, than right: ByteString) -> Bool { order(left.bytes, right.bytes) > 0 }

  /// Below 0 where `left` is the older one; 0 only for equal bytes.
  package static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var (rest, otherRest) = (left[...], right[...])
    while let byte = rest.first, let otherByte = otherRest.first {
      if isDigit(byte), isDigit(otherByte) {
        let (number, otherNumber) = (takeNumber(&rest), takeNumber(&otherRest))
        if number.count != otherNumber.count { return number.count < otherNumber.count ? -1 : 1 }
        if number != otherNumber { return number.lexicographicallyPrecedes(otherNumber) ? -1 : 1 }
      } else {
        if byte != otherByte { return byte < otherByte ? -1 : 1 }
        rest.removeFirst()
        otherRest.removeFirst()
      }
    }
    if let byte = rest.first { return byte == UInt8(ascii: "-") ? -1 : 1 }
    if let byte = otherRest.first { return byte == UInt8(ascii: "-") ? 1 : -1 }
    // Equal but for zeros before numbers: the bytes decide, so that the order is total.
    return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// The digits of a number without the zeros before it, whatever their number: nothing overflows.
  private static func takeNumber(_ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = bytes.prefix(while: isDigit)
    bytes = bytes[digits.endIndex...]
    return digits.drop { $0 == 0x30 }
  }
}
