internal import TUFMetadata

/// A program that reads the bytes on standard input and writes the signature on standard output.
final class CommandSource: SignatureSource {
  private let words: [String]
  private let seconds: Int
  private let isCancelled: () -> Bool

  /// - Parameters:
  ///   - words: the program's absolute path and its arguments; no shell sees them.
  ///   - seconds: how long it may take.
  ///   - isCancelled: whether the person wants the command to end.
  init(words: [String], seconds: Int, isCancelled: @escaping () -> Bool) {
    self.words = words
    self.seconds = seconds
    self.isCancelled = isCancelled
  }

  func signature(over message: [UInt8]) throws(SignerFault) -> Ed25519Signature {
    let outcome = try ChildProcess.run(
      words, input: message, outputLimit: SignatureText.byteLimit, seconds: seconds, isCancelled: isCancelled)
    let messages = Self.readable(outcome.messages)
    switch outcome.end {
    case .exited(0): break
    // What Control-C at a terminal does, where it reaches the program alone, and as what a shell reports it.
    case .killed(ChildProcess.interruptSignal), .exited(128 + ChildProcess.interruptSignal): throw .interrupted
    case .exited(let status): throw .failed(status: status, messages: messages)
    case .killed(let signal): throw .killed(signal: signal, messages: messages)
    }
    guard let signature = SignatureText.signature(in: outcome.output) else {
      throw .noise(byteCount: outcome.outputByteCount, messages: messages)
    }
    return signature
  }

  /// The lines that a program complained with, as one.
  static func readable(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).joined(separator: " / ")
  }
}
