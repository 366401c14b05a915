internal import CPKCS11

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A PKCS #11 module in this process, which is started for nothing else (`TokenProcess`), initialised as long as the value lives. All calls of the interface stand here.
@safe final class PKCS11Module {
  private let handle: UnsafeMutableRawPointer
  private let functions: CK_FUNCTION_LIST
  private let ownsInitialisation: Bool

  /// Loads the module at an absolute path.
  init(path: String) throws(SignerFault) {
    // The path is lent for the call.
    guard let handle = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
      throw .module(path: path, reason: unsafe dlerror().map { unsafe String(cString: $0) } ?? "it can't be loaded")
    }
    guard let symbol = unsafe dlsym(handle, "C_GetFunctionList") else {
      unsafe dlclose(handle)
      throw .module(path: path, reason: "it has no function C_GetFunctionList")
    }
    // PKCS #11 §5.4 fixes the type of this function; the list that it gives lives as long as the module.
    let getFunctionList = unsafe unsafeBitCast(symbol, to: CK_C_GetFunctionList.self)
    var list: UnsafeMutablePointer<CK_FUNCTION_LIST>?
    guard unsafe getFunctionList(&list) == CKR_OK.value, let list = unsafe list, unsafe list.pointee.version.major >= 2 else {
      unsafe dlclose(handle)
      throw .module(path: path, reason: "it gives no list of functions of PKCS #11 version 2")
    }
    let functions = unsafe list.pointee
    var arguments = unsafe CK_C_INITIALIZE_ARGS()
    unsafe arguments.flags = CKF_OS_LOCKING_OK.value
    let result = unsafe functions.C_Initialize.map { unsafe $0(&arguments) } ?? Self.missing
    guard result == CKR_OK.value || result == CKR_CRYPTOKI_ALREADY_INITIALIZED.value else {
      unsafe dlclose(handle)
      throw .token(function: "C_Initialize", code: result)
    }
    unsafe self.handle = unsafe handle
    unsafe self.functions = unsafe functions
    ownsInitialisation = result == CKR_OK.value
  }

  deinit {
    if ownsInitialisation { _ = unsafe functions.C_Finalize.map { $0(nil) } }
    // The list of functions is not used again.
    unsafe dlclose(handle)
  }

  private static let missing: UInt = 0x54  // CKR_FUNCTION_NOT_SUPPORTED

  private func check(_ result: UInt?, _ function: String) throws(SignerFault) {
    let code = result ?? Self.missing
    guard code == CKR_OK.value else { throw .token(function: function, code: code) }
  }

  // MARK: Tokens

  /// The one slot whose token is what the URI says.
  func slot(of uri: PKCS11URI) throws(SignerFault) -> (slot: UInt, needsLogin: Bool, hasPINPad: Bool) {
    var count: UInt = 0
    // The pointers are to variables and arrays that outlive the calls, and the counts are theirs.
    try check(unsafe functions.C_GetSlotList.map { unsafe $0(1, nil, &count) }, "C_GetSlotList")
    var slots = [UInt](repeating: 0, count: Int(min(count, 1024)))
    count = UInt(slots.count)
    try check(unsafe functions.C_GetSlotList.map { unsafe $0(1, &slots, &count) }, "C_GetSlotList")
    var found: [(UInt, UInt)] = []
    for slot in slots.prefix(Int(min(count, UInt(slots.count)))) {
      var info = CK_TOKEN_INFO()
      guard unsafe functions.C_GetTokenInfo.map({ unsafe $0(slot, &info) }) == CKR_OK.value else { continue }
      let isRight = unsafe withUnsafeBytes(of: &info) { bytes in
        // The texts stand at the start, one behind the other, padded with blanks.
        let parts: [([UInt8]?, Range<Int>)] = [
          (uri.token, 0..<32), (uri.manufacturer, 32..<64), (uri.model, 64..<80), (uri.serial, 80..<96),
        ]
        return parts.allSatisfy { wanted, range in
          guard let wanted else { return true }
          var text = unsafe bytes[range].map(\.self)
          while text.last == UInt8(ascii: " ") { text.removeLast() }
          return text == wanted
        }
      }
      if isRight { found.append((slot, info.flags)) }
    }
    guard found.count == 1, let (slot, flags) = found.first else { throw .notOne(of: "tokens", count: found.count) }
    return (slot, flags & CKF_LOGIN_REQUIRED.value != 0, flags & CKF_PROTECTED_AUTHENTICATION_PATH.value != 0)
  }

  // MARK: Sessions

  func openSession(_ slot: UInt) throws(SignerFault) -> UInt {
    var session: UInt = 0
    // As above.
    try check(unsafe functions.C_OpenSession.map { unsafe $0(slot, CKF_SERIAL_SESSION.value, nil, nil, &session) }, "C_OpenSession")
    return session
  }

  func closeSession(_ session: UInt) {
    // No C_Logout: that would end the login of other sessions too. The token does it with the last one.
    _ = unsafe functions.C_CloseSession.map { $0(session) }
  }

  /// Has the token ask for the PIN itself, on its own keys.
  func logIn(_ session: UInt) throws(SignerFault) {
    try checkLogin(unsafe functions.C_Login.map { $0(session, CKU_USER.value, nil, 0) })
  }

  func logIn(_ session: UInt, pin: borrowing Passphrase) throws(SignerFault) {
    // The bytes are lent for the call.
    let result = unsafe pin.bytes.withUnsafeBytes { bytes, count in
      unsafe functions.C_Login.map { unsafe $0(session, CKU_USER.value, bytes, UInt(count)) }
    }
    try checkLogin(result)
  }

  private func checkLogin(_ result: UInt?) throws(SignerFault) {
    switch result {
    case CKR_USER_ALREADY_LOGGED_IN.value: return
    case CKR_PIN_INCORRECT.value: throw .wrongPIN
    case CKR_PIN_LOCKED.value: throw .lockedPIN
    default: try check(result, "C_Login")
    }
  }

  /// The one private key that the URI names.
  func key(_ uri: PKCS11URI, _ session: UInt) throws(SignerFault) -> UInt {
    var objectClass = CKO_PRIVATE_KEY.value
    var (label, id) = (uri.object ?? [], uri.id ?? [])
    var objects = [UInt](repeating: 0, count: 2)
    var count: UInt = 0
    // The template points into the three variables for the time of this closure; the module writes no more than two handles.
    let results: (UInt?, UInt?) = unsafe withUnsafeMutableBytes(of: &objectClass) { classBytes in
      unsafe label.withUnsafeMutableBytes { labelBytes in
        unsafe id.withUnsafeMutableBytes { idBytes in
          var template = unsafe [CK_ATTRIBUTE(type: CKA_CLASS.value, pValue: classBytes.baseAddress, ulValueLen: UInt(classBytes.count))]
          if uri.object != nil {
            unsafe template.append(CK_ATTRIBUTE(type: CKA_LABEL.value, pValue: labelBytes.baseAddress, ulValueLen: UInt(labelBytes.count)))
          }
          if uri.id != nil {
            unsafe template.append(CK_ATTRIBUTE(type: CKA_ID.value, pValue: idBytes.baseAddress, ulValueLen: UInt(idBytes.count)))
          }
          let begun = unsafe functions.C_FindObjectsInit.map { unsafe $0(session, &template, UInt(template.count)) }
          guard begun == CKR_OK.value else { return (begun, CKR_OK.value) }
          let found = unsafe functions.C_FindObjects.map { unsafe $0(session, &objects, 2, &count) }
          _ = unsafe functions.C_FindObjectsFinal.map { $0(session) }
          return (begun, found)
        }
      }
    }
    try check(results.0, "C_FindObjectsInit")
    try check(results.1, "C_FindObjects")
    guard count == 1 else { throw .notOne(of: "private keys", count: Int(min(count, 2))) }
    return objects[0]
  }

  private func keyType(_ key: UInt, _ session: UInt) -> UInt? {
    var type: UInt = 0
    // The template points to the variable for the time of this closure, and the module writes no more than its size.
    let result = unsafe withUnsafeMutableBytes(of: &type) { bytes in
      var template = unsafe CK_ATTRIBUTE(type: CKA_KEY_TYPE.value, pValue: bytes.baseAddress, ulValueLen: UInt(bytes.count))
      return unsafe functions.C_GetAttributeValue.map { unsafe $0(session, key, &template, 1) }
    }
    return result == CKR_OK.value ? type : nil
  }

  func sign(_ message: [UInt8], with key: UInt, _ session: UInt) throws(SignerFault) -> [UInt8] {
    var mechanism = unsafe CK_MECHANISM(mechanism: CKM_EDDSA.value, pParameter: nil, ulParameterLen: 0)
    var signature = [UInt8](repeating: 0, count: 256)
    var count = UInt(signature.count)
    // The pointers are to variables and arrays that outlive the calls, and the counts are theirs.
    do throws(SignerFault) {
      try check(unsafe functions.C_SignInit.map { unsafe $0(session, &mechanism, key) }, "C_SignInit")
      try check(unsafe functions.C_Sign.map { unsafe $0(session, message, UInt(message.count), &signature, &count) }, "C_Sign")
    } catch {
      // Some modules sign with a key of another kind as far as they get.
      if let type = keyType(key, session), type != CKK_EC_EDWARDS.value { throw .keyType(type) }
      throw error
    }
    return Array(signature.prefix(Int(min(count, UInt(signature.count)))))
  }
}

/// The header's constants are an `enum` without a name, which Swift imports as a structure or an integer according to the platform.
extension FixedWidthInteger {
  fileprivate var value: UInt { UInt(truncatingIfNeeded: self) }
}
