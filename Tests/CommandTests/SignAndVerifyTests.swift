import Foundation
import TestSupport
import Testing

@Suite("What manifest-sign publishes, manifest-verify checks")
struct SignAndVerifyTests {
  @Test func `a folder of models passes as it was published, and the tree and the whole file each find a flipped byte`() throws {
    let folder = try TemporaryFolder()
    let (sign, verify) = (try builtCommand("manifest-sign"), try builtCommand("manifest-verify"))
    // Over a segment of the tree, and no format that publish would look into.
    let path = "org/name/1.0/weights.bin"
    var bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 4) }
    try folder.write(bytes, to: "models/\(path)")
    try folder.write("notes", to: "models/org/name/1.0/README")
    _ = try runChild(sign, ["init", "--no-passphrase", "--repository", folder("release")]).successful()
    _ = try runChild(sign, ["publish", folder("models"), "--repository", folder("release")]).successful()

    let metadata = folder("release/manifests/metadata")
    _ = try runChild(verify, ["init", "--state", folder("state"), metadata + "/1.root.json"]).successful()
    _ = try runChild(verify, ["refresh", "--state", folder("state"), "--metadata", metadata]).successful()
    let check = ["check", "--state", folder("state"), "--base", folder("models"), "--json"]
    for method in [[], ["--whole"]] {
      let intact = try CheckOutcome(try runChild(verify, check + ["--all"] + method))
      #expect(intact.status == 0 && intact.report.absent.contains("catalog.json"))
    }

    bytes[599_999] ^= 1
    try folder.write(bytes, to: "models/\(path)")
    for (method, algorithm) in [([], "fs-verity sha256:"), (["--whole"], "sha256:")] {
      let outcome = try CheckOutcome(try runChild(verify, check + [path] + method))
      #expect(outcome.status == 12 && outcome.statuses == [path: "wrong digest"])
      let failure = try #require(outcome.failures[path])
      #expect(failure.expected?.digest?.hasPrefix(algorithm) == true && failure.found?.digest?.hasPrefix(algorithm) == true)
    }
  }
}
