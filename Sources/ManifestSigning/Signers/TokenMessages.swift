/// What the process that has a module loaded is asked for.
struct TokenRequest {
  let uri: String
  /// Whether the PIN is to be had on descriptor 3.
  let hasPIN: Bool
  let message: [UInt8]

  init(uri: String, hasPIN: Bool, message: [UInt8]) {
    self.uri = uri
    self.hasPIN = hasPIN
    self.message = message
  }

  /// A byte for the PIN, the URI, which holds no NUL, a NUL, the message.
  var bytes: [UInt8] { [hasPIN ? 1 : 0] + Array(uri.utf8) + [0] + message }

  init?(_ bytes: [UInt8]) {
    guard let first = bytes.first, first <= 1, let end = bytes.dropFirst().firstIndex(of: 0) else { return nil }
    hasPIN = first == 1
    uri = String(decoding: bytes[1..<end], as: UTF8.self)
    message = Array(bytes[(end + 1)...])
  }
}

/// What it answers. The module could have it say anything: what is believed is a signature that verifies.
enum TokenAnswer: Equatable {
  case signature([UInt8])
  /// The token wants a PIN, and there was none.
  case needsPIN
  case fault(SignerFault)

  /// More than any answer has.
  static let byteLimit = 4096
  /// Without it at the end, an answer was cut off.
  private static let end = Array("\0end".utf8)
  private static let textLimit = 1000

  /// A letter for the case, and what belongs to it, with a NUL between two.
  var bytes: [UInt8] {
    let parts: [[UInt8]] =
      switch self {
      case .signature(let signature): [Array("S".utf8), signature]
      case .needsPIN: [Array("P".utf8)]
      case .fault(let fault): fault.tokenParts.map { Array($0.utf8.prefix(Self.textLimit)) }
      }
    return Array(parts.joined(separator: [0])) + Self.end
  }

  /// - Returns: nil where it is no whole answer.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.end.count, bytes.suffix(Self.end.count).elementsEqual(Self.end) else { return nil }
    let content = bytes.dropLast(Self.end.count)
    if content.starts(with: Array("S\0".utf8)) {
      self = .signature(Array(content.dropFirst(2)))
      return
    }
    let parts = content.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    if parts == ["P"] {
      self = .needsPIN
    } else if let fault = SignerFault(tokenParts: parts) {
      self = .fault(fault)
    } else {
      return nil
    }
  }
}

extension SignerFault {
  /// Faults that a token can have; any other is one of the module.
  fileprivate var tokenParts: [String] {
    switch self {
    case .token(let function, let code): ["T", function, String(code)]
    case .wrongPIN: ["W"]
    case .lockedPIN: ["L"]
    case .notOne(let what, let count): ["N", what, String(count)]
    case .keyType(let type): ["K", String(type)]
    case .module(_, let reason): ["M", reason]
    default: ["M", description]
    }
  }

  fileprivate init?(tokenParts parts: [String]) {
    switch (parts.first, parts.count) {
    case ("T", 3): self = .token(function: parts[1], code: UInt(parts[2]) ?? 0)
    case ("W", 1): self = .wrongPIN
    case ("L", 1): self = .lockedPIN
    case ("N", 3): self = .notOne(of: parts[1], count: Int(parts[2]) ?? 0)
    case ("K", 2): self = .keyType(UInt(parts[1]) ?? 0)
    case ("M", 2): self = .module(path: "", reason: parts[1])
    default: return nil
    }
  }

  /// The same, of the module that was to be loaded, which the answer does not repeat.
  func at(modulePath: String) -> SignerFault {
    if case .module(_, let reason) = self { .module(path: modulePath, reason: reason) } else { self }
  }
}
