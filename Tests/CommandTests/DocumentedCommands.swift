import Foundation
import TestSupport
import Testing

/// The commands that a page of the documentation shows: they have to work as they stand there.
struct DocumentedCommands {
  /// The shell blocks below each heading of the second level, in order; those above the first one under the empty heading.
  let sections: [(heading: String, blocks: [[String]])]

  init(_ page: String) throws {
    let text = try String(contentsOf: packageRoot.appending(path: page), encoding: .utf8)
    sections = ("\n" + text).components(separatedBy: "\n## ").enumerated().map { index, section in
      let blocks = section.components(separatedBy: "```sh\n").dropFirst().compactMap { rest in
        rest.components(separatedBy: "\n```").first.map { $0.split(separator: "\n").map(String.init) }
      }
      return (index == 0 ? "" : String(section.prefix { $0 != "\n" }), blocks)
    }
  }

  var blocks: [[String]] { sections.flatMap(\.blocks) }

  /// Runs lines one after another in a folder, with this package's commands on the path and a passphrase for every key.
  static func run(_ lines: [String], in folder: TemporaryFolder, environment: [String: String] = [:]) throws -> ChildResult {
    let commands = URL(fileURLWithPath: try builtCommand("manifest-sign")).deletingLastPathComponent().path
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    var all = [
      "PATH": commands + ":" + path, "MANIFEST_SIGN_PASSPHRASE": "only for this test", "MANIFEST_SIGN_NEW_PASSPHRASE": "only for this test",
    ]
    for (name, value) in environment { all[name] = value }
    return try runChild(
      "bash", ["-eu", "-o", "pipefail", "-c", lines.joined(separator: "\n")], environment: all, directory: folder.path)
  }
}
