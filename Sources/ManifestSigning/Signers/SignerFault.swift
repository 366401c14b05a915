public import FileIO

/// Why an external signer gave no signature. Nothing that it printed is believed; what is shown of it is cut short, and escaped where it is printed.
public enum SignerFault: Error, Equatable, Sendable {
  /// The message is longer than what the signer takes; found before anything is signed.
  case messageTooLong(byteCount: Int, limit: Int)
  /// The person wants the command to end; the signer was ended first.
  case interrupted
  /// The program can't be started.
  case notStarted(Errno)
  /// It did not finish in time, and was ended.
  case timedOut(seconds: Int)
  /// It ended with another status than 0; `messages` is the end of its standard error.
  case failed(status: Int32, messages: String)
  /// A signal ended it.
  case killed(signal: Int32, messages: String)
  /// What it wrote is no signature: neither 64 bytes, nor these in hexadecimal or base64.
  case noise(byteCount: Int, messages: String)
  /// The signature is not one of the key over these bytes.
  case otherKey
  /// The configuration names no public half, and `keys` holds none.
  case unknownPublicKey
  /// The PKCS #11 module can't be loaded.
  case module(path: String, reason: String)
  /// A function of the module failed.
  case token(function: String, code: UInt)
  /// The key on the token is of another kind than Ed25519.
  case keyType(UInt)
  /// The PIN is wrong; it is tried once, so that the token does not lock itself.
  case wrongPIN
  case lockedPIN
  /// There is no PIN to be had: no terminal to ask at, and this variable is not set.
  case noPIN(variable: String)
  /// The PIN that is there can't be used.
  /// - `path`: where it is, or empty where it was typed.
  case unusablePIN(KeyError, path: String)
  /// The file of the PIN can't be read.
  case pinFile(path: String, Errno)
  /// Not exactly one token, or key on it, is what the URI says.
  case notOne(of: String, count: Int)
}

extension SignerFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .messageTooLong(let byteCount, let limit): "\(byteCount) bytes are to be signed, and it takes \(limit) at most; nothing was signed"
    case .interrupted: "interrupted"
    case .notStarted(let errno): "its program can't be started: \(errno)"
    case .timedOut(let seconds): "it did not answer within \(seconds) seconds, and was ended"
    case .failed(let status, let messages): "its program ended with status \(status)\(Self.said(messages))"
    case .killed(let signal, let messages): "signal \(signal) ended its program\(Self.said(messages))"
    case .noise(let byteCount, let messages):
      "it wrote \(byteCount) bytes that are no signature: expected 64 bytes, or these in hexadecimal or base64\(Self.said(messages))"
    case .otherKey: "what it wrote is not a signature of this key over these bytes: it signs with another key, or signs something else"
    case .unknownPublicKey: "its public half is not known: give public_key instead of key_id, or put it into keys as PEM"
    case .module(let path, let reason): "the PKCS #11 module \(path) can't be used: \(reason)"
    case .token(let function, let code): "\(function) of the PKCS #11 module failed with 0x\(String(code, radix: 16))"
    case .keyType(let type):
      "the key on the token is no Ed25519 key: its type is 0x\(String(type, radix: 16))\(type == 0 ? ", RSA" : type == 3 ? ", ECDSA" : "")"
    case .wrongPIN: "the PIN is wrong; it was tried once only, since a token locks itself after a few"
    case .lockedPIN: "the PIN is locked after too many wrong ones"
    case .noPIN(let variable):
      "its PIN is needed and there is no terminal to ask at: set \(variable), or name a file that holds it as pin_file in signers.json"
    case .unusablePIN(.passphraseTooLong(let limit), _): "its PIN is longer than \(limit) bytes"
    case .unusablePIN(let error, let path): "its PIN can't be used: \(path.isEmpty ? "" : path + ": ")\(error)"
    case .pinFile(let path, let errno): "its PIN can't be read from \(path): \(errno)"
    case .notOne(let what, let count): "\(count) \(what) match the URI; exactly one has to"
    }
  }

  /// What to do about it; nil where nothing more can be said than of any signer.
  public var hint: String? {
    switch self {
    case .unusablePIN(let error, let path): error.hint(path: path)
    case .messageTooLong: "give the role a key that can sign more, or have the signer take more"
    case .wrongPIN: "see how many tries are left before the token locks itself, and correct the PIN"
    case .lockedPIN: "the security officer of the token can unlock it with its own PIN"
    case .noPIN, .pinFile: "nothing was signed or changed"
    default: nil
    }
  }

  private static func said(_ messages: String) -> String { messages.isEmpty ? "" : "; it said: \(messages)" }
}
