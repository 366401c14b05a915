/// A PKCS #11 URI (RFC 7512): which token, which key on it, which module.
///
/// `pkcs11:token=release;object=root-1?module-path=/usr/lib/softhsm/libsofthsm2.so`
struct PKCS11URI: Equatable {
  /// What a text lacks to be such a URI.
  struct Fault: Error, Equatable {
    let reason: String
  }

  /// Each as the URI gives it; nil stands for "any".
  var token: [UInt8]?
  var serial: [UInt8]?
  var manufacturer: [UInt8]?
  var model: [UInt8]?
  var object: [UInt8]?
  var id: [UInt8]?
  var modulePath: String?
  /// `pin-source`, as a path.
  var pinFile: String?

  init(_ text: String) throws(Fault) {
    guard text.hasPrefix("pkcs11:") else { throw Fault(reason: "it does not begin with pkcs11:") }
    let parts = text.dropFirst("pkcs11:".count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    for attribute in (parts.first ?? "").split(separator: ";") { try readPath(attribute) }
    if parts.count == 2 { for attribute in parts[1].split(separator: "&") { try readQuery(attribute) } }
    guard object != nil || id != nil else { throw Fault(reason: "it names no key: give object or id") }
  }

  /// The same for all keys on one token.
  var tokenDescription: String { "\(modulePath ?? "") \([token, serial, manufacturer, model])" }

  private mutating func readPath(_ text: Substring) throws(Fault) {
    let (name, value) = try Self.split(text)
    func set(_ place: WritableKeyPath<Self, [UInt8]?>) throws(Fault) {
      guard self[keyPath: place] == nil else { throw Fault(reason: "\(name) stands twice") }
      self[keyPath: place] = value
    }
    switch name {
    case "token": try set(\.token)
    case "serial": try set(\.serial)
    case "manufacturer": try set(\.manufacturer)
    case "model": try set(\.model)
    case "object": try set(\.object)
    case "id": try set(\.id)
    case "type": guard value == Array("private".utf8) else { throw Fault(reason: "type has to be private, where it is given") }
    // An attribute that is not understood might mean another key: RFC 7512 §2.3 lets it match nothing.
    default: throw Fault(reason: "the attribute \(name) is not known here")
    }
  }

  private mutating func readQuery(_ text: Substring) throws(Fault) {
    let (name, value) = try Self.split(text)
    let path = String(decoding: value, as: UTF8.self)
    switch name {
    case "module-path": modulePath = path
    case "pin-source": pinFile = path.hasPrefix("file:") ? String(path.dropFirst("file:".count)) : path
    case "pin-value": throw Fault(reason: "a PIN must not stand in it: use pin-source, pin_variable, or the prompt")
    default: throw Fault(reason: "the attribute \(name) is not known here")
    }
  }

  /// A name and its value, whose `%XX` are decoded.
  private static func split(_ text: Substring) throws(Fault) -> (String, [UInt8]) {
    guard let equals = text.firstIndex(of: "=") else { throw Fault(reason: "an attribute without \"=\"") }
    let encoded = Array(text[text.index(after: equals)...].utf8)
    var value: [UInt8] = []
    var index = 0
    while index < encoded.count {
      if encoded[index] == UInt8(ascii: "%") {
        guard index + 2 < encoded.count, let high = digit(encoded[index + 1]), let low = digit(encoded[index + 2]) else {
          throw Fault(reason: "\"%\" without two hexadecimal digits")
        }
        value.append(high << 4 | low)
        index += 3
      } else {
        value.append(encoded[index])
        index += 1
      }
    }
    return (String(text[..<equals]), value)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
