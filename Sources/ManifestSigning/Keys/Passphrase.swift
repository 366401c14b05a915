/// What opens a secret key file. Its bytes are used as they are: no Unicode normal form, no trimming but of one line end.
public struct Passphrase: ~Copyable, Sendable {
  /// The longest passphrase, in bytes; with what a buffer needs besides, it fits in one locked page.
  public static let byteLimit = 1024

  let bytes: SecureBytes

  /// - Parameter bytes: at most `byteLimit`; none at all is a passphrase too.
  /// - Throws: `KeyError.passphraseTooLong`.
  public init(_ bytes: consuming SecureBytes) throws(KeyError) {
    guard bytes.count <= Self.byteLimit else { throw .passphraseTooLong(limit: Self.byteLimit) }
    self.bytes = bytes
  }

  /// The content of a file or pipe: one line end (LF or CRLF) at its end is not part of the passphrase.
  init(fileContent: consuming SecureBytes) throws(KeyError) {
    let (lineFeed, carriageReturn) = fileContent.withBytes { bytes in
      let lineFeed = !bytes.isEmpty && bytes[bytes.count - 1] == UInt8(ascii: "\n")
      return (lineFeed, lineFeed && bytes.count > 1 && bytes[bytes.count - 2] == UInt8(ascii: "\r"))
    }
    fileContent.removeLast((lineFeed ? 1 : 0) + (carriageReturn ? 1 : 0))
    try self.init(fileContent)
  }

  /// Whether there are no bytes.
  public var isEmpty: Bool { bytes.count == 0 }

  /// Compares in a time that depends on the lengths alone.
  func isEqual(to other: borrowing Passphrase) -> Bool { bytes.isEqual(to: other.bytes) }
}
