import Foundation
import TestSupport
import Testing

/// `keys` and `manifests` at the top of the repository.
@Suite("The worked example")
struct WorkedExampleTests {
  @Test("is rebuilt byte for byte from its published keys, and its models verify on a device")
  func rebuilt() throws {
    let folder = try TemporaryFolder()
    let built = folder("built")
    _ = try runChild(
      packageRoot.appending(path: "scripts/build-example").path, [built], environment: ["MANIFEST_SIGN": try builtCommand("manifest-sign")]
    ).successful()
    for part in ["keys", "manifests/metadata", "manifests/targets"] {
      let difference = try runChild("diff", ["-r", "\(built)/\(part)", packageRoot.appending(path: part).path])
      #expect(difference.status == 0, "\(difference.text)")
    }
    let verify = try builtCommand("manifest-verify")
    let metadata = packageRoot.appending(path: "manifests/metadata").path
    _ = try runChild(verify, ["init", "--state", folder("state"), metadata + "/1.root.json"]).successful()
    _ = try runChild(verify, ["refresh", "--state", folder("state"), "--metadata", metadata]).successful()
    let check = try runChild(verify, ["check", "--state", folder("state"), "--base", built + "/models", "--all", "--fresh"])
    #expect(check.status == 0, "\(check.text)\(check.errorText)")
  }

  @Test("verifies for devices of every age")
  func verifies() throws {
    let result = try runChild(try builtCommand("manifest-sign"), ["verify", "--repository", packageRoot.path])
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
  }

  @Test("has descriptions and a catalog that fit their schemas")
  func schemas() throws {
    let result = try runChild(try peerPython(), [try peerScript("check_tree.py"), packageRoot.appending(path: "manifests").path])
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
  }

  @Test("lends its keys to nothing else")
  func worthlessKeys() throws {
    let folder = try TemporaryFolder()
    let secrets = folder("secrets")
    try FileManager.default.createDirectory(atPath: secrets, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let source = packageRoot.appending(path: "Tests/Example/worthless-keys")
    for file in try FileManager.default.contentsOfDirectory(at: source, includingPropertiesForKeys: nil) {
      let copy = secrets + "/" + file.lastPathComponent
      try FileManager.default.copyItem(atPath: file.path, toPath: copy)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy)
    }
    let result = try runChild(try builtCommand("manifest-sign"), ["init", "--repository", folder.path, "--existing-keys"])
    #expect(result.status == 17, "\(result.text)\(result.errorText)")
    #expect(result.errorText.contains("worked example"))
    #expect(!FileManager.default.fileExists(atPath: folder("manifests/metadata/1.root.json")))
  }
}
