import Foundation
import TestSupport
import Testing

@Suite("The Hugging Face Hub is a source like another; its token goes to its own host alone")
struct HubTests {
  private static let commit = "0123456789abcdef0123456789abcdef01234567"
  private static let path = "acme/hub/resolve/\(commit)/sub/config.txt"

  /// A server that has the file where the Hub would have it.
  private func hub() throws -> HostileServer {
    let folder = try TemporaryFolder()
    try folder.write(Array(Publication.file("acme/hub/1/config.txt")), to: Self.path)
    _ = try runChild("cp", ["-R", folder.path, folder.path + "-kept"]).successful()
    return try HostileServer(serving: folder.path + "-kept", removing: true)
  }

  private func install(
    _ device: InstallDevice, _ endpoint: String, tree: String? = "status=404", environment: [String: String?] = [:]
  ) throws -> ChildResult {
    let targets = [try Publication.server.url("v1/targets", tree, for: "config.txt")]
    return try device.install(
      "acme/hub", targets: targets, more: ["--retry-delay", "1"], environment: ["HF_ENDPOINT": endpoint].merging(environment) { $1 })
  }

  @Test("A file comes from where the Hub keeps it, across its redirects", arguments: [nil, "to=other", "redirect=2", "signed=1"])
  func fromTheHub(behaviour: String?) throws {
    let (server, device) = (try hub(), try InstallDevice())
    let result = try install(device, server.url("", behaviour, for: "config.txt"))
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try server.requests(Self.path).count >= 1)
  }

  @Test("A mirror never gets the token, nor does whatever it redirects to", arguments: [nil, "to=other"])
  func mirrorsGetNoToken(behaviour: String?) throws {
    let (server, device) = (try hub(), try InstallDevice())
    let file = try device.folder.write("hf_goodtoken\n", to: "token")
    for environment in [["HF_TOKEN": " hf_goodtoken\n"], ["HF_TOKEN_PATH": file]] as [[String: String?]] {
      let result = try install(try InstallDevice(), server.url("", behaviour, for: "config.txt"), environment: environment)
      #expect(result.status == 0, "\(result.errorText)")
    }
    #expect(try server.requests("", atLeast: 2).allSatisfy { $0.headers["authorization"] == nil })
  }

  @Test("A gated repository is an error of its own that says what to do, and shows no token")
  func gated() throws {
    let (server, device) = (try hub(), try InstallDevice())
    let result = try install(device, server.url("", "gated", for: "config.txt"), environment: ["HF_TOKEN": "hf_secret"])
    #expect(result.status == 13, "\(result.errorText)")
    #expect(
      result.errorText.contains("acme/hub") && result.errorText.contains("accept the terms") && result.errorText.contains("HF_ENDPOINT"))
    #expect(!result.errorText.contains("hf_secret"))
    // The published tree has it as well.
    #expect(try install(device, server.url("", "gated", for: "config.txt"), tree: nil).status == 0)
  }

  @Test(
    "What the Hub says of a refusal decides what it means",
    arguments: [
      ("refused=401:RepoNotFound", "has no repository acme/hub"), ("refused=404:RepoNotFound", "has no repository acme/hub"),
      ("refused=401:GatedRepo", "accept the terms"), ("refused=401:!Invalid username or password.", "has no repository acme/hub"),
      ("refused=404:EntryNotFound", "found:    status 404, EntryNotFound"), ("moved_and_refused", "seems to have moved"),
    ])
  func refusals(behaviour: String, words: String) throws {
    let (server, device) = (try hub(), try InstallDevice())
    let endpoint = server.url("", behaviour.replacing(" ", with: "%20"), for: "config.txt")
    let result = try install(device, endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint)
    #expect(result.status == 13 && result.errorText.contains(words), "\(result.errorText)")
    // Where to, as well.
    if behaviour == "moved_and_refused" { #expect(result.errorText.contains("~gated~config.txt/\(Self.path)"), "\(result.errorText)") }
  }

  @Test("HF_HUB_OFFLINE leaves the Hub out")
  func offline() throws {
    let (server, device) = (try hub(), try InstallDevice())
    #expect(try install(device, server.url(""), tree: nil, environment: ["HF_HUB_OFFLINE": "1"]).status == 0)
    #expect(try server.requests("", atLeast: 0).isEmpty)
  }

  @Test("A branch is refused when it is published, unless it is allowed", arguments: ["@main", "", "@0123456789"])
  func movingRevisions(revision: String) throws {
    let folder = try TemporaryFolder()
    let sign = { (words: [String]) in try runChild(builtCommand("manifest-sign"), words + ["--repository", folder("repository")]) }
    try folder.write("content", to: "models/acme/hub/1/config.txt")
    let text = Publication.description(
      "Hub", [("1", nil, [("default", "", ["acme/hub/1/config.txt"])])], sources: "\"hf:acme/hub\(revision)/config.txt\"")
    try folder.write(text, to: "models/acme/hub/model.json")
    _ = try sign(["init", "--no-passphrase"]).successful()
    let refused = try sign(["publish", folder("models")])
    #expect(refused.status == 16 && refused.errorText.contains("hf:acme/hub\(revision)/config.txt"), "\(refused.errorText)")
    #expect(try sign(["publish", folder("models"), "--allow-moving"]).status == 0)
  }
}
