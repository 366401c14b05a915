import Foundation
import TestSupport
import Testing

@Suite struct `Fragments that machines hashed` {
  /// A release site, and machines beside it, each with a part of the models and a key of its own.
  struct Fleet {
    let site: ReleaseSite
    static let machines = ["machine-1", "machine-2"]

    /// - Parameter listed: the machines that keys/policy.json lists.
    init(listed: [String] = machines) throws {
      site = try ReleaseSite([:])
      try site.folder.write(Array("one".utf8), to: "machine-1/acme/tiny/1.0/weights.bin")
      try site.folder.write([UInt8](repeating: 7, count: 700_000), to: "machine-1/acme/tiny/1.0/parts/large.bin")
      try site.folder.write(Array("two".utf8), to: "machine-2/acme/tiny/1.1/weights.bin")
      try site.folder.write(Array("three".utf8), to: "machine-2/other/model/2/weights.bin")
      for name in Self.machines { try addMachine(name) }
      try list(listed)
    }

    func addMachine(_ name: String) throws { try require(0, try site.sign(["key", "generate", name, "--no-passphrase"])) }

    func list(_ names: [String]) throws {
      let path = site.repository + "/keys/policy.json"
      var policy = try json(of: path)
      policy["machines"] = names
      try JSONSerialization.data(withJSONObject: policy).write(to: URL(fileURLWithPath: path))
    }

    /// Hashes what a machine has.
    @discardableResult
    func hash(_ name: String, folder: String? = nil, to output: String? = nil, _ options: [String] = [], time: Int? = nil) throws -> String
    {
      let path = site.folder((output ?? name) + ".json")
      try require(
        0,
        try runChild(
          builtCommand("manifest-sign"),
          ["hash", site.folder(folder ?? name), "--key", "\(site.repository)/secrets/\(name).key", "--out", path] + options,
          environment: ["SOURCE_DATE_EPOCH": time.map(String.init)]))
      return path
    }

    func publish(_ fragments: [String], _ options: String...) throws -> ChildResult {
      try site.sign(["publish"] + fragments.flatMap { ["--fragment", $0] } + options)
    }

    /// Nothing was published.
    func isUntouched() throws -> Bool { try site.newest("targets") == nil }
  }

  @Test func `make the manifest that one machine would have made, and none of the files is read`() throws {
    let fleet = try Fleet()
    let fragments = try Fleet.machines.map { try fleet.hash($0) }
    for name in Fleet.machines {
      try FileManager.default.createDirectory(atPath: fleet.site.models, withIntermediateDirectories: true)
      try require(0, try runChild("sh", ["-c", "cp -R '\(fleet.site.folder(name))/.' '\(fleet.site.models)'"]))
      try FileManager.default.removeItem(atPath: fleet.site.folder(name))
    }
    let environment: [String: String?] = ["SOURCE_DATE_EPOCH": "\(Int(Date().timeIntervalSince1970))"]
    try require(0, try fleet.site.sign(["publish"] + fragments.flatMap { ["--fragment", $0] }, environment: environment))
    let merged = try json(of: fleet.site.metadata + "/1.targets.json")["signed"] as? [String: Any]
    // The very same as of one folder: nothing changes.
    let report = try json(try fleet.site.publish(["--json"], environment: environment).text)
    #expect(report["changed"] as? Bool == false)
    #expect((merged?["targets"] as? [String: Any])?.count == 4 + 2 + 1)
    try require(0, try fleet.site.sign(["verify", fleet.site.models]))
  }

  @Test func `are the same whatever --jobs says, which is how many threads hash one file`() throws {
    let fleet = try Fleet()
    // Only what is longer than a piece of four mebibytes is shared out.
    try fleet.site.folder.write([UInt8](repeating: 3, count: 9_000_000), to: "machine-1/acme/tiny/1.0/large.bin")
    let time = Int(Date().timeIntervalSince1970)
    let fragments = try [["--jobs", "1"], ["--jobs", "2"], []].map { try bytes(of: fleet.hash("machine-1", $0, time: time)) }
    #expect(fragments[1] == fragments[0] && fragments[2] == fragments[0])
    func newThreads(_ jobs: String) throws -> Int {
      let key = "\(fleet.site.repository)/secrets/machine-1.key"
      return try SystemCallCounts(
        of: "manifest-sign", ["hash", fleet.site.folder("machine-1"), "--key", key, "--out", fleet.site.folder("x"), "--jobs", jobs]
      ).newThreads
    }
    #expect(try newThreads("1") == 0)
    #expect(try newThreads("2") > 0 || ProcessInfo.processInfo.activeProcessorCount == 1)
    let command = try builtCommand("manifest-sign")
    expect(2, "--jobs", in: try runChild(command, ["hash", ".", "--key", "k", "--out", "o", "--jobs", "0"]))
  }

  @Test func `are refused where they overlap or contradict each other`() throws {
    let fleet = try Fleet()
    let first = try fleet.hash("machine-1")
    let same = try fleet.hash("machine-2", folder: "machine-1", to: "same")
    expect(16, "acme/tiny/1.0/", "same.json", "machine-1.json", in: try fleet.publish([first, same]))
    expect(16, "machine-1.json", in: try fleet.publish([first, first]))
    try fleet.site.folder.write(Array("six".utf8), to: "machine-1/acme/tiny/1.0/weights.bin")
    try FileManager.default.removeItem(atPath: fleet.site.folder("machine-1/acme/tiny/1.0/parts"))
    let other = try fleet.hash("machine-2", folder: "machine-1", to: "other")
    expect(12, "weights.bin with other content", "other.json", in: try fleet.publish([first, other]))
    // Names that one file system may take for one, which no machine saw together.
    try fleet.site.folder.write(Array("x".utf8), to: "case/ACME/tiny/1.0/weights.bin")
    expect(16, "collides", in: try fleet.publish([first, try fleet.hash("machine-2", folder: "case", to: "case")]))
    #expect(try fleet.isUntouched())
  }

  @Test func `are refused unsigned, of a machine that is not listed, altered, or expired`() throws {
    let fleet = try Fleet(listed: ["machine-1"])
    let (good, unlisted) = (try fleet.hash("machine-1"), try fleet.hash("machine-2"))
    expect(10, "machine-2.json", "machines", in: try fleet.publish([good, unlisted]))
    let text = String(decoding: try bytes(of: good), as: UTF8.self)
    func refuse(_ status: Int32, _ words: String, _ text: String) throws {
      let path = fleet.site.folder("bad.json")
      try write(Array(text.utf8), to: path)
      expect(status, "bad.json", words, in: try fleet.publish([path]))
    }
    try refuse(10, "machine-1", text.replacing("\"length\":3", with: "\"length\":4"))
    let signatures = try #require(text.range(of: #""signatures":\[[^\]]*\]"#, options: .regularExpression))
    try refuse(10, "not signed", text.replacingCharacters(in: signatures, with: "\"signatures\":[]"))
    try refuse(16, "malformed", String(text.dropLast()))
    try refuse(16, "malformed", "")
    let old = try fleet.hash("machine-1", to: "old", ["--days", "1"], time: 1_700_000_000)
    expect(11, "old.json", "valid until", in: try fleet.publish([old]))
    // Signed metadata of the repository itself is no fragment: its key is not a machine's.
    try require(0, try fleet.publish([good]))
    expect(10, "1.targets.json", in: try fleet.publish([fleet.site.metadata + "/1.targets.json"]))
    // A machine that is taken from the list is trusted no more.
    try fleet.list([])
    expect(10, "machine-1.json", in: try fleet.publish([good]))
  }

  @Test func `say what the files' headers say, and carry descriptions that people wrote`() throws {
    let fleet = try Fleet()
    try require(0, try fleet.publish([try fleet.hash("machine-1"), try fleet.hash("machine-2")]))
    // As it was derived, in bytes of its own.
    let written = try bytes(of: fleet.site.published("other/model/model.json")) + Array(" \n".utf8)
    try fleet.site.folder.write(written, to: "machine-2/other/model/model.json")
    try require(0, try fleet.publish([try fleet.hash("machine-1"), try fleet.hash("machine-2")]))
    let folder = fleet.site.targets + "/other/model"
    let published = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }
    #expect(try published.contains { try bytes(of: folder + "/" + $0) == written })
    // A file whose format is wrong stops the machine that has it.
    try fleet.site.folder.write(Array("<html>".utf8), to: "machine-1/acme/tiny/1.0/weights.gguf")
    let result = try runChild(
      builtCommand("manifest-sign"),
      ["hash", fleet.site.folder("machine-1"), "--key", "\(fleet.site.repository)/secrets/machine-1.key", "--out", fleet.site.folder("x")])
    expect(16, "weights.gguf", in: result)
    #expect(!FileManager.default.fileExists(atPath: fleet.site.folder("x")))
  }

  @Test func `of a key that everybody has, or that the roots left behind, are neither made nor merged`() throws {
    let fleet = try Fleet()
    let (keys, secrets) = (fleet.site.repository + "/keys", fleet.site.repository + "/secrets")
    func attempt(_ key: String, _ words: String) throws {
      let path = fleet.site.folder("bad.json")
      let arguments = ["hash", fleet.site.folder("machine-1"), "--key", key, "--out", path]
      expect(17, words, in: try runChild(builtCommand("manifest-sign"), arguments))
      #expect(!FileManager.default.fileExists(atPath: path))
    }
    // Under a machine's own name, and as another program would sign it.
    let example = packageRoot.path + "/Tests/Example/worthless-keys/targets-1.key"
    let copy = try fleet.site.folder.write(bytes(of: example), to: "example/targets-1.key")
    try require(0, try runChild("chmod", ["-R", "go-rwx", fleet.site.folder("example")]))
    try attempt(copy, "one of the worked example's")
    try require(0, try fleet.publish([try fleet.hash("machine-1")]))
    try fleet.list(["machine-1", "timestamp-1"])
    let good = try fleet.hash("timestamp-1", folder: "machine-2")
    try require(0, try fleet.site.sign(["rotate", "timestamp", "--no-passphrase"]))
    try attempt(secrets + "/timestamp-1.key", "was retired")
    // Where the roots are not beside the key, only who publishes knows.
    expect(17, "was retired", in: try fleet.publish([try fleet.hash("machine-1"), good]))
    let elsewhere = try fleet.site.folder.write(bytes(of: secrets + "/timestamp-1.key"), to: "elsewhere/k.key")
    try require(0, try runChild("chmod", ["-R", "go-rwx", fleet.site.folder("elsewhere")]))
    let late = fleet.site.folder("late.json")
    try require(
      0, try runChild(builtCommand("manifest-sign"), ["hash", fleet.site.folder("machine-2"), "--key", elsewhere, "--out", late]))
    expect(17, "was retired", in: try fleet.publish([late]))
    #expect(FileManager.default.fileExists(atPath: keys + "/timestamp-1.pem"))
    // A fragment that only names a key of the example.
    let text = String(decoding: try bytes(of: late), as: UTF8.self)
    let range = try #require(text.range(of: #""keyid":"[0-9a-f]{64}"#, options: .regularExpression))
    let named = text.replacingCharacters(
      in: range, with: "\"keyid\":\"4b964a04e2e32a4a54f8762b3c797c5d6e6528dc8e0ad1c399ccedf6634cbdc3")
    try write(Array(named.utf8), to: late)
    expect(17, "one of the worked example's", in: try fleet.publish([late]))
  }

  @Test func `are refused where a file is the bare seed of a key that only the repository knows`() throws {
    let fleet = try Fleet()
    let text = String(decoding: try bytes(of: fleet.site.repository + "/secrets/targets-1.key"), as: UTF8.self)
    let digits = try #require(text.split(separator: "\n").first { $0.hasPrefix("seed: ") }?.dropFirst(6))
    let pairs = stride(from: 0, to: 64, by: 2).map { digits.dropFirst($0).prefix(2) }
    let seed = Data(pairs.compactMap { UInt8($0, radix: 16) })
    let forms: [[UInt8]] = [
      Array(seed), Array((digits + "\n").utf8), Array("x \(seed.base64EncodedString())".utf8), Array(pairs.joined(separator: ":").utf8),
    ]
    for form in forms {
      try fleet.site.folder.write(form, to: "machine-1/acme/tiny/1.0/notes.txt")
      let fragment = try fleet.hash("machine-1")
      #expect(!String(decoding: try bytes(of: fragment), as: UTF8.self).contains(digits))
      expect(16, "acme/tiny/1.0/notes.txt", "is a secret key", in: try fleet.publish([fragment]))
    }
    #expect(try fleet.isUntouched())
    try fleet.site.folder.write([UInt8](repeating: 9, count: 32), to: "machine-1/acme/tiny/1.0/notes.txt")
    try require(0, try fleet.publish([try fleet.hash("machine-1")]))
  }

  @Test func `say of each of many files on its own what might be a bare seed in it`() throws {
    let fleet = try Fleet()
    var random = SeededGenerator(seed: 5)
    for number in 0..<400 { try fleet.site.folder.write(random.bytes(32), to: "machine-1/acme/tiny/1.0/many/\(number).bin") }
    func seedKeys(jobs: Int) throws -> [String: [String]] {
      let fragment = try json(of: try fleet.hash("machine-1", ["--jobs", "\(jobs)"]))
      let signed = try #require(fragment["signed"] as? [String: Any])
      let targets = try #require(signed["targets"] as? [String: [String: Any]])
      return targets.compactMapValues { ($0["custom"] as? [String: Any])?["public_keys_of_possible_seeds"] as? [String] }
    }
    let alone = try seedKeys(jobs: 1)
    #expect(alone.count == 400 && alone.values.allSatisfy { $0.count == 1 } && Set(alone.values).count == 400)
    #expect(try seedKeys(jobs: 8) == alone)
  }

  @Test func `of one part open the files of that part alone, and between them all parts find what none may hold`() throws {
    let fleet = try Fleet()
    for number in 0..<64 { try fleet.site.folder.write(Array("\(number)".utf8), to: "machine-1/acme/tiny/1.0/many/\(number).bin") }
    func run(_ part: String) -> [String] {
      [
        "hash", fleet.site.folder("machine-1"), "--key", "\(fleet.site.repository)/secrets/machine-1.key", "--out", fleet.site.folder("o"),
        "--part", part,
      ]
    }
    let whole = try SystemCallCounts(of: "manifest-sign", run("0/1")).openings
    let parts = try (0..<8).map { try SystemCallCounts(of: "manifest-sign", run("\($0)/8")).openings }
    // Each of the 64 files is opened for the search and for its digests, in one part of eight.
    #expect(parts.allSatisfy { whole - $0 > 64 })
    let key = "-----BEGIN PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ==\n-----END PRIVATE KEY-----\n"
    try fleet.site.folder.write(
      Array(key.utf8), to: "machine-1/acme/tiny/1.0/many/key.bin")
    let refused = try (0..<8).filter { try runChild(builtCommand("manifest-sign"), run("\($0)/8")).status != 0 }
    #expect(refused.count == 1)
  }

  @Test(arguments: ["4/4", "-1/4", "0/0", "1", "a/b", "1/2/3"])
  func `of a part that does not exist are refused`(part: String) throws {
    expect(
      2, "--part", in: try runChild(builtCommand("manifest-sign"), ["hash", ".", "--key", "k", "--out", "o", "--part=\(part)"]))
  }
}
