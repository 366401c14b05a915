import Foundation
import TestSupport
import Testing

/// The main job, whole: a folder of real model files is signed, and a device refuses whatever is not as it was signed.
@Suite struct `the main job on real model files` {
  /// What becomes of a file between the publisher and the device.
  enum Damage: String, CaseIterable, Sendable {
    case flippedBit, cutByte, appendedByte, swappedFiles, renamedFile, missingFile, extraFile

    static let big = "sentence/all-minilm-l6-v2/1.0/model.safetensors"
    static let small = "google/magika/1.0.3/model.onnx"
    static let renamed = "google/magika/1.0.3/model2.onnx"

    /// The paths that a device has to name, each with what it says of it.
    var found: [(path: String, status: String)] {
      switch self {
      case .flippedBit: [(Self.big, "wrong digest")]
      case .cutByte: [(Self.big, "wrong length")]
      case .appendedByte: [(Self.small, "wrong length")]
      case .swappedFiles: [(Self.big, "wrong length"), (Self.small, "wrong length")]
      case .renamedFile: [(Self.small, "missing"), (Self.renamed, "extra")]
      case .missingFile: [(Self.big, "missing")]
      case .extraFile: [(Self.renamed, "extra")]
      }
    }

    func inflict(on folder: String) throws {
      let (big, small) = (folder + "/" + Self.big, folder + "/" + Self.small)
      let files = FileManager.default
      switch self {
      case .flippedBit:
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: big))
        try file.seek(toOffset: 45_000_001)
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: 45_000_001)
        try file.write(contentsOf: [byte ^ 0x10])
      case .cutByte:
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: big))
        try file.truncate(atOffset: try file.seekToEnd() - 1)
      case .appendedByte:
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: small))
        try file.seekToEnd()
        try file.write(contentsOf: [0])
      case .swappedFiles:
        try files.moveItem(atPath: big, toPath: big + ".tmp")
        try files.moveItem(atPath: small, toPath: big)
        try files.moveItem(atPath: big + ".tmp", toPath: small)
      case .renamedFile: try files.moveItem(atPath: small, toPath: folder + "/" + Self.renamed)
      case .missingFile: try files.removeItem(atPath: big)
      case .extraFile: try write([1], to: folder + "/" + Self.renamed)
      }
    }
  }

  /// One publication of all the real files, which the tests share and leave as it is.
  static let published = Result { try publication() }

  static func publication() throws -> ReleaseSite {
    let site = try ReleaseSite([:])
    for (model, folder) in [
      ("all-minilm-l6-v2", "sentence/all-minilm-l6-v2/1.0"), ("magika", "google/magika/1.0.3"), ("silero-vad", "snakers4/silero-vad/6.2"),
    ] {
      let target = site.models + "/" + folder
      try FileManager.default.createDirectory(
        at: URL(fileURLWithPath: target).deletingLastPathComponent(), withIntermediateDirectories: true)
      _ = try runChild("cp", ["-RL", "--reflink=auto", try ReleaseModels.path(model), target]).successful()
    }
    try site.publish(["--stage"])
    return site
  }

  @Test func `signed, staged and verified, on both sides`() throws {
    let site = try Self.published.get()
    let status = try json(try site.sign(["status", "--json"]).text)
    #expect(status["targets"] as? Int == 17)
    let verified = try json(try site.sign(["verify", site.models, "--json"]).text)
    #expect(verified["intact"] as? Int == 30 && verified["not_staged"] as? Int == 0)
    for options in [[], ["--whole"]] {
      let device = try site.device(options)
      try require(0, device)
      #expect(device.text.contains("all as signed"))
    }
    // Two digests, each held against another program's.
    let targets = try json(of: site.metadata + "/1.targets.json")
    let big = try #require(((targets["signed"] as? [String: Any])?["targets"] as? [String: [String: Any]])?[Damage.big])
    let digest = try runChild("sha256sum", [try ReleaseModels.path("all-minilm-l6-v2/model.safetensors")]).successful().text.prefix(64)
    #expect((big["hashes"] as? [String: String])?["sha256"] == String(digest))
    #expect(big["length"] as? Int == 90_868_376)
  }

  @Test(arguments: Damage.allCases, ["device", "publisher"])
  func `what was changed after it was signed is found and named`(damage: Damage, side: String) throws {
    let site = try Self.published.get()
    let copy = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", site.models + "/.", copy.path]).successful()
    try damage.inflict(on: copy.path)
    if side == "device" {
      let result = try site.device(base: copy.path)
      #expect(result.status == 12)
      for (path, status) in damage.found { #expect(result.text.contains("\(path): \(status)"), "\(result.text)") }
      let report = try json(try site.device(["--json"], base: copy.path).text)
      let failed = try #require(report["files"] as? [[String: Any]]).filter { $0["status"] as? String != "ok" }
      #expect(Set(failed.compactMap { $0["path"] as? String }) == Set(damage.found.map(\.path)))
    } else {
      let result = try site.sign(["verify", copy.path])
      let listed = damage.found.filter { $0.status != "extra" }
      #expect(result.status == (listed.isEmpty ? 0 : 12), "\(result.errorText)")
      for (path, _) in listed { #expect(result.errorText.contains(copy.path + "/" + path)) }
    }
  }

  @Test(.enabled(if: runsSlowTests))
  func `a GGUF of 253 MB is signed, and one flipped bit in it found`() throws {
    let gemma = try FileManager.default.subpathsOfDirectory(atPath: ReleaseModels.folder).filter { $0.hasSuffix(".gguf") }
    let source = try #require(gemma.first, "scripts/fetch-models --slow makes it")
    let site = try ReleaseSite([:])
    let name = "google/gemma/270m/model.gguf"
    try FileManager.default.createDirectory(atPath: site.models + "/google/gemma/270m", withIntermediateDirectories: true)
    _ = try runChild("cp", ["-L", "--reflink=auto", try ReleaseModels.path(source), site.models + "/" + name]).successful()
    try site.publish()
    #expect(try site.device().status == 0)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: site.models + "/" + name))
    try file.seek(toOffset: 200_000_000)
    let byte = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: 200_000_000)
    try file.write(contentsOf: [byte ^ 1])
    let result = try site.device()
    #expect(result.status == 12 && result.text.contains("\(name): wrong digest"))
    // And cut by a byte it is no GGUF any more.
    try file.truncate(atOffset: try file.seekToEnd() - 1)
    expect(16, name, "truncated", in: try site.sign(["publish", site.models]))
  }
}
