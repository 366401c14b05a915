internal import CommandFailures
internal import CommandLineSupport
internal import FileIO
internal import ManifestVerifier
internal import ModelFormats
internal import ModelInstaller
internal import TUFMetadata

/// What errors about models and their store mean to a person: words, hints and exit codes in one table.
extension Failure {
  init(_ error: ModelError) {
    switch error {
    case .unreadableRequest(let text):
      self.init(.usage, "MODEL is not a model", expected: "ORG/NAME, ORG/NAME@VERSION or ORG/NAME@VERSION:VARIANT", found: text)
    case .unknownModel(let model):
      self.init(
        .nothingForDevice, "the manifest has no such model", found: model,
        hint: "run manifest-verify list with the same --state to see what the manifest holds")
    case .malformedDescription(let path, let error):
      self.init(.malformed, "the model's description is malformed: \(error)", at: path, hint: "the publisher has to mend it")
    case .unknownVersion(let model, let version, let known):
      self.init(
        .nothingForDevice, "\(model) has no version \(version)", expected: known.joined(separator: ", "), found: version,
        hint: "without @VERSION the newest is taken")
    case .unknownVariant(let model, let version, let variant, let known):
      self.init(
        .nothingForDevice, "\(model)@\(version) has no variant \(variant)", expected: known.joined(separator: ", "), found: variant,
        hint: "without :VARIANT the one for this device is taken")
    case .withdrawn(let model, let version, let reason):
      self.init(
        .nothingForDevice, "\(model)@\(version) was withdrawn by its publisher", expected: "a version that is not withdrawn", found: reason,
        hint:
          "run manifest-install install \(model)\(GivenOptions.current.all) for the newest version that is not withdrawn, where there is one"
      )
    case .allWithdrawn(let model):
      self.init(.nothingForDevice, "every version of \(model) was withdrawn by its publisher", hint: "wait for a new version")
    case .nothingForDevice(let nothing):
      self.init(
        .nothingForDevice, "\(nothing.model) has nothing for this device", expected: "a variant for \(nothing.device)",
        hint: nothing.fittingVersions.first.map {
          let others = nothing.fittingVersions.dropFirst().joined(separator: ", ")
          return "ask for \(nothing.model)@\($0), which has one\(others.isEmpty ? "" : ", or for another that has: \(others)")"
        } ?? "name one of these as :VARIANT if this device can use it all the same, or ask the publisher for another")
      items = nothing.offers.map(\.description)
    case .unusableName(let model, let name):
      self.init(.malformed, "\(model) can't be laid out on a disk", found: name, hint: "the publisher has to name it otherwise")
    case .insufficientSpace(let path, let needed, let free):
      self.init(
        .disk, "too little space on the disk", expected: "\(HumanReadable.exactBytes(needed)) free",
        found: "\(HumanReadable.exactBytes(free)) free", at: path,
        hint:
          "make room, with manifest-install prune\(GivenOptions.current.storage) say, or give --store or --staging on another disk; nothing was fetched"
      )
    case .insufficientFiles(let path, let needed, let free):
      self.init(
        .disk, "too little room for files on the disk", expected: "room for \(HumanReadable.grouped(needed)) files and folders",
        found: "room for \(HumanReadable.grouped(free))", at: path,
        hint:
          "remove files, with manifest-install prune\(GivenOptions.current.storage) say, or give --store or --staging on another disk; nothing was fetched"
      )
    case .locked(let path, let process): self.init("the store", inUseBy: process, at: path)
    case .stagingInUse(let path, let process): self.init("the staging folder", inUseBy: process, at: path)
    case .damagedRecord(let path, let expected):
      self.init(
        .malformed, "the store's record of a model is damaged", expected: expected, at: path,
        hint: "remove the file and install the model again: files that are there are verified and not fetched")
    case .newerFormat(let path, let found, let supported):
      self.init(
        .malformed, "the store was written by a newer version of this software", expected: "format \(supported) or older",
        found: "format \(found)", at: path, hint: "update this software")
    case .foreign(let path, let kind):
      self.init(
        .disk, "something in the store is not what belongs there",
        expected: kind == .regular ? "a folder" : kind == .directory ? "a regular file" : "a folder or a regular file",
        found: "a \(kind.rawValue)", at: path, hint: "find out who put it there, remove it, and run the command again")
    case .notInstalled(let model, let version):
      self.init(
        .failure, "\(model)\(version.map { "@\($0)" } ?? "") is not installed",
        hint: "run manifest-install list\(GivenOptions.current.store) to see what is")
    case .notAmongInstalled(let request, let known):
      self.init(
        .failure, "\(request) is not installed", expected: known.isEmpty ? nil : known.joined(separator: ", "), found: request,
        hint: "run manifest-install list\(GivenOptions.current.store) to see what is")
    case .noPrevious(let model):
      self.init(
        .failure, "\(model) has no earlier version to go back to",
        hint: "run manifest-install list\(GivenOptions.current.store) to see what is installed")
    case .missing(let model, let version, let path):
      self.init(
        .fileMismatch, "\(model)@\(version) is not whole here: something of it is missing", at: path,
        hint: "run manifest-install repair \(model)\(GivenOptions.current.all)")
    case .displaced(let model, let version, let path, let expected, let found):
      self.init(
        .fileMismatch, "\(model)@\(version) is damaged: something else stands in the place of a part of it",
        expected: "a \(expected.rawValue)", found: "a \(found.rawValue)", at: path,
        hint: "run manifest-install repair \(model)\(GivenOptions.current.all)")
    case .contradictoryRecord(let model, let version, let isActive):
      self.init(
        .malformed, "the store's record of \(model) contradicts itself",
        expected: isActive ? "a version as active that it knows" : "another installed version as the way back",
        found: version ?? "no active version",
        hint: isActive
          ? "run manifest-install install \(model)\(GivenOptions.current.all)"
          : "run manifest-install prune\(GivenOptions.current.storage), which forgets it")
    case .noRecord(let model):
      self.init(
        .malformed,
        "there are versions of \(model) in the store that no record tells of: it is lost, or an installation was never finished",
        hint:
          "run manifest-install install \(model)\(GivenOptions.current.all): what is there is verified and not fetched; or remove the model's folder"
      )
    case .damaged(let model, let version, let error):
      self.init(error)
      message = "\(model)@\(version) is damaged: \(message)"
      hint = "run manifest-install repair \(model)\(GivenOptions.current.all)"
    case .format(let path, let error):
      self.init(
        .nothingForDevice, "a file is exactly as signed, and no good model file: \(error)", at: path,
        hint: "tell the publisher; the version that was active stays so")
    case .wrongBeginning(let path, let found, let source):
      self.init(.fileMismatch, "a source serves something else than the file", expected: path, found: found, at: source)
    case .notReady(let model, let version, let detail):
      self.init(
        .found, "\(model)@\(version) was refused by --check", expected: "exit status 0", found: detail,
        hint: "it is verified and stays in staging; the version that was active stays so")
    case .changedByCheck(let model, let version, let path):
      self.init(
        .fileMismatch, "--check changed a file of \(model)@\(version)", expected: "the file as it was signed", at: path,
        hint: "let the command only read; the next install fetches the file again, and the version that was active stays so")
    case .missingOffline(let model, let detail):
      self.init(
        .network, "\(model) is not complete here, and --offline forbids to fetch it", found: detail,
        hint: "run the command without --offline")
    case .clockOutOfRange: self.init(.failure, "the clock of this machine is out of range", hint: "set the clock")
    case .gated(let repository, let token):
      let terms = "accept the terms on the repository's page at huggingface.co"
      self.init(
        .network, "the Hugging Face Hub does not give out \(repository)", expected: "leave to have it", found: Self.words(token),
        hint: token == .withheld
          ? "\(terms), and \(Self.ownHost)" : terms + (token == .sent ? " with the token's account" : ", and set HF_TOKEN"))
    case .noRepository(let repository, let token):
      self.init(
        .network, "the Hugging Face Hub has no repository \(repository), or does not show it", expected: "a repository of that name",
        found: token == .sent ? "none that this token may see" : "none that may be seen: \(Self.words(token))",
        hint: "tell the publisher, if it is gone; if it is private, "
          + (token == .withheld ? Self.ownHost : "set HF_TOKEN to a token that may read it"))
    case .invalidToken(let repository):
      self.init(
        .network, "the Hugging Face Hub does not take the token", expected: "a token that is valid",
        found: "one that is not, or not any more",
        at: repository,
        hint: "make a new token at huggingface.co/settings/tokens, and set HF_TOKEN to it; or unset it, if the repository is public")
    case .moved(let repository, let place):
      self.init(
        .network, "the repository \(repository) seems to have moved on the Hugging Face Hub",
        expected: "the file, where the publisher says it is", found: "a redirect to where a token is wanted, and a token follows none",
        at: place,
        hint: "ask the publisher to name the new place")
    }
  }

  private static let ownHost = "unset HF_ENDPOINT, so that the Hub's own host is asked"

  private static func words(_ token: HuggingFaceHub.Token) -> String {
    switch token {
    case .none: "no token"
    case .withheld: "a mirror, the one that HF_ENDPOINT names, which does not get the token: that goes to the Hub's own host only"
    case .sent: "a token without that leave"
    }
  }

  private init(_ what: String, inUseBy process: Int32?, at path: String) {
    self.init(
      .locked, "\(what) is in use by \(process.map { "process \($0)" } ?? "another process")", at: path,
      hint: process == nil
        ? "wait until it has finished, and run the command again; what was killed on another machine, or in another container, hinders for three minutes at most"
        : "wait until it has finished, and run the command again")
  }
}
