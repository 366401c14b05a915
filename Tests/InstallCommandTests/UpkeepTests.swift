import Foundation
import TestSupport
import Testing

@Suite("One model's fault is told, and is no other's")
struct DamagedRecordTests {
  @Test("A damaged record hinders no other model, and nothing of its own model is removed", arguments: ["{\"broken", "", "link"])
  func damagedRecord(content: String) throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    _ = try device.install("acme/multi:mac").successful()
    let record = device.store + "/records/acme/multi.json"
    try FileManager.default.removeItem(atPath: record)
    if content == "link" {
      try FileManager.default.createSymbolicLink(atPath: record, withDestinationPath: "voice.json")
    } else {
      try Data(content.utf8).write(to: URL(fileURLWithPath: record))
    }
    // What a file manager leaves is nobody's fault.
    for folder in ["records", "records/acme", "descriptions"] { try device.folder.write("", to: "store/\(folder)/.DS_Store") }
    let list = try device.run(["list", "--store", device.store]).successful()
    #expect(list.text.contains("record can't be read") && list.text.contains("acme/voice"))
    #expect(list.errorText.contains("acme/multi") && list.errorText.contains("remove"))
    _ = try device.install(of: "v2").successful()
    try device.expectActive("2.0")
    _ = try device.run(["rollback", "acme/voice", "--store", device.store]).successful()
    _ = try device.run(["prune", "--store", device.store]).successful()
    #expect(device.names("models/acme/multi").contains("1/mac/mac.txt"))
    let state = try ["--state", device.state, "--targets-url", Publication.server.url("v1/targets")]
    let repair = try device.run(["repair", "--store", device.store] + state)
    #expect(repair.status != 0 && repair.text.contains("intact  acme/voice"), "\(repair.errorText)")
    #expect(try device.install("acme/multi:mac", of: "v2").status != 0)
    try FileManager.default.removeItem(atPath: record)
    _ = try device.install("acme/multi:mac", of: "v2").successful()
    #expect(try device.active("acme/multi")?.variant == "mac")
  }
}

@Suite("What is as signed is not called changed")
struct ListTests {
  @Test("A file whose times alone are others, as after a crash, is read and found to be as signed; one with other bytes is changed")
  func otherTimes() throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let file = try #require(try device.active()).folder + "/" + Publication.weights
    try FileManager.default.linkItem(atPath: file, toPath: device.folder("second name"))
    try FileManager.default.removeItem(atPath: device.folder("second name"))
    #expect(try device.active()?.unchanged == true)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
    try handle.seek(toOffset: 1_000_000)
    try handle.write(contentsOf: Data("damaged".utf8))
    try handle.close()
    #expect(try device.active()?.unchanged == false)
    #expect(try device.run(["list", "--store", device.store]).successful().text.contains("active, changed"))
  }
}

@Suite("Where there is nothing to do, nothing is made")
struct NothingTests {
  @Test(
    "No store is made by a verb that changes what is installed",
    arguments: [["repair"], ["repair", "acme/voice"], ["rollback", "acme/voice"], ["prune"]])
  func noStore(words: [String]) throws {
    let device = try InstallDevice()
    let result = try device.run(words + ["--store", device.store])
    #expect(result.status == (words.count == 1 ? 0 : 1), "\(result.errorText)")
    #expect(!FileManager.default.fileExists(atPath: device.store))
  }

  @Test("Going back leads to the version before, and to none by name", arguments: ["acme/voice@1.0", "acme/voice:default"])
  func rollbackByName(model: String) throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    #expect(try device.run(["rollback", model, "--store", device.store]).status == 2)
  }

  @Test(
    "A repair of what is not installed is an error, and names what is", arguments: ["@9", ":none", "@1.0:none"])
  func repairByName(name: String) throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    // What is named beside it is looked at all the same.
    for (more, text) in [([], ""), (["acme/voice"], "intact  acme/voice@1.0:default\n")] {
      let result = try device.run(["repair", "acme/voice" + name] + more + ["--store", device.store])
      #expect(result.status == 1 && result.text == text, "\(result.text)\(result.errorText)")
      #expect(result.errorText.contains("acme/voice\(name) is not installed") && result.errorText.contains("1.0:default"))
    }
    _ = try device.run(["repair", "acme/voice@1.0", "acme/voice:default", "--store", device.store]).successful()
  }
}

@Suite("A kept description is no more than a copy")
struct KeptDescriptionTests {
  @Test("Something else in its place is replaced; what may be somebody's is told", arguments: ["link", "folder", "FIFO", "full folder"])
  func displaced(kind: String) throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let path = device.store + "/descriptions/acme/voice.json"
    try device.folder.write("somebody's", to: "other")
    try FileManager.default.removeItem(atPath: path)
    switch kind {
    case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: device.folder("other"))
    case "FIFO": _ = try runChild("mkfifo", [path]).successful()
    default: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
    if kind == "full folder" {
      try Data().write(to: URL(fileURLWithPath: path + "/file"))
      let result = try device.install(of: "v2")
      #expect(result.status == 14 && result.errorText.contains(path) && result.errorText.contains("remove it"), "\(result.errorText)")
      try device.expectActive("1.0")
      try FileManager.default.removeItem(atPath: path)
    }
    _ = try device.install(of: "v2").successful()
    try device.expectActive("2.0")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).starts(with: Data("{".utf8)))
    #expect(try String(contentsOfFile: device.folder("other"), encoding: .utf8) == "somebody's")
  }
}
