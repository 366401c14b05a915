// The one use of Foundation in the libraries, in a target of its own so that the commands need not start with it: without these conformances
// `localizedDescription` says "error 0" of an error that could say what happened.
public import Digests
public import FileIO
public import Foundation
public import ManifestVerifier
public import TUFMetadata
public import TrustStore

extension VerificationError: @retroactive LocalizedError {
  public var errorDescription: String? { description }
}

extension TrustStoreError: @retroactive LocalizedError {
  public var errorDescription: String? { description }
}

extension MetadataError: @retroactive LocalizedError {
  public var errorDescription: String? { description }
}

extension FileError: @retroactive LocalizedError {
  public var errorDescription: String? { description }
}

extension Errno: @retroactive LocalizedError {
  public var errorDescription: String? { description }
}

extension DigestError: @retroactive LocalizedError {
  public var errorDescription: String? { description }
}
