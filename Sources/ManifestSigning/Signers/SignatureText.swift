internal import CSodium
internal import Digests
internal import TUFMetadata

/// The signature in what a signing program wrote: 64 bytes raw, or the same in hexadecimal or base64, with blanks and line ends anywhere, as `base64`
/// and `xxd -p` print it.
enum SignatureText {
  /// More than any of the forms has; what goes beyond is noise.
  static let byteLimit = 256

  static func signature(in output: [UInt8]) -> Ed25519Signature? {
    // 64 bytes that end with a line feed are a signature all the same: the length decides.
    if let raw = try? Ed25519Signature(bytes: output) { return raw }
    let text = output.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }
    if text.count == 2 * Ed25519Signature.byteCount {
      let lower = text.map { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) ? $0 | 0x20 : $0 }
      return try? Ed25519Signature(hexadecimal: lower.span)
    }
    guard text.count == 88 || text.count == 86 else { return nil }
    return base64(text, text.count == 88 ? sodium_base64_VARIANT_ORIGINAL : sodium_base64_VARIANT_ORIGINAL_NO_PADDING)
  }

  private static func base64(_ text: [UInt8], _ variant: CInt) -> Ed25519Signature? {
    let characters = text.map { CChar(bitPattern: $0) }
    var bytes = [UInt8](repeating: 0, count: Ed25519Signature.byteCount)
    var length = 0
    // libsodium writes no more than the array holds and reads as many characters as there are.
    let result = unsafe sodium_base642bin(&bytes, bytes.count, characters, characters.count, nil, &length, nil, variant)
    return result == 0 && length == bytes.count ? try? Ed25519Signature(bytes: bytes) : nil
  }
}
