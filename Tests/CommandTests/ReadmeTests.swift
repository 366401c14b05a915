import Foundation
import TestSupport
import Testing

/// What a newcomer types first has to work as it stands there.
@Suite("Every command in the README works")
struct ReadmeTests {
  private static func blocks() throws -> [[String]] { try DocumentedCommands("README.md").blocks }

  @Test("The commands run one after another in a folder that holds nothing but models")
  func commands() throws {
    let script = try Self.blocks().joined().filter { !$0.hasPrefix("make ") }
    #expect(script.contains { $0.hasPrefix("manifest-sign publish ") } && script.contains { $0.hasPrefix("manifest-verify check ") })
    let folder = try TemporaryFolder()
    _ = try runChild(packageRoot.appending(path: "scripts/make-example-catalog").path, [folder("models")]).successful()
    let result = try DocumentedCommands.run(script, in: folder)
    #expect(result.status == 0, "\(result.text)\n\(result.errorText)")
  }

  @Test("The other commands are targets of the Makefile that CI makes")
  func makeTargets() throws {
    let targets = try Self.blocks().joined().filter { $0.hasPrefix("make ") }
    #expect(Set(targets) == ["make demo", "make test"])
    let pipeline = try String(contentsOf: packageRoot.appending(path: ".ci/run"), encoding: .utf8)
    for target in targets { #expect(pipeline.contains("step \(target)\n"), "\(target) does not stand in .ci/run") }
  }

  @Test("Every file that the documentation links to exists", arguments: ["README.md", "Documentation", "Tests/Example/README.md"])
  func links(_ place: String) throws {
    let url = packageRoot.appending(path: place)
    let isFolder = try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
    let files = isFolder ? try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil) : [url]
    for file in files where file.pathExtension == "md" {
      for match in try String(contentsOf: file, encoding: .utf8).matches(of: /\]\((?!https?:)([^)#]+)/) {
        let target = file.deletingLastPathComponent().appending(path: String(match.1)).standardizedFileURL
        #expect(FileManager.default.fileExists(atPath: target.path), "\(file.lastPathComponent) links to \(match.1)")
      }
    }
  }
}
