/// The one block of a PEM file (RFC 7468): where its base64 stands, and what its label promises.
struct PEMBlock: Equatable {
  let isEncrypted: Bool
  let body: Range<Int>

  /// - Throws: `notImportable`: for a block of another kind, and for anything before or behind the block.
  init(_ text: Span<UInt8>) throws(KeyError) {
    let (begin, dashes) = ("-----BEGIN ", "-----")
    guard SecretText.hasPrefix(begin, in: text), let labelEnd = SecretText.position(of: dashes, in: text, from: begin.utf8.count) else {
      throw .notImportable(.malformed("PEM"))
    }
    // The label is no secret, and too long a one is none that is known.
    var label = ""
    for index in begin.utf8.count..<min(labelEnd, begin.utf8.count + 64) { label.unicodeScalars.append(Unicode.Scalar(text[index])) }
    switch label {
    case "PRIVATE KEY": isEncrypted = false
    case "ENCRYPTED PRIVATE KEY": isEncrypted = true
    case "OPENSSH PRIVATE KEY": throw .notImportable(.openSSH)
    case _ where label.hasSuffix("PRIVATE KEY"): throw .notImportable(.otherAlgorithm)
    default: throw .notImportable(.notSecret)
    }
    let start = labelEnd + dashes.utf8.count
    let endLine = "-----END \(label)-----"
    guard let end = SecretText.position(of: endLine, in: text, from: start) else { throw .notImportable(.malformed("PEM")) }
    let rest = SecretText.withoutLineEnd(end + endLine.utf8.count..<text.count, in: text)
    guard rest.isEmpty, start < end, text[end - 1] == UInt8(ascii: "\n") else { throw .notImportable(.malformed("PEM")) }
    body = start..<end
  }
}
