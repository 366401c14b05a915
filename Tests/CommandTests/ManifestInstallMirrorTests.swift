import Foundation
import TestSupport
import Testing

@Suite("Several mirrors are asked in order")
struct ManifestInstallMirrorTests {
  private let nowhere = "http://127.0.0.1:1/metadata"

  @Test(
    "Where one fails in whatever way, the next one answers",
    arguments: [
      "status=404", "status=503", "html", "empty", "gzip", "reset", "endless", "flipped", "to_file",
    ])
  func theNextMirrorAnswers(behaviour: String) throws {
    let device = try Device()
    let server = try Published.server
    let bad = server.url("v1/metadata", behaviour, for: "timestamp.json")
    _ = try device.refresh(bad, server.url("v1/metadata")).successful()
    let other = try Device()
    _ = try other.refresh(server.url("v1/metadata")).successful()
    #expect(try device.trusted() == other.trusted())
  }

  @Test("Metadata that can't be trusted at one mirror is taken from the next")
  func foreignMetadataIsPassedOver() throws {
    let device = try Device()
    let server = try Published.server
    _ = try device.refresh(server.url("foreign/metadata"), server.url("v1/metadata")).successful()
  }

  @Test("A newer root counts wherever it is")
  func anyMirrorMayHaveTheNextRoot() throws {
    let device = try Device()
    let server = try Published.server
    // The first mirror knows no new root; its timestamp is signed by a key that the second mirror's root takes away.
    _ = try device.refresh(server.url("v1/metadata"), server.url("rotated/metadata")).successful()
    #expect(try device.trusted()["roots/3.json"] != nil)
  }

  @Test(
    "The chain of roots ends only where every mirror says so: the one that failed is named, and can be left out", arguments: [false, true])
  func aMirrorThatIsDownMayHaveTheNextRoot(isFirst: Bool) throws {
    let device = try Device()
    let before = try device.trusted()
    let up = try Published.server.url("v1/metadata")
    let result = try isFirst ? device.refresh(nowhere, up) : device.refresh(up, nowhere)
    #expect(result.status == 13)
    #expect(result.errorText.contains("whether there is a newer root can't be told"), "\(result.errorText)")
    #expect(result.errorText.contains(nowhere) && result.errorText.contains("2.root.json") && !result.errorText.contains(up + "\n"))
    #expect(result.errorText.contains("leave it out: give --metadata-url"))
    #expect(try device.trusted() == before)
    _ = try device.refresh(up).successful()
  }

  @Test("A mirror that fails holds up no root that another one has", arguments: ["status=503", "html", "reset"])
  func rootsComeFromTheNextMirror(behaviour: String) throws {
    let device = try Device()
    let server = try Published.server
    let bad = server.url("rotated/metadata", behaviour, for: "2.root.json")
    _ = try device.refresh(bad, server.url("rotated/metadata")).successful()
    #expect(try device.trusted()["roots/3.json"] != nil)
    // Where it fails at the end of the chain, what was walked to is kept.
    let other = try Device()
    let atTheEnd = server.url("rotated/metadata", behaviour, for: "4.root.json")
    let result = try other.refresh(atTheEnd, server.url("rotated/metadata"))
    #expect(result.status == (behaviour == "html" ? 16 : 13), "\(result.errorText)")
    #expect(result.errorText.contains("whether there is a newer root can't be told") && result.errorText.contains(atTheEnd))
    #expect(try other.trusted()["roots/3.json"] != nil && other.trusted()["timestamp.json"] == nil)
  }

  @Test("An expired or an older mirror is passed over for one that is up to date", arguments: ["expired", "v1", "foreign"])
  func staleMirrorsArePassedOver(stale: String) throws {
    let server = try Published.server
    let device = try Device()
    if stale == "v1" { _ = try device.refresh(server.url("v2/metadata")).successful() }
    _ = try device.refresh(server.url("\(stale)/metadata"), server.url("v2/metadata")).successful()
    let other = try Device()
    _ = try other.refresh(server.url("v2/metadata")).successful()
    #expect(try device.trusted() == other.trusted())
  }

  @Test("Where all fail, what can't be trusted is told before what can't be reached")
  func theMostTellingErrorIsTold() throws {
    let server = try Published.server
    let gone = server.url("v1/metadata", "status=503", for: "timestamp.json")
    let foreign = server.url("foreign/metadata")
    for mirrors in [[gone, foreign], [foreign, gone]] {
      let device = try Device()
      let result = try device.refresh(mirrors[0], mirrors[1])
      #expect(result.status == 10, "\(result.errorText)")
      #expect(result.errorText.contains(foreign), "the mirror is named: \(result.errorText)")
    }
  }

  @Test("Where all are frozen, that is told")
  func expiredMetadataIsTold() throws {
    let server = try Published.server
    let device = try Device("expired")
    let result = try device.refresh(server.url("expired/metadata"))
    #expect(result.status == 11)
  }

  @Test("Bad metadata is asked for once a mirror, and never again")
  func nothingIsRetriedIntoAcceptance() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: Published.path("v1"), toPath: folder("v1"))
    let server = try HostileServer(serving: folder.path)
    let device = try Device()
    let result = try device.refresh(
      server.url("v1/metadata", "flipped", for: "targets.json"), server.url("v1/metadata", at: "other", "flipped", for: "targets.json"))
    #expect(result.status == 10)
    #expect(try server.requests("1.targets.json", atLeast: 2).map(\.at).sorted() == ["http", "other"])
  }

  @Test("A target comes from the next mirror, whatever the first does", arguments: ["status=404", "flipped", "longer", "reset", "gzip"])
  func targetsComeFromTheNextMirror(behaviour: String) throws {
    let device = try Device()
    let server = try Published.server
    let path = "org/model-1/weights.bin"
    let result = try device.get([path], from: server.url("v1/targets", behaviour), server.url("v1/targets"), more: ["--json"])
    let object = try #require(try JSONSerialization.jsonObject(with: Data(result.successful().output)) as? [String: Any])
    let files = try #require(object["files"] as? [[String: Any]])
    #expect(files.first?["from"] as? String == server.url("v1/targets"))
    #expect(try device.fetched().keys.sorted() == [path])
  }

  @Test("A folder is a mirror too, and one that is missing is not taken for an empty one")
  func foldersAreMirrors() throws {
    let device = try Device()
    let url = "file://" + (try Published.path("v1/metadata"))
    #expect(try device.refresh(url, "file:///nonexistent").status == 14)
    _ = try device.refresh(url).successful()
    let result = try device.install(
      [
        "get", "--state", device.state, "--into", device.models, "--metadata-url", url, "--targets-url",
        "file://" + Published.path("v1/targets"),
      ]
        + Published.paths)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try device.fetched().count == Published.paths.count)
  }
}
