/// Why some bytes are not the metadata that they should be.
///
/// Texts in the payloads come from untrusted input; whoever prints them escapes them.
public enum MetadataError: Error, Equatable, Sendable {
  /// The bytes are not JSON as TUF metadata uses it.
  /// - `offset`: of the first byte that is wrong, from 0.
  case syntax(JSONFault, offset: Int)
  /// A member that must be there is missing.
  /// - `path`: the object that lacks it, such as `signed.roles.root`; empty for the outermost one.
  case missingMember(name: String, path: String)
  /// A value has the right syntax and cannot be what stands at this place.
  case invalidValue(path: String, expected: String, found: String)
  /// A key's id is not the SHA-256 of the key's canonical JSON (TUF 1.0.34 §4.3).
  case keyIDMismatch(declared: String, computed: String)
}

/// What is wrong with a JSON text.
public enum JSONFault: Equatable, Sendable {
  case byteOrderMark
  case empty
  case unexpectedEnd
  case unexpectedByte(UInt8)
  case trailingBytes
  case tooDeep(limit: Int)
  case tooLarge(limit: Int)
  case tooManyValues(limit: Int)
  case duplicateMember(String)
  case floatingPointNumber
  case numberOutOfRange
  case leadingZero
  case invalidUTF8
  case loneSurrogate
  case invalidEscape
  case controlCharacter(UInt8)
}

extension MetadataError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .syntax(let fault, let offset): "malformed JSON at byte \(offset): \(fault)"
    case .missingMember(let name, let path): "\(path.isEmpty ? "the metadata" : path) has no member \"\(name)\""
    case .invalidValue(let path, let expected, let found): "\(path): expected \(expected), found \(found)"
    case .keyIDMismatch(let declared, let computed): "the key listed as \(declared) has the key id \(computed)"
    }
  }
}

extension JSONFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .byteOrderMark: "a byte order mark stands before the text"
    case .empty: "there is no value"
    case .unexpectedEnd: "the text ends too early"
    case .unexpectedByte(let byte): "unexpected byte 0x\(String(byte, radix: 16))"
    case .trailingBytes: "more bytes follow the value"
    case .tooDeep(let limit): "arrays and objects are nested deeper than \(limit)"
    case .tooLarge(let limit): "the text is longer than \(limit) bytes"
    case .tooManyValues(let limit): "there are more than \(limit) values"
    case .duplicateMember(let name): "the member \"\(name)\" stands twice in one object"
    case .floatingPointNumber: "a number has a fraction or an exponent; canonical JSON has integers only"
    case .numberOutOfRange: "a number does not fit in 64 signed bits"
    case .leadingZero: "a number begins with a superfluous zero"
    case .invalidUTF8: "a string is not valid UTF-8"
    case .loneSurrogate: "a string holds half of a surrogate pair"
    case .invalidEscape: "a string holds an unknown escape"
    case .controlCharacter(let byte): "a string holds the control character 0x\(String(byte, radix: 16)) unescaped"
    }
  }
}
