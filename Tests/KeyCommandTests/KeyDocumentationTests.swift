import Foundation
import Testing

/// Documentation/keys.md shows a configuration and a script to copy: both are taken from there and used.
@Suite("The examples of Documentation/keys.md") struct KeyDocumentationTests {
  private func example(_ language: String) throws -> String {
    let text = try String(contentsOf: packageRoot.appendingPathComponent("Documentation/keys.md"), encoding: .utf8)
    let after = try #require(text.components(separatedBy: "```\(language)\n").dropFirst().first)
    return try #require(after.components(separatedBy: "\n```").first) + "\n"
  }

  @Test("the configuration is accepted, and the script signs") func examples() throws {
    let place = try Workplace()
    let key = try place.makeRepositoryWithForeignTimestampKey()
    let script = try example("sh").replacingOccurrences(of: "/path/to/key.pem", with: place.path + "/timestamp.pem")
    let signer = try place.write("sign", script, mode: 0o700)
    // The signers of the example are others' keys: it is read, and none of them is needed to list or to publish.
    try place.write("configuration/signed-manifest/signers.json", try example("json"))
    let list = try place.mustSign(["key", "list", "--json"])
    #expect(list.output.contains("timestamp-1"))
    var configuration = try #require(JSONSerialization.jsonObject(with: Data(try example("json").utf8)) as? [String: [[String: Any]]])
    var command = try #require(configuration["signers"]?.first { $0["command"] != nil })
    command["key_id"] = nil
    command["public_key"] = key
    command["command"] = [signer]
    configuration["signers"]?.append(command)
    try place.configure(configuration["signers"] ?? [])
    #expect(try place.sign(["publish", place.models]).status == 0)
  }
}
