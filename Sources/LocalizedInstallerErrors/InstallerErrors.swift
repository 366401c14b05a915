// See the same of the verifier's errors.
public import Foundation
public import ModelFormats
public import ModelInstaller

extension InstallationError: LocalizedError {
  public var errorDescription: String? { description }
}

extension TransportError: LocalizedError {
  public var errorDescription: String? { description }
}

extension ModelError: LocalizedError {
  public var errorDescription: String? { description }
}

extension ModelFormatError: LocalizedError {
  public var errorDescription: String? { description }
}
