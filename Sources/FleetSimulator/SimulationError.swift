package import ManifestSigning
package import ManifestVerifier

/// Why a step of a simulation did not come to its end.
package enum SimulationError: Error, Equatable, Sendable {
  /// The device refused what it was served.
  case refused(VerificationError)
  /// No mirror answered.
  case unreachable(urlPath: String)
  /// The power of the device was cut.
  case powerCut
  /// The publisher could not sign.
  case signing(SigningError)
}

extension SimulationError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .refused(let error): "the device refused: \(error)"
    case .unreachable(let path): "no mirror answered for \(path)"
    case .powerCut: "the power was cut"
    case .signing(let error): "the publisher could not sign: \(error)"
    }
  }
}
