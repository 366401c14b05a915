package import Foundation

/// Something beside the tests that has to be there. A test that misses it fails; none is skipped.
package struct MissingForTests: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// Whether the tests may take long: `make test-slow`.
package let runsSlowTests = ProcessInfo.processInfo.environment["SIGNED_MANIFEST_SLOW_TESTS"] == "1"

/// The folder of the package.
package let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent()

/// The python interpreter with the packages that results are held against.
package func peerPython() throws -> String {
  let path = packageRoot.appending(path: ".peers/bin/python3").path
  guard FileManager.default.isExecutableFile(atPath: path) else { throw MissingForTests("\(path) is missing: `make test` makes it") }
  return path
}

/// A program of `Tests/Peers`.
package func peerScript(_ name: String) throws -> String {
  let path = packageRoot.appending(path: "Tests/Peers/\(name)").path
  guard FileManager.default.fileExists(atPath: path) else { throw MissingForTests("\(path) is missing") }
  return path
}

/// A command of this package, as it was built with the tests: it lies in the folder of their bundle or above it.
package func builtCommand(_ name: String) throws -> String {
  var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
  for _ in 0..<6 {
    let candidate = folder.appending(path: name)
    let isFile = (try? candidate.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
    if isFile, FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate.path }
    folder.deleteLastPathComponent()
  }
  throw MissingForTests("\(name) does not lie beside the tests: build it with `swift build --build-tests`")
}
