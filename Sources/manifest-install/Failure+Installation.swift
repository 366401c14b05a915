internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import FileIO
internal import ManifestVerifier
internal import ModelInstaller

/// What errors of fetching mean to a person: words, hints and exit codes in one table.
extension Failure {
  init(explainingInstallation error: any Error) {
    switch error {
    case let error as InstallationError: self.init(error)
    default: self.init(explaining: error, program: "manifest-install")
    }
  }

  private init(_ error: InstallationError) {
    switch error {
    case .verification(let error):
      self.init(error)
      if case .notListed = error { hint = "run manifest-verify list with the same --state to see what the manifest holds" }
    case .served(let error, let mirror):
      self.init(error)
      place = [place, mirror.description].compactMap { $0 }.joined(separator: ", ")
      // The hint of a file that lies on the disk: of this one nothing does.
      switch error {
      case .wrongLength, .wrongDigest, .wrongSegment: hint = "try again later, or use another mirror; nothing of it is used"
      default: break
      }
    case .undecidedRoot(let path, let mirror, let error):
      self.init(error)
      let reason = message
      message = "whether there is a newer root can't be told: this mirror failed, and may have it"
      (expected, found) = ("the file \(path), or that there is none", [reason, found].compactMap { $0 }.joined(separator: ": "))
      place = mirror.description
      hint =
        "try again when it answers, or leave it out: give --metadata-url for each of the other mirrors; the roots that were verified are kept"
    case .transport(let error): self.init(error)
    case .store(let error): self.init(error, program: "manifest-install")
    case .file(let error): self.init(error)
    case .reservedTarget(let path):
      self.init(
        .fileMismatch, "\(path) can't be fetched", expected: "another name of the first folder",
        found: "the one that unfinished files lie in",
        hint: "ask the publisher for another path")
    case .unusableURL(let expected): self.init(.usage, "a URL can't be used", expected: expected)
    case .damagedMirrorList(let path):
      self.init(
        .malformed, "the list of mirrors is damaged", expected: "the lines that this software wrote", at: path,
        hint: "remove the file, and give init the URLs again; nothing is trusted because of it")
    case .model(let error): self.init(error)
    case .cancelled: self.init(.interrupted, "interrupted", hint: "run the command again: it goes on from what is there")
    }
  }

  private static func words(_ status: Int) -> String {
    switch status {
    case 408, 429, 503: "the server has too much to do"
    case 400..<500: "the server does not have it, or does not give it"
    case 500..<600: "the server has a fault"
    default: "the server answered with something else than the file"
    }
  }

  private init(_ error: TransportError) {
    let other = "try again later, or use another mirror; what is there already stays as it is"
    switch error {
    case .notAvailable(let url, let status, _, let reason):
      self.init(
        .network, status == 404 ? "there is no such file at this source" : Self.words(status), expected: "the file",
        found: "status \(status)\(reason.map { ", \($0)" } ?? "")", at: url,
        hint: "check that the URL is that of the published folder; \(other)")
    case .status(let url, let status, let expected, let reason):
      self.init(
        .network, Self.words(status), expected: "status \(expected)", found: "status \(status)\(reason.map { ", \($0)" } ?? "")", at: url,
        hint: "check that the URL is that of the published folder; \(other)")
    case .folder(let error) where error.errno == .notFound:
      self.init(
        .network, "the mirror does not have it", expected: "the file", found: "none", at: error.path,
        hint: "check that the folder is the published one; \(other)")
    case .folder(let error):
      self.init(error)
      (code, hint) = (.network, [hint, other].compactMap { $0 }.joined(separator: "; "))
    case .overloaded(let url, let status, let expected, let seconds):
      self.init(
        .network, "the server has too much to do", expected: "status \(expected)", found: "status \(status)", at: url,
        hint: "it asks to be left alone for \(seconds) s; \(other)")
    case .rangeIgnored(let url):
      self.init(.network, "the server gives only whole files", expected: "a part of the file", at: url, hint: other)
    case .wrongRange(let url, let expected, let found):
      self.init(.network, "the server answered with another part of the file", expected: expected, found: found, at: url, hint: other)
    case .tooLong(let url, let limit, let announced):
      self.init(
        .network, "the answer is too long", expected: "at most \(limit) bytes", found: announced.map { "\($0) bytes" } ?? "more", at: url,
        hint: other)
    case .encoded(let url, let encoding):
      self.init(
        .network, "the answer came encoded", expected: "the plain bytes, which alone were asked for", found: encoding, at: url,
        hint: "have the server send files as they are, without compression; \(other)")
    case .redirect(let url, .tooMany(let limit)):
      self.init(.network, "too many redirects", expected: "at most \(limit) in a row", found: "more", at: url, hint: other)
    case .redirect(let url, .downgrade(let target)):
      self.init(.network, "a redirect from https to http is not followed", expected: "https", found: target, at: url, hint: other)
    case .redirect(let url, .unusable):
      self.init(.network, "a redirect leads nowhere", expected: "an http or https URL", at: url, hint: other)
    case .connection(let url, let fault, let detail):
      self.init(
        .network, fault.rawValue, found: detail, at: url.isEmpty ? nil : url,
        hint: fault == .unusableAuthorities
          ? "give \(Network.authorities.name) a file of certificates in PEM form"
          : fault == .insecure
            ? "check this machine's clock, and that the server's certificate is signed by an authority that is trusted here: see --cacert"
            : other)
    }
  }
}
