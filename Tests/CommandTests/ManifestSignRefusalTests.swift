import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What makes a folder one that can't be published.
struct Refusal: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// What the message has to say: the file's name, and the reason.
  let words: [String]
  let arrange: @Sendable (ReleaseSite) throws -> Void

  init(_ name: String, _ words: String..., arrange: @escaping @Sendable (ReleaseSite) throws -> Void) {
    testDescription = name
    self.words = words
    self.arrange = arrange
  }

  static func file(_ name: String, _ words: String...) -> Refusal {
    var refusal = Refusal("the name \(name)") { try $0.write("x", to: "acme/tiny/1.0/" + name) }
    refusal = Refusal(refusal.testDescription, words, refusal.arrange)
    return refusal
  }

  static func content(_ name: String, _ bytes: [UInt8], _ words: String...) -> Refusal {
    Refusal("\(bytes.count) bytes as \(name)", [name] + words) { try $0.write(bytes, to: "acme/tiny/1.0/" + name) }
  }

  private init(_ name: String, _ words: [String], _ arrange: @escaping @Sendable (ReleaseSite) throws -> Void) {
    testDescription = name
    self.words = words
    self.arrange = arrange
  }

  static let all: [Refusal] = [
    Refusal("a symbolic link to a file", "acme/tiny/1.0/link", "symbolic link") {
      try FileManager.default.createSymbolicLink(atPath: $0.models + "/acme/tiny/1.0/link", withDestinationPath: "weights.bin")
    },
    Refusal("a symbolic link to a folder", "acme/tiny/1.1", "symbolic link") {
      try FileManager.default.createSymbolicLink(atPath: $0.models + "/acme/tiny/1.1", withDestinationPath: "1.0")
    },
    Refusal("a FIFO", "acme/tiny/1.0/pipe", "FIFO") {
      let path = $0.models + "/acme/tiny/1.0/pipe"
      // The path lives through the call.
      #expect(unsafe mkfifo(path, 0o644) == 0)
    },
    Refusal("a socket", "acme/tiny/1.0/s", "socket") {
      let script = "import socket,os,sys; os.chdir(sys.argv[1]); socket.socket(socket.AF_UNIX).bind('s')"
      _ = try runChild(peerPython(), ["-c", script, $0.models + "/acme/tiny/1.0"]).successful()
    },
    Refusal("an empty catalog", "there is no model in it") {
      try FileManager.default.removeItem(atPath: $0.models + "/acme")
      try FileManager.default.removeItem(atPath: $0.models + "/other")
    },
    Refusal("an empty folder", "acme/tiny/2.0", "empty folder") {
      try FileManager.default.createDirectory(atPath: $0.models + "/acme/tiny/2.0", withIntermediateDirectories: true)
    },
    Refusal("names that differ in letter case", "acme/tiny/1.0/Weights.bin", "collides") {
      try $0.write("x", to: "acme/tiny/1.0/Weights.bin")
    },
    Refusal("folders that differ in letter case", "Acme", "collides") { try $0.write("x", to: "Acme/other/1.0/weights.bin") },
    Refusal("names that differ in normal form", "collides") {
      for name in ["acme/tiny/1.0/caf\u{E9}", "acme/tiny/1.0/cafe\u{301}"] { try $0.write("x", to: name) }
    },
    Refusal("a name that is not UTF-8", "acme/tiny/1.0", "not UTF-8") {
      let script = "import os,sys; open(os.path.join(os.fsencode(sys.argv[1]), b'acme/tiny/1.0/caf\\xe9'), 'wb').write(b'x')"
      _ = try runChild(peerPython(), ["-c", script, $0.models]).successful()
    },
    .file("a#b", "acme/tiny/1.0/a#b"), .file("a?b", "acme/tiny/1.0/a?b"), .file("a%20b", "acme/tiny/1.0/a%20b"),
    .file(".hidden", "acme/tiny/1.0/.hidden", "hidden"), .file("a\\b", "1.0/a", "backslash"),
    .file("a\u{1B}[31mb", "control"),
    Refusal("a file beside the versions", "acme/tiny/README", "in no version's folder") { try $0.write("x", to: "acme/tiny/README") },
    Refusal("a secret key among the models", "acme/tiny/1.0/config.key", "secret key") {
      try FileManager.default.copyItem(
        atPath: $0.repository + "/secrets/root-1.key", toPath: $0.models + "/acme/tiny/1.0/config.key")
    },
    Refusal("a secret key in another format", "acme/tiny/1.0/id", "secret key") {
      try $0.write(
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ==\n-----END OPENSSH PRIVATE KEY-----\n",
        to: "acme/tiny/1.0/id")
    },
    .content("model.gguf", [], "empty"), .content("model.safetensors", [], "empty"),
    .content("model.gguf", Array("<!DOCTYPE html><html><body>404 Not Found</body></html>".utf8), "HTML"),
    .content("model.safetensors", Array("<html><head><title>502 Bad Gateway</title></head></html>".utf8), "HTML"),
    .content("model.gguf", Array("GGUF\u{3}\0\0\0".utf8)),
    Refusal("a safetensors file cut by one byte", "acme/tiny/1.0/model.safetensors", "truncated") {
      let whole = try bytes(of: ReleaseModels.safetensors)
      try $0.write(Array(whole.dropLast()), to: "acme/tiny/1.0/model.safetensors")
    },
    Refusal("a safetensors file cut in its header", "acme/tiny/1.0/model.safetensors") {
      try $0.write(Array(try bytes(of: ReleaseModels.safetensors).prefix(1000)), to: "acme/tiny/1.0/model.safetensors")
    },
  ]
}

/// Real model files, which `scripts/fetch-models` makes.
enum ReleaseModels {
  static let folder = packageRoot.appending(path: ".peers/models").path
  static let safetensors = folder + "/silero-vad/silero_vad_16k.safetensors"

  static func path(_ name: String) throws -> String {
    let path = folder + "/" + name
    guard FileManager.default.fileExists(atPath: path) else { throw MissingForTests("\(path) is missing: scripts/fetch-models makes it") }
    return path
  }
}

@Suite struct `a folder that can't be published is refused whole, and the file is named` {
  @Test(arguments: Refusal.all)
  func `nothing is signed of a folder with`(refusal: Refusal) throws {
    let site = try ReleaseSite()
    try refusal.arrange(site)
    let result = try site.sign(["publish", site.models, "--stage"])
    #expect(result.status == 16, "\(result.status) \(result.text)\(result.errorText)")
    for text in refusal.words { #expect(result.errorText.contains(text), "\(text): \(result.errorText)") }
    #expect(!result.errorText.contains("\u{1B}"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: site.metadata) == ["1.root.json"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: site.targets).isEmpty)
    // The same in JSON, where the object says what is wrong.
    let report = try json(try site.sign(["publish", site.models, "--json"]).text)
    #expect(report["error"] != nil)
  }

  @Test func `all that is wrong is named at once`() throws {
    let site = try ReleaseSite()
    for name in ["a#b", ".hidden", "Weights.bin"] { try site.write("x", to: "acme/tiny/1.0/" + name) }
    expect(16, "a#b", ".hidden", "Weights.bin", in: try site.sign(["publish", site.models]))
  }

  @Test(arguments: ["acme/tiny/1.0/weights.bin", "acme/tiny/1.0", "other"])
  func `what this user can't read is named and never left out`(name: String) throws {
    let site = try ReleaseSite(options: nil)
    let run = try Self.ordinaryUser(of: site)
    try require(0, try run(["init", "--no-passphrase"], nil))
    let path = site.models + "/" + name
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path) }
    expect(16, name, "Permission denied", in: try run(["publish", site.models], nil))
    #expect(try FileManager.default.contentsOfDirectory(atPath: site.metadata) == ["1.root.json"])
  }

  @Test(arguments: ["publish", "sign"])
  func `where memory for secrets can't be locked, nothing is signed`(verb: String) throws {
    let site = try ReleaseSite(options: nil)
    let run = try Self.ordinaryUser(of: site)
    try require(0, try run(["init", "--no-passphrase"], nil))
    if verb == "sign" { try require(0, try run(["propose", "--lifetime", "targets=100"], nil)) }
    let arguments = verb == "publish" ? ["publish", site.models] : ["sign", "--yes"]
    func signed() throws -> [String: FileImage] {
      try site.snapshot(of: "repository").filter { $0.key.hasPrefix("manifests/") || $0.key.hasPrefix("pending/") }
    }
    let before = try signed()
    for limit in [0, 16] { expect(17, "can't be locked", "ulimit -l 1024", in: try run(arguments, limit)) }
    #expect(try signed() == before)
    try require(0, try run(arguments, 64))
    #expect(try signed() != before)
  }

  /// Has another user own a site where root runs the tests, whom neither permissions nor limits hold up.
  /// - Returns: what runs the command as that user, who can lock so many kibibytes of memory.
  private static func ordinaryUser(of site: ReleaseSite) throws -> ([String], _ lockable: Int?) throws -> ChildResult {
    let program = site.folder("manifest-sign")
    try FileManager.default.copyItem(atPath: builtCommand("manifest-sign"), toPath: program)
    var user: [String] = []
    if geteuid() == 0 {
      user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
      _ = try runChild("chown", ["-R", "65534:65534", site.folder.path]).successful()
    }
    return { [user] arguments, lockable in
      let script = (lockable.map { "ulimit -l \($0) && " } ?? "") + "exec \"$@\""
      return try runChild(
        "env", user + ["sh", "-c", script, "sh", program] + arguments + ["--repository", site.repository],
        environment: ["SOURCE_DATE_EPOCH": nil, "HOME": site.folder.path, "XDG_CONFIG_HOME": nil])
    }
  }
}
