// See the same of the verifier's errors.
public import Foundation
public import ModelFormats
public import ModelInstaller

extension InstallationError: @retroactive LocalizedError {
  public var errorDescription: String? { description }
}

extension TransportError: @retroactive LocalizedError {
  public var errorDescription: String? { description }
}

extension ModelError: @retroactive LocalizedError {
  public var errorDescription: String? { description }
}

extension ModelFormatError: @retroactive LocalizedError {
  public var errorDescription: String? { description }
}
