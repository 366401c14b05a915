internal import TUFMetadata

/// A key on a PKCS #11 token. The module is loaded, and the PIN asked for, when the first signature is wanted.
final class PKCS11Source: SignatureSource {
  /// Lends the PIN to a use of it.
  typealias WithPIN = (_ use: (borrowing Passphrase) throws(SignerFault) -> Void) throws(SignerFault) -> Void

  /// An open session: closed, and its module unloaded, when it goes out of scope.
  private final class Session {
    let module: PKCS11Module
    let number: UInt
    let key: UInt

    init(_ uri: PKCS11URI, modulePath: String, withPIN: WithPIN) throws(SignerFault) {
      let module = try PKCS11Module(path: modulePath)
      let (slot, needsLogin, hasPINPad) = try module.slot(of: uri)
      let number = try module.openSession(slot)
      do throws(SignerFault) {
        if needsLogin, hasPINPad {
          try module.logIn(number)
        } else if needsLogin {
          try withPIN { (pin) throws(SignerFault) in try module.logIn(number, pin: pin) }
        }
        key = try module.key(uri, number)
      } catch {
        module.closeSession(number)
        throw error
      }
      self.module = module
      self.number = number
    }

    deinit { module.closeSession(number) }
  }

  private let uri: PKCS11URI
  private let modulePath: String
  private let withPIN: WithPIN
  private var session: Session?

  init(uri: PKCS11URI, modulePath: String, withPIN: @escaping WithPIN) {
    self.uri = uri
    self.modulePath = modulePath
    self.withPIN = withPIN
  }

  func signature(over message: [UInt8]) throws(SignerFault) -> Ed25519Signature {
    let session: Session
    if let open = self.session {
      session = open
    } else {
      session = try Session(uri, modulePath: modulePath, withPIN: withPIN)
      self.session = session
    }
    let bytes = try session.module.sign(message, with: session.key, session.number)
    guard let signature = try? Ed25519Signature(bytes: bytes) else { throw .noise(byteCount: bytes.count, messages: "") }
    return signature
  }
}
