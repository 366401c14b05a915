import Foundation
import TestSupport
import Testing

@Suite("nginx as the mirror")
struct NginxTests {
  /// nginx on a port of its own, as long as the value lives.
  private final class Nginx {
    let url: String
    private let child: Child

    init(serving directory: String, _ folder: TemporaryFolder) throws {
      let script = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"
      let port = try runChild(peerPython(), ["-c", script]).successful().text.trimmingCharacters(in: .whitespacesAndNewlines)
      let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder("nginx"));" }.joined(separator: " ")
      let user = geteuid() == 0 ? "user root;" : ""
      let configuration = try folder.write(
        """
        daemon off; master_process off; error_log stderr; pid \(folder("nginx.pid")); \(user)
        events {}
        http { \(places) access_log \(folder("access.log")); gzip on; gzip_types *; gzip_min_length 1;
          server { listen 127.0.0.1:\(port); root \(directory); } }
        """, to: "nginx.conf")
      let program = FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx") ? "/usr/sbin/nginx" : "nginx"
      child = try Child(program, ["-c", configuration, "-e", "stderr"])
      url = "http://127.0.0.1:\(port)"
      // It listens before it writes that file.
      try waitUntil("nginx listens") { [folder] in FileManager.default.fileExists(atPath: folder("nginx.pid")) }
    }

    deinit {
      child.send(SIGTERM)
      _ = try? child.wait(seconds: 20)
    }
  }

  @Test("Installs, shares what two versions have in common, and repairs")
  func installAndRepair() throws {
    let device = try InstallDevice()
    let nginx = try Nginx(serving: Publication.path("v2"), device.folder)
    let urls = [
      "--state", device.state, "--store", device.store, "--metadata-url", nginx.url + "/metadata", "--targets-url", nginx.url + "/targets",
    ]
    for version in ["1.0", "2.0"] {
      let result = try device.run(["install", "acme/voice@\(version)"] + urls)
      #expect(result.status == 0, "\(result.errorText)")
      try device.expectActive(version)
    }
    let log = { try device.folder.text(of: "access.log").split(separator: "\n") }
    // One of the two, in three segments and with the hashes of them.
    #expect(try log().filter { $0.contains("tokens.bin ") }.count == 3)
    #expect(try log().allSatisfy { $0.contains("\" 200 ") || $0.contains("\" 206 ") || $0.contains("2.root.json HTTP") })
    let file = try #require(try device.active()).folder + "/" + Publication.weights
    try FileManager.default.removeItem(atPath: file)
    let repaired = try device.run(["repair"] + urls)
    #expect(repaired.status == 0, "\(repaired.errorText)")
    try device.expectActive("2.0")
  }
}
