import Foundation
import Testing

/// The package's folder.
private let root = "/" + URL(fileURLWithPath: #filePath).pathComponents.dropFirst().dropLast(4).joined(separator: "/")

/// Runs a Python program in the environment of the tests' peers.
func python(_ program: String, _ input: Data, _ arguments: [String] = []) throws -> Data {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: root + "/.peers/bin/python3")
  process.arguments = ["-c", program] + arguments
  process.environment = ["PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"]
  let (standardInput, standardOutput) = (Pipe(), Pipe())
  process.standardInput = standardInput
  process.standardOutput = standardOutput
  try #require(FileManager.default.fileExists(atPath: root + "/.peers/bin/python3"), "scripts/install-peers makes .peers")
  try process.run()
  // Python reads all of its input before it writes, so that neither pipe fills up against the other.
  try standardInput.fileHandleForWriting.write(contentsOf: input)
  try standardInput.fileHandleForWriting.close()
  let output = try standardOutput.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  try #require(process.terminationStatus == 0, "the Python peer failed; does .peers have jsonschema?")
  return output
}

/// Which of some texts the schema `manifests/<name>.schema.json` accepts, as the PyPI package `jsonschema` sees it.
func validity(_ texts: [String], _ schema: String) throws -> [Bool] {
  let program = """
    import json, sys, jsonschema
    schema = json.load(open(sys.argv[1]))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    print(json.dumps([validator.is_valid(json.loads(text)) for text in json.load(sys.stdin)]))
    """
  let output = try python(program, try JSONEncoder().encode(texts), [root + "/manifests/\(schema).schema.json"])
  return try JSONDecoder().decode([Bool].self, from: output)
}
