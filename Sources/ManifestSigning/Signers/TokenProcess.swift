internal import Synchronization

/// The process that loads the module of a token, signs once, and ends: this very program, started again. A module that hangs, crashes, or does not
/// belong where secrets are harms nothing but that.
public enum TokenProcess {
  /// Whether this program does its part; a program that does not can't sign with tokens.
  private static let isReady = Atomic(false)
  private static let argument = "token-process-of-manifest-sign"
  private static let pinDescriptor: Int32 = 3
  /// How long a module may take to end, once it has done its work.
  private static let endSeconds: UInt32 = 2

  /// To be called by a program at its start, before it looks at its command line: where it was started to load a module, it does so, and ends.
  public static func serveIfAsked() {
    guard CommandLine.arguments.dropFirst() == [argument] else {
      isReady.store(true, ordering: .relaxed)
      return
    }
    do throws(SigningError) { try ProcessHardening.apply() } catch { TokenProcessCalls.end(status: 1) }
    TokenProcessCalls.endWithParent()
    guard let streams = TokenProcessCalls.takeStandardStreams(), let request = TokenRequest(streams.request) else {
      TokenProcessCalls.end(status: 1)
    }
    serve(request) { answer in
      TokenProcessCalls.answer(answer.bytes, to: streams.answer)
      TokenProcessCalls.endLater(seconds: endSeconds)
    }
    TokenProcessCalls.end(status: 0)
  }

  /// What to start; nil where this program does not call `serveIfAsked`.
  static var words: [String]? {
    guard isReady.load(ordering: .relaxed), let program = TokenProcessCalls.ownProgram else { return nil }
    return [program, argument]
  }

  /// - Parameter answer: is called once, before the module is asked to end: whether it manages that does not matter.
  private static func serve(_ request: TokenRequest, _ answer: (TokenAnswer) -> Void) {
    do throws(SignerFault) {
      let uri: PKCS11URI
      do { uri = try PKCS11URI(request.uri) } catch { throw .module(path: "", reason: error.reason) }
      let module = try PKCS11Module(path: uri.modulePath ?? "")
      let (slot, needsLogin, hasPINPad) = try module.slot(of: uri)
      let session = try module.openSession(slot)
      if needsLogin, hasPINPad {
        try module.logIn(session)
      } else if needsLogin {
        guard request.hasPIN else { return answer(.needsPIN) }
        try module.logIn(session, pin: try pin())
      }
      let signature = try module.sign(request.message, with: module.key(uri, session), session)
      answer(.signature(signature))
      module.closeSession(session)
    } catch { answer(.fault(error)) }
  }

  private static func pin() throws(SignerFault) -> Passphrase {
    do throws(SigningError) {
      let bytes = try KeyFileAccess.readPassphrase(descriptor: pinDescriptor)
      do throws(KeyError) { return try Passphrase(bytes) } catch { throw .key(error, path: "") }
    } catch {
      guard case .key(let reason, _) = error else { throw .module(path: "", reason: "its PIN did not arrive: \(error)") }
      throw .unusablePIN(reason, path: "")
    }
  }
}
