internal import TUFMetadata

/// A key on a PKCS #11 token. Its module is loaded into a process of its own for each signature, so that one that hangs or crashes, or reads what is
/// in memory, is no worse than a program that signs.
final class PKCS11Source: SignatureSource {
  /// Lends the PIN to a use of it; asked for only where the token wants it.
  typealias WithPIN = (_ use: (borrowing Passphrase) throws(SignerFault) -> Void) throws(SignerFault) -> Void

  struct Settings {
    let uri: String
    let modulePath: String
    /// How long the token may take for a signature.
    let seconds: Int
  }

  private let settings: Settings
  private let isCancelled: () -> Bool
  private let withPIN: WithPIN
  private var needsPIN = false

  init(_ settings: Settings, isCancelled: @escaping () -> Bool, withPIN: @escaping WithPIN) {
    self.settings = settings
    self.isCancelled = isCancelled
    self.withPIN = withPIN
  }

  func signature(over message: [UInt8]) throws(SignerFault) -> Ed25519Signature {
    if !needsPIN {
      if case .signature(let bytes) = try ask(message, pin: nil) { return try Self.signature(bytes) }
      needsPIN = true
    }
    let pipe = try PipeEnds()
    try withPIN { (pin) throws(SignerFault) in try pipe.fill(with: pin.bytes) }
    guard case .signature(let bytes) = try ask(message, pin: pipe) else {
      throw .module(path: settings.modulePath, reason: "it wants a PIN twice")
    }
    return try Self.signature(bytes)
  }

  private static func signature(_ bytes: [UInt8]) throws(SignerFault) -> Ed25519Signature {
    guard let signature = try? Ed25519Signature(bytes: bytes) else { throw .noise(byteCount: bytes.count, messages: "") }
    return signature
  }

  private func ask(_ message: [UInt8], pin: PipeEnds?) throws(SignerFault) -> TokenAnswer {
    guard let words = TokenProcess.words else {
      throw .module(path: settings.modulePath, reason: "this program does not call TokenProcess.serveIfAsked() when it starts")
    }
    let request = TokenRequest(uri: settings.uri, hasPIN: pin != nil, message: message)
    let outcome = try ChildProcess.run(
      words, input: request.bytes, secret: pin, outputLimit: TokenAnswer.byteLimit, seconds: settings.seconds, isCancelled: isCancelled)
    // What was said whole counts, whatever becomes of the module afterwards.
    if let answer = TokenAnswer(outcome.output) {
      if case .fault(let fault) = answer { throw fault.at(modulePath: settings.modulePath) }
      return answer
    }
    let messages = CommandSource.readable(outcome.messages)
    let said = messages.isEmpty ? "" : "; it said: \(messages)"
    switch outcome.end {
    case .killed(ChildProcess.interruptSignal): throw .interrupted
    case .killed(let signal):
      throw .module(path: settings.modulePath, reason: "signal \(signal) ended the process that it was loaded into\(said)")
    case .exited(let status):
      throw .module(path: settings.modulePath, reason: "it ended the process that it was loaded into, with status \(status)\(said)")
    }
  }
}
