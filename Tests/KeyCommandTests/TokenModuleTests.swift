import Foundation
import TestSupport
import Testing

@Suite("A PKCS #11 module that misbehaves") struct TokenModuleTests {
  @Test(
    "one that hangs, crashes or ends its process is a clear error with exit code 17, and nothing is half signed",
    arguments: [
      ("hang at load", "did not answer within 2 seconds"), ("hang in C_Sign", "did not answer within 2 seconds"),
      ("crash at load", "signal 11 ended the process"), ("crash in C_Sign", "signal 11 ended the process"),
      ("exit at load", "it ended the process that it was loaded into, with status 0"),
    ])
  func faults(mode: String, words: String) throws {
    let scene = try TokenScene()
    let before = try scene.place.snapshot("repository/manifests")
    try scene.misbehave(seconds: mode.hasPrefix("hang") ? 2 : 60)
    let record = scene.place.path + "/record"
    let outcome = try scene.publish(["MANIFEST_SIGN_PIN": scene.pin, "TOKEN_MODE": mode, "TOKEN_RECORD": record])
    #expect(outcome.status == 17 && outcome.errors.contains(words), "\(outcome.status) \(outcome.errors)")
    #expect(try scene.place.snapshot("repository/manifests") == before)
    try expectEnded(record)
  }

  @Test(
    "one that prints, leaves a daemon behind, or does not manage to end has signed all the same",
    arguments: ["noise", "daemon", "hang in C_Finalize", "crash in C_Finalize"])
  func harmless(mode: String) throws {
    let scene = try TokenScene()
    try scene.misbehave()
    let outcome = try scene.publish(["MANIFEST_SIGN_PIN": scene.pin, "TOKEN_MODE": mode])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(!outcome.output.contains("noise of a module"))
    #expect(try scene.place.mustSign(["verify", scene.place.models]).status == 0)
  }

  @Test("an interruption while it hangs ends the command with 130, and its process", arguments: [SIGINT, SIGTERM])
  func interruption(signal: Int32) throws {
    let scene = try TokenScene()
    let place = scene.place
    try scene.misbehave()
    let record = place.path + "/record"
    let environment = ["MANIFEST_SIGN_PIN": scene.pin, "TOKEN_MODE": "hang at load", "TOKEN_RECORD": record]
    let child = try Child(
      "env",
      ["--default-signal=INT,TERM", Programs.manifestSign, "publish", place.models, "--repository", place.repository],
      environment: place.environment.merging(environment) { _, new in new }.mapValues { $0 })
    try waitUntil("the module is loaded") { (try? place.content("record"))?.last == UInt8(ascii: "\n") }
    child.send(signal)
    let result = try child.wait()
    #expect(result.status == 130 && result.errorText.contains("interrupted"), "\(result.status) \(result.errorText)")
    try expectEnded(record)
  }

  @Test("its process has the PIN in no argument, and not in its environment") func surroundings() throws {
    let scene = try TokenScene(pin: "pin-" + UUID().uuidString)
    try scene.misbehave()
    let record = scene.place.path + "/record"
    let secrets = ["MANIFEST_SIGN_PIN": scene.pin, "MANIFEST_SIGN_PASSPHRASE": "passphrase of another key"]
    let outcome = try scene.publish(secrets.merging(["TOKEN_RECORD": record]) { _, new in new })
    #expect(outcome.status == 0, "\(outcome.errors)")
    let text = String(decoding: try scene.place.content("record"), as: UTF8.self)
    #expect(text.contains("token-process-of-manifest-sign") && text.contains("SOFTHSM2_CONF="))
    #expect(!text.contains(scene.pin) && !text.contains("passphrase of another key"))
  }

  /// No process that recorded itself is left.
  private func expectEnded(_ record: String) throws {
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: record)), as: UTF8.self)
    let processes = text.split(separator: "\n").filter { $0.hasPrefix("process ") }.compactMap { Int32($0.dropFirst("process ".count)) }
    #expect(!processes.isEmpty)
    for process in processes {
      // A zombie that nobody has waited for yet counts as ended.
      let state = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? "0 (x) Z"
      #expect(state.contains(") Z"), "\(state)")
    }
  }
}
