/// The words and byte sequences by which secret keys of every form show that can be imported, wherever they stand in some bytes.
///
/// Texts are found in UTF-16 too, where a zero byte stands between their characters. What only speaks of a secret key, as documentation does,
/// has no long word of its digits behind the marker and is none.
enum SecretMarkers {
  /// - Parameter isSecretHalf: whether some bytes are the bare secret half of a key, which are looked for in pairs of digits with colons between.
  static func stand(in bytes: Span<UInt8>, isSecretHalf: ([UInt8]) -> Bool) -> Bool {
    var pairsEnd = 0
    let table = mayBegin
    let mayBegin = table.span
    var start = 0
    while start < bytes.count {
      let end = min(start + 16, bytes.count)
      defer { start = end }
      guard end - start < 16 || mayBegin16(in: bytes, from: start) else { continue }
      for index in start..<end where mayBegin[Int(bytes[index])] {
        let isFound =
          switch bytes[index] {
          case UInt8(ascii: "-"): isPEM(bytes, at: index)
          case UInt8(ascii: "p"): isPrinted(bytes, at: index)
          case UInt8(ascii: ":") where index >= pairsEnd: holdsPairs(bytes, around: index, end: &pairsEnd, isSecretHalf)
          case UInt8(ascii: "m"): isOwn(bytes, at: index)
          case UInt8(ascii: "R"): isMinisign(bytes, at: index)
          case 0x30: matches(ed25519, bytes, at: index, 1)
          case 0x06: matches(pbes2, bytes, at: index, 1)
          default: false
          }
        if isFound { return true }
      }
    }
    return false
  }

  /// With what a marker may begin.
  private static let beginnings = Array("-p:mR".utf8) + [0x30, 0x06]
  private static let mayBegin: [Bool] = (UInt8.min...UInt8.max).map(beginnings.contains)

  /// Whether a marker may begin in the next sixteen bytes. All bytes of a catalog's small files are looked at here, and in weights most sixteen
  /// have none.
  private static func mayBegin16(in bytes: Span<UInt8>, from start: Int) -> Bool {
    // Unsafe only in that padding could be read, of which bytes have none; that there are sixteen is checked.
    let sixteen = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: SIMD16<UInt8>.self)
    var found = SIMDMask<SIMD16<Int8>>(repeating: false)
    for beginning in beginnings { found .|= sixteen .== SIMD16(repeating: beginning) }
    return any(found)
  }

  /// The algorithm of an Ed25519 key in PKCS #8 (RFC 8410 §7), and the octet string of 32 bytes in another that follows it.
  private static let ed25519: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20]
  /// Any key that is encrypted under PBES2 (RFC 8018 §6.2).
  private static let pbes2: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0D]
  private static let own = Array("manifest-sign secret key ".utf8)
  private static let ownLabels = [Array("seed: ".utf8), Array("ciphertext: ".utf8)]
  private static let begin = Array("-----BEGIN ".utf8)
  /// Base64 of "Ed", the key derivation ("Sc" or none) and the checksum algorithm "B2": a public key and a signature have random bytes there.
  private static let minisign = [Array("RWRTY0Iy".utf8), Array("RWQAAEIy".utf8)]

  private static let printedLabels = [Array("priv:".utf8), Array("privateExponent:".utf8)]
  /// Fewer bytes than any private key has, and more than a fingerprint that documentation may show.
  private static let leastPrinted = 24
  /// Of a seed; of seed and public key, or of an expanded key; of that with its public half.
  private static let secretLengths = [32, 64, 96]

  /// How far behind a marker its secret is looked for, in characters.
  private static let reach = 2048

  private static func isOwn(_ bytes: Span<UInt8>, at start: Int) -> Bool {
    let stride = stride(bytes, start)
    guard matches(own, bytes, at: start, stride) else { return false }
    // The public half has as many digits, and is none.
    return Swift.stride(from: start, to: min(bytes.count, start + reach * stride), by: stride).contains { index in
      ownLabels.contains { label in
        matches(label, bytes, at: index, stride)
          && wordLength(bytes, from: index + label.count * stride, stride, EncodedText.isHexadecimal) >= 48
      }
    }
  }

  /// What `openssl pkey -text` prints before the digits of a private key of any kind.
  private static func isPrinted(_ bytes: Span<UInt8>, at start: Int) -> Bool {
    let stride = stride(bytes, start)
    guard let label = printedLabels.first(where: { matches($0, bytes, at: start, stride) }) else { return false }
    var index = start + label.count * stride
    skipBlanks(bytes, &index, stride)
    return pairs(bytes, from: index, stride).values.count >= leastPrinted
  }

  /// Whether pairs of digits with colons between, of which this is the first colon, are the secret half of a key. A word before them may end in digits.
  private static func holdsPairs(_ bytes: Span<UInt8>, around colon: Int, end: inout Int, _ isSecretHalf: ([UInt8]) -> Bool) -> Bool {
    let stride = stride(bytes, colon)
    guard colon >= 2 * stride, EncodedText.isHexadecimal(bytes[colon - stride]), EncodedText.isHexadecimal(bytes[colon - 2 * stride]) else {
      return false
    }
    let found = pairs(bytes, from: colon - 2 * stride, stride)
    end = found.end
    let values = found.values
    return secretLengths.contains { length in
      guard values.count >= length else { return false }
      let starts = Set([0, 1, 2, values.count - length].filter { $0 + length <= values.count })
      return starts.contains { isSecretHalf(Array(values[$0..<$0 + length])) }
    }
  }

  /// What `4c:cd:08` stands for, with blanks and line ends behind any colon, and where it ends.
  private static func pairs(_ bytes: Span<UInt8>, from start: Int, _ stride: Int) -> (values: [UInt8], end: Int) {
    var (digits, index): ([UInt8], Int) = ([], start)
    while index + stride < bytes.count, EncodedText.isHexadecimal(bytes[index]), EncodedText.isHexadecimal(bytes[index + stride]) {
      digits += [bytes[index], bytes[index + stride]]
      index += 2 * stride
      guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { break }
      index += stride
      skipBlanks(bytes, &index, stride)
    }
    return (EncodedText.decodeHexadecimal(digits[...]), index)
  }

  private static func skipBlanks(_ bytes: Span<UInt8>, _ index: inout Int, _ stride: Int) {
    while index < bytes.count, bytes[index] == 0x20 || (0x09...0x0D).contains(bytes[index]) { index += stride }
  }

  private static func isMinisign(_ bytes: Span<UInt8>, at start: Int) -> Bool {
    let stride = stride(bytes, start)
    guard minisign.contains(where: { matches($0, bytes, at: start, stride) }) else { return false }
    // The whole has 212 characters; a public key has 56.
    return wordLength(bytes, from: start, stride, EncodedText.isBase64) >= 60
  }

  /// PEM of any kind of private key, PGP's and OpenSSH's too.
  private static func isPEM(_ bytes: Span<UInt8>, at start: Int) -> Bool {
    let stride = stride(bytes, start)
    guard matches(begin, bytes, at: start, stride) else { return false }
    var (label, index): ([UInt8], Int) = ([], start + begin.count * stride)
    while index < bytes.count, label.count < 64, bytes[index] != UInt8(ascii: "-") {
      label.append(bytes[index])
      index += stride
    }
    guard index < bytes.count, bytes[index] == UInt8(ascii: "-") else { return false }
    let text = String(decoding: label, as: UTF8.self)
    guard text.hasSuffix("PRIVATE KEY") || text.hasSuffix("PRIVATE KEY BLOCK") else { return false }
    return hasWord(bytes, from: index, stride, atLeast: 24, EncodedText.isBase64)
  }

  private static func stride(_ bytes: Span<UInt8>, _ start: Int) -> Int { start + 1 < bytes.count && bytes[start + 1] == 0 ? 2 : 1 }

  private static func matches(_ word: [UInt8], _ bytes: Span<UInt8>, at start: Int, _ stride: Int) -> Bool {
    guard (word.count - 1) * stride < bytes.count - start else { return false }
    for (offset, byte) in word.enumerated() {
      guard bytes[start + offset * stride] == byte else { return false }
      if stride == 2, offset > 0, bytes[start + offset * stride - 1] != 0 { return false }
    }
    return true
  }

  private static func hasWord(
    _ bytes: Span<UInt8>, from start: Int, _ stride: Int, atLeast count: Int, _ isIn: (UInt8) -> Bool
  ) -> Bool {
    let end = min(bytes.count, start + reach * stride)
    var index = start
    while index < end {
      let length = wordLength(bytes, from: index, stride, isIn)
      if length >= count { return true }
      index += (length + 1) * stride
    }
    return false
  }

  private static func wordLength(_ bytes: Span<UInt8>, from start: Int, _ stride: Int, _ isIn: (UInt8) -> Bool) -> Int {
    var index = start
    while index < bytes.count, isIn(bytes[index]) { index += stride }
    return (index - start) / stride
  }
}
