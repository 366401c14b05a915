import Foundation
import TestSupport
import Testing

@Suite struct `every runbook works as it stands there` {
  static let headings = [
    "First ceremony", "Yearly rotation", "Lost key", "Stolen release key", "Stolen root key, below the threshold", "Changing the threshold",
    "Handing a team its models", "Moving to a hardware token", "Every day",
  ]

  @Test func `all of them are tried`() throws {
    let sections = try DocumentedCommands("Documentation/runbooks.md").sections
    #expect(sections.first?.blocks.isEmpty == true)
    #expect(sections.dropFirst().map(\.heading) == Self.headings)
  }

  @Test(arguments: headings)
  func `in a repository of three root keys, two of which sign`(heading: String) throws {
    try Self.run(heading, kept: heading == "Handing a team its models" ? ["acme/tiny/0.9/weights.bin"] : [])
  }

  /// What a runbook is there for exists already, and so do bins.
  @Test(arguments: ["Handing a team its models", "Stolen release key"])
  func `where the models are published, over bins`(heading: String) throws {
    try Self.run(
      heading, ["--bins", "4"], kept: ["acme/tiny/0.9/weights.bin", "acme/tiny/model.json"])
  }

  /// - Parameter kept: what is published beforehand beside the model of the test, and what devices have to find in the end as well.
  private static func run(_ heading: String, _ options: [String] = [], kept: [String] = []) throws {
    let section = try #require(try DocumentedCommands("Documentation/runbooks.md").sections.first { $0.heading == heading })
    #expect(section.blocks.joined().contains { $0.contains("manifest-sign ") })
    let folder = try TemporaryFolder()
    for path in ["other/large/1/weights.bin"] + kept.filter({ $0.hasSuffix(".bin") }) { try folder.write("weights", to: "models/" + path) }
    let environment = ["HOME": folder.path, "XDG_CONFIG_HOME": folder("configuration")]
    var lines = section.blocks.flatMap { $0 }
    if heading != Self.headings[0] {
      // Keys that open at once: how passphrases work is tested elsewhere, and each costs half a second.
      lines.insert(
        contentsOf: [
          (["manifest-sign init --no-passphrase --root-keys 3 --root-threshold 2"] + options).joined(separator: " "),
          "manifest-sign publish models",
        ], at: 0)
    }
    let result = try DocumentedCommands.run(lines, in: folder, environment: environment)
    #expect(result.status == 0, "\(result.text)\n\(result.errorText)")
    // Whatever it was, devices of every age follow, python-tuf too.
    let repository = heading == Self.headings[0] ? folder("alice") : folder.path
    let metadata = repository + "/manifests/metadata"
    try require(0, try runChild(builtCommand("manifest-sign"), ["verify", "--repository", repository]))
    try require(
      0,
      try runChild(
        peerPython(),
        [peerScript("tuf_follow.py"), metadata + "/1.root.json", metadata, folder("cache"), "other/large/1/weights.bin"] + kept))
    let pending = (try? FileManager.default.contentsOfDirectory(atPath: repository + "/pending")) ?? []
    #expect(pending.isEmpty, "nothing is left half done")
  }
}
