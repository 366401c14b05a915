import Foundation
import TestSupport
import Testing

@Suite("The table of the specification is held against the sources")
struct SpecificationCoverageTests {
  private static let script = "scripts/check-specification-coverage"

  /// A copy of what the script reads.
  private static func copy() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for name in ["scripts", "Documentation", "Sources", "Tests"] {
      try FileManager.default.copyItem(atPath: packageRoot.appending(path: name).path, toPath: folder(name))
    }
    return folder
  }

  @Test("What is commented out, renamed or gone is missed, and what stands there is not")
  func commentsDoNotCount() throws {
    let folder = try Self.copy()
    _ = try runChild("python3", [folder(Self.script)]).successful()
    let file = "Tests/ManifestVerifierTests/ThresholdTests.swift"
    let name = "one public key under two ids counts once"
    let source = try folder.text(of: file)
    try #require(source.contains("func `\(name)`("))
    func lines(_ change: (String) -> String) -> String {
      source.components(separatedBy: "\n").map { $0.contains(name) ? change($0) : $0 }.joined(separator: "\n")
    }
    let changes = [
      lines { "//\($0)" }, lines { "/* \($0)" } + "\n*/", lines { $0.replacing(name, with: name + " or twice") },
      lines { $0.replacing("@Test", with: "") }, "",
    ]
    for changed in changes {
      try folder.write(changed, to: file)
      let result = try runChild("python3", [folder(Self.script)])
      #expect(result.status == 1 && result.errorText.contains(name), "\(result.errorText)")
    }
    try FileManager.default.removeItem(atPath: folder(file))
    #expect(try runChild("python3", [folder(Self.script)]).errorText.contains("is gone"))
  }
}
