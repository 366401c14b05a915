import Foundation
import TestSupport
import Testing

@Suite("manifest-install uses the network as it is told, and tells no secrets")
struct ManifestInstallNetworkTests {
  @Test("The URLs that init was given are remembered, in their order, until others are given")
  func urlsAreRemembered() throws {
    let device = try Device()
    let server = try Published.server
    let root = try Published.path("v1/metadata/1.root.json")
    #expect(try device.refresh().status == 2)
    let first = try device.install([
      "init", "--state", device.state, "--metadata-url", server.url("v1/metadata", "status=503", for: "timestamp.json"), "--metadata-url",
      server.url("v1/metadata"), "--targets-url", server.url("v1/targets"), root,
    ])
    #expect(first.status == 0, "\(first.errorText)")
    _ = try device.refresh().successful()
    _ = try device.install(["get", "--state", device.state, "--into", device.models, "file-3.bin"]).successful()
    #expect(try device.fetched().keys.sorted() == ["file-3.bin"])
    // Nothing that ends in .json besides what TUF clients expect there.
    #expect(try device.folder.text(of: "state/mirrors").hasPrefix("signed-manifest-mirrors 1\n"))
    // The targets' URL stays when only the metadata's is given anew.
    _ = try device.install(["init", "--state", device.state, "--metadata-url", server.url("v2/metadata"), root]).successful()
    #expect(try device.folder.text(of: "state/mirrors").contains("targets \(server.url("v1/targets"))\n"))
    #expect(try device.refresh().status == 0)
    #expect(try device.install(["init", "--state", device.state, root, "--json"]).successful().text.contains("\"changed\": false"))
  }

  @Test(
    "A damaged list of mirrors is an error that says so",
    arguments: ["", "x", "signed-manifest-mirrors 0\n", "signed-manifest-mirrors 1\nother x\n"])
  func aDamagedListIsNoted(text: String) throws {
    let device = try Device()
    try device.folder.write(text, to: "state/mirrors")
    let result = try device.refresh()
    #expect(result.status == 16)
    #expect(result.errorText.contains("mirrors"))
  }

  @Test("A list of mirrors of a newer version is told as such")
  func aNewerListIsNoDamage() throws {
    let device = try Device()
    try device.folder.write("signed-manifest-mirrors 2\nwhatever follows\n", to: "state/mirrors")
    let result = try device.refresh()
    #expect(result.status == 16)
    #expect(result.errorText.contains("newer version") && result.errorText.contains("update this software"), "\(result.errorText)")
  }

  @Test(
    "What a server's status means is told in words, beside the status",
    arguments: [
      (206, "the server answered with something else than the file"), (410, "the server does not have it, or does not give it"),
      (408, "the server has too much to do"), (409, "the server does not have it, or does not give it"),
      (429, "the server has too much to do"), (500, "the server has a fault"), (502, "the server has a fault"),
      (503, "the server has too much to do"), (504, "the server has a fault"),
    ])
  func statusesAreTold(status: Int, words: String) throws {
    let url = try Published.server.url("v1/metadata", "status=\(status)", for: "timestamp.json")
    let result = try Device().refresh(url, more: ["--json"])
    #expect(result.status == 13)
    let error = try #require(try json(result.text)["error"] as? [String: Any])
    #expect(error["message"] as? String == words)
    #expect(error["expected"] as? String == "status 200" && error["found"] as? String == "status \(status)")
    #expect((error["where"] as? String)?.hasSuffix("/timestamp.json") == true && error["hint"] != nil)
  }

  @Test("How long a server asks to be left alone is told")
  func timeToWaitIsTold() throws {
    let result = try Device().refresh(Published.server.url("v1/metadata", "busy_for_hours", for: "timestamp.json"))
    expect(13, "the server has too much to do", "status 503", "it asks to be left alone for 7200 s", in: result)
  }

  @Test("A URL with a password is refused, and not repeated")
  func passwordsInURLsAreRefused() throws {
    let device = try Device()
    let result = try device.refresh("https://user:geheim@127.0.0.1/metadata")
    #expect(result.status == 2)
    #expect(!result.errorText.contains("geheim"))
    #expect(result.errorText.contains("SIGNED_MANIFEST_CREDENTIALS"))
  }

  @Test("Credentials come from a variable")
  func credentialsComeFromAVariable() throws {
    let device = try Device()
    let server = try Published.server
    let url = server.url("v1/metadata", "authenticated")
    #expect(try device.refresh(url).status == 13)
    let secret = "http://alice:geheim@127.0.0.1:\(server.port("http"))"
    let result = try device.refresh(url, environment: ["SIGNED_MANIFEST_CREDENTIALS": "https://bob:x@other.example \(secret)"])
    #expect(result.status == 0, "\(result.errorText)")
    // Any character may be written as the bytes that it has.
    let escaped = "http://%61lice:%67eh%65im@127.0.0.1:\(server.port("http"))"
    #expect(try device.refresh(url, environment: ["SIGNED_MANIFEST_CREDENTIALS": escaped]).status == 0)
    for text in ["alice:geheim", "http://alice:geheim%zz@127.0.0.1", "http://alice:geheim%@127.0.0.1", "http://al%00:geheim@127.0.0.1"] {
      let wrong = try device.refresh(url, environment: ["SIGNED_MANIFEST_CREDENTIALS": text])
      #expect(wrong.status == 2 && wrong.errorText.contains("as %XX"), "\(wrong.errorText)")
      #expect(!wrong.errorText.contains("geheim"))
    }
    for verb in ["refresh", "get", "install"] {
      let help = try device.install([verb, "--help"]).successful().text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(help.contains("SIGNED_MANIFEST_CREDENTIALS, as https://USER:PASSWORD@HOST") && help.contains("an @ as %40"), "\(help)")
    }
  }

  @Test("No .netrc is read")
  func netrcIsNotRead() throws {
    let device = try Device()
    try device.folder.write("machine 127.0.0.1 login alice password geheim\ndefault login alice password geheim\n", to: ".netrc")
    let url = try Published.server.url("v1/metadata", "authenticated")
    #expect(try device.refresh(url, environment: ["HOME": device.folder.path, "NETRC": device.folder(".netrc")]).status == 13)
  }

  @Test(
    "http goes through http_proxy, and https through the tunnel of https_proxy; no_proxy goes round them", arguments: ["http", "https"])
  func proxiesAreUsed(scheme: String) throws {
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: Published.path("v1"), toPath: folder("v1"))
    let server = try HostileServer(serving: folder.path)
    let device = try Device()
    let proxy = "http://someone:geheim@127.0.0.1:\(server.port("proxy"))"
    let url = server.url("v1/metadata", at: scheme)
    let more = ["--cacert", server.authority]
    _ = try device.refresh(url, more: more, environment: ["\(scheme)_proxy": proxy]).successful()
    let seen = scheme == "http" ? "timestamp.json" : "127.0.0.1:\(server.port("https"))"
    let requests = try server.requests(seen).filter { $0.at == "proxy" }
    #expect(requests.first?.method == (scheme == "http" ? "GET" : "CONNECT"))
    // The proxy's own credentials are for the proxy.
    #expect(try server.requests("timestamp.json").filter { $0.at == scheme }.allSatisfy { $0.headers["proxy-authorization"] == nil })
    let dead = "http://127.0.0.1:1"
    #expect(try device.refresh(url, more: more, environment: ["\(scheme)_proxy": dead]).status == 13)
    #expect(try device.refresh(url, more: more, environment: ["\(scheme)_proxy": dead, "no_proxy": "127.0.0.1"]).status == 0)
  }

  @Test("https needs an authority that is trusted, and --cacert names one")
  func certificatesAreChecked() throws {
    let device = try Device()
    let server = try Published.server
    let url = server.url("v1/metadata", at: "https")
    let refused = try device.refresh(url)
    #expect(refused.status == 13)
    #expect(refused.errorText.contains("--cacert"))
    #expect(try device.refresh(url, more: ["--cacert", server.authority]).status == 0)
    // A file that is none is told as such, and not as a certificate or a clock.
    let missing = try device.refresh(url, more: ["--cacert", device.folder("none.pem")])
    #expect(missing.status == 14 && missing.errorText.contains("none.pem") && !missing.errorText.contains("clock"), "\(missing.errorText)")
    let empty = try device.refresh(url, more: ["--cacert", device.folder.write("no certificate", to: "text.pem")])
    #expect(empty.status == 13 && empty.errorText.contains("--cacert") && !empty.errorText.contains("clock"), "\(empty.errorText)")
    #expect(try device.refresh(server.url("v1/metadata", at: "https", "to=http"), more: ["--cacert", server.authority]).status == 13)
  }

  @Test("The command says its name and version to servers")
  func theUserAgentIsSent() throws {
    let version = try runChild(builtCommand("manifest-install"), ["--version"]).successful().text
    let device = try Device()
    _ = try device.refresh(Published.server.url("v1/metadata", "status=418", for: "timestamp.json"))
    let agent = try #require(try Published.server.requests("status=418").first?.headers["user-agent"])
    #expect(agent == version.trimmingCharacters(in: .newlines).replacingOccurrences(of: " ", with: "/"))
  }

  @Test("nginx is a mirror, and one that would compress everything sends it plain")
  func nginxIsAMirror() throws {
    let device = try Device()
    let port = try runChild(
      peerPython(), ["-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"]
    )
    .successful().text.trimmingCharacters(in: .newlines)
    let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(device.folder("nginx"));" }.joined(
      separator: " ")
    try device.folder.write(
      """
      daemon off; master_process off; error_log stderr; pid \(device.folder("nginx.pid"));
      events {}
      http {
        \(paths)
        access_log off; gzip on; gzip_types *; gzip_min_length 1;
        server { listen 127.0.0.1:\(port); root \(try Published.path("v1")); }
      }
      """, to: "nginx.conf")
    let path = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin") + ":/usr/sbin"
    let nginx = try Child("nginx", ["-c", device.folder("nginx.conf")], environment: ["PATH": path])
    defer {
      nginx.send(SIGKILL)
      _ = try? nginx.wait()
    }
    let url = "http://127.0.0.1:\(port)"
    try waitUntil("nginx listens") { try device.refresh(url + "/metadata").status == 0 }
    let words = [
      "get", "--state", device.state, "--into", device.models, "--metadata-url", url + "/metadata", "--targets-url", url + "/targets",
    ]
    let result = try device.install(words + Published.paths)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try device.fetched().keys.sorted() == Published.paths.sorted())
  }
}
