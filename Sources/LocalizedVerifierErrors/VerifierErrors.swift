// The one use of Foundation in the libraries, in a target of its own so that the commands need not start with it: without these conformances
// `localizedDescription` says "error 0" of an error that could say what happened.
public import Digests
public import FileIO
public import Foundation
public import ManifestVerifier
public import TUFMetadata
public import TrustStore

extension VerificationError: LocalizedError {
  public var errorDescription: String? { description }
}

extension TrustStoreError: LocalizedError {
  public var errorDescription: String? { description }
}

extension MetadataError: LocalizedError {
  public var errorDescription: String? { description }
}

extension FileError: LocalizedError {
  public var errorDescription: String? { description }
}

extension Errno: LocalizedError {
  public var errorDescription: String? { description }
}

extension DigestError: LocalizedError {
  public var errorDescription: String? { description }
}
