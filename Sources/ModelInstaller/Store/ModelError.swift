public import FileIO
public import ManifestVerifier
public import ModelFormats
public import TUFMetadata

/// Why a model can't be installed, used, rolled back or repaired.
public enum ModelError: Error, Equatable, Sendable {
  /// A text is not `ORG/NAME`, `ORG/NAME@VERSION` or `ORG/NAME@VERSION:VARIANT`.
  case unreadableRequest(String)
  /// The trusted manifest has no description of the model.
  case unknownModel(String)
  /// The description of a model is not one.
  case malformedDescription(path: String, MetadataError)
  /// The model has no such version; `known` are those that it has, newest first.
  case unknownVersion(model: String, version: String, known: [String])
  /// The version has no such variant; `known` are those that it has.
  case unknownVariant(model: String, version: String, variant: String, known: [String])
  /// The publisher has withdrawn the version: it is never installed again.
  case withdrawn(model: String, version: String, reason: String)
  /// Every version is withdrawn.
  case allWithdrawn(model: String)
  /// No variant is for this device.
  case nothingForDevice(NothingForDevice)
  /// Two files of a version would have one place, or a name can't be a folder's.
  case unusableName(model: String, name: String)
  /// There is less space than is needed, in bytes.
  case insufficientSpace(path: String, needed: Int64, free: Int64)
  /// There is room for fewer files and folders than are needed.
  case insufficientFiles(path: String, needed: Int64, free: Int64)
  /// Another process changes the store.
  case locked(path: String, process: Int32?)
  /// Another process fetches files into the same staging folder.
  case stagingInUse(path: String, process: Int32?)
  /// What stands in the store's own records is not as it was written.
  case damagedRecord(path: String, expected: String)
  /// The store was written by a newer version of this software.
  case newerFormat(path: String, found: Int64, supported: Int64)
  /// Something in the store is not what this software puts there, a symbolic link say.
  case foreign(path: String, FileKind)
  /// The model is not installed here.
  case notInstalled(model: String, version: String?)
  /// Of the model nothing is installed that a request for some version or variant means; `known` are those that are.
  case notAmongInstalled(request: String, known: [String])
  /// There is no earlier version to go back to.
  case noPrevious(model: String)
  /// A file of an installed version, or all of it, is not there.
  case missing(model: String, version: String, path: String)
  /// Something else stands in the place of a file or folder of an installed version.
  case displaced(model: String, version: String, path: String, expected: FileKind, found: FileKind)
  /// The record names a version (`VERSION:VARIANT`) as active that it does not know, or none at all (nil), or as the way back one that can't be.
  case contradictoryRecord(model: String, version: String?, isActive: Bool)
  /// There are versions of the model in the store, and no record of it.
  case noRecord(model: String)
  /// A file of an installed version is not as signed.
  case damaged(model: String, version: String, VerificationError)
  /// A file has its signed digest, and is not of the format that its name promises.
  case format(path: String, ModelFormatError)
  /// What arrives first is not the beginning of a file of its format.
  case wrongBeginning(path: String, found: String, from: String)
  /// The caller's check refused the version before it became active.
  case notReady(model: String, version: String, detail: String)
  /// The caller's check wrote where it should have read: what it left is not what was signed.
  case changedByCheck(model: String, version: String, path: String)
  /// It is not here, and nothing may be fetched.
  case missingOffline(model: String, detail: String)
  /// The clock of this device tells a time that can't be.
  case clockOutOfRange(seconds: Int64)
  /// The Hugging Face Hub asks who it is, or whether the terms of a repository were accepted.
  case gated(repository: String, HuggingFaceHub.Token)
  /// The Hugging Face Hub knows no such repository, or does not tell of it to who asks.
  case noRepository(String, HuggingFaceHub.Token)
  /// The Hugging Face Hub takes the token for none.
  case invalidToken(repository: String)
  /// The Hugging Face Hub sends who asks for a repository elsewhere, and wants a token there, which follows no redirect.
  case moved(repository: String, to: String)
}

extension ModelError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unreadableRequest(let text): "\"\(text)\" names no model: expected ORG/NAME, ORG/NAME@VERSION or ORG/NAME@VERSION:VARIANT"
    case .unknownModel(let model): "the trusted manifest has no model \(model)"
    case .malformedDescription(let path, let error): "\(path) is malformed: \(error)"
    case .unknownVersion(let model, let version, let known):
      "\(model) has no version \(version): expected one of \(known.joined(separator: ", "))"
    case .unknownVariant(let model, let version, let variant, let known):
      "\(model)@\(version) has no variant \(variant): expected one of \(known.joined(separator: ", "))"
    case .withdrawn(let model, let version, let reason): "\(model)@\(version) was withdrawn by its publisher: \(reason)"
    case .allWithdrawn(let model): "every version of \(model) was withdrawn by its publisher"
    case .nothingForDevice(let nothing): nothing.description
    case .unusableName(let model, let name): "\(model) can't be laid out on a disk: \(name) would be no file of its own"
    case .insufficientSpace(let path, let needed, let free):
      "too little space on the disk of \(path): expected \(needed) bytes free, found \(free)"
    case .insufficientFiles(let path, let needed, let free):
      "too little room for files on the disk of \(path): expected room for \(needed) files and folders, found room for \(free)"
    case .locked(let path, let process), .stagingInUse(let path, let process):
      "\(path) is in use by \(process.map { "process \($0)" } ?? "another process")"
    case .damagedRecord(let path, let expected): "\(path) is damaged: expected \(expected)"
    case .newerFormat(let path, let found, let supported):
      "\(path) was written by a newer version of this software: expected format \(supported) or older, found format \(found)"
    case .foreign(let path, let kind): "\(path) is a \(kind.rawValue): nothing of the kind belongs there"
    case .notInstalled(let model, let version): "\(model)\(version.map { "@\($0)" } ?? "") is not installed"
    case .notAmongInstalled(let request, let known): "\(request) is not installed: expected one of \(known.joined(separator: ", "))"
    case .noPrevious(let model): "\(model) has no earlier version to go back to"
    case .missing(let model, let version, let path): "\(model)@\(version) is not whole here: \(path) is missing"
    case .displaced(let model, let version, let path, let expected, let found):
      "\(model)@\(version) is damaged: \(path) is a \(found.rawValue), expected a \(expected.rawValue)"
    case .contradictoryRecord(let model, let version, let isActive):
      "the record of \(model) contradicts itself: "
        + (version.map { isActive ? "\($0) is to be active, which it does not know" : "\($0) is to be the way back, which it can't be" }
          ?? "no version is active")
    case .noRecord(let model): "there are versions of \(model) that no record tells of: it is lost, or an installation was never finished"
    case .damaged(let model, let version, let error): "\(model)@\(version) is damaged: \(error)"
    case .format(let path, let error): "\(path) is as signed, but no good model file: \(error)"
    case .wrongBeginning(let path, let found, let source): "\(path) begins wrongly: found \(found) (from \(source))"
    case .notReady(let model, let version, let detail):
      "\(model)@\(version) was verified, but refused by the check before its first use: \(detail)"
    case .changedByCheck(let model, let version, let path):
      "\(model)@\(version) was changed by the check before its first use: \(path) is no longer what was signed"
    case .missingOffline(let model, let detail): "\(model) is not complete here, and nothing may be fetched: \(detail)"
    case .clockOutOfRange(let seconds): "this device's clock tells a time that can't be: \(seconds) seconds since 1970"
    case .gated(let repository, .sent):
      "the Hugging Face Hub does not let this token have \(repository): accept the repository's terms on its page there"
    case .gated(let repository, .none):
      "the Hugging Face Hub asks who wants \(repository): accept the repository's terms there, and set HF_TOKEN"
    case .gated(let repository, .withheld):
      "the mirror of the Hugging Face Hub asks who wants \(repository), and the token goes to the Hub's own host only"
    case .noRepository(let repository, let token):
      "the Hugging Face Hub has no repository \(repository), or does not show it \(token == .sent ? "to this token" : "without a token")"
    case .invalidToken(let repository): "the Hugging Face Hub does not take the token for \(repository): it is not valid, or not any more"
    case .moved(let repository, let place):
      "the repository \(repository) seems to have moved: the Hugging Face Hub leads to \(place), and a token follows no redirect"
    }
  }
}

/// What exists of a model for which there is nothing on this device.
public struct NothingForDevice: Equatable, Sendable {
  /// One variant, and what it is for.
  public struct Offer: Equatable, Sendable {
    public let version: String
    public let variant: String
    /// Empty for any.
    public let platforms: [String]
    /// Empty for any.
    public let architectures: [String]
    /// Runtimes with their lowest versions, `NAME VERSION`; empty for any.
    public let runtimes: [String]
  }

  public let model: String
  public let device: Device
  /// Of the version that was asked for, or else of all that are not withdrawn, newest first.
  public let offers: [Offer]
  /// Other versions, not withdrawn, that have something for this device, newest first: there are such only where one was asked for by name.
  public let fittingVersions: [String]
}

extension NothingForDevice: CustomStringConvertible {
  public var description: String {
    "\(model) has nothing for \(device): there is \(offers.map(\.description).joined(separator: "; "))"
      + (fittingVersions.isEmpty ? "" : "; something for it is in \(fittingVersions.joined(separator: ", "))")
  }
}

extension NothingForDevice.Offer: CustomStringConvertible {
  public var description: String {
    let platform = platforms.isEmpty ? "any system" : platforms.joined(separator: " or ")
    let architecture = architectures.isEmpty ? "" : " on \(architectures.joined(separator: " or "))"
    let runtime = runtimes.isEmpty ? "" : " with \(runtimes.joined(separator: " or "))"
    return "\(version):\(variant) for \(platform)\(architecture)\(runtime)"
  }
}
