import Foundation
import TestSupport
import Testing

@Suite struct `publish writes a .verity for each large file, and check uses it` {
  private static let large = "other/large/2024-05/large.bin"
  private static let segment = 512 << 10

  /// The served `.verity` of the large file: beside its staged copy, under that one's name.
  private static func served(_ site: ReleaseSite) throws -> String { try site.published(large) + ".verity" }

  private static func check(_ site: ReleaseSite, _ options: String...) throws -> ChildResult {
    try site.device(options)
  }

  @Test func `it lies beside the staged file, 32 bytes for each 512 KiB, and is written once`() throws {
    let site = try ReleaseSite()
    try site.publish(["--stage"])
    let bytes = try bytes(of: Self.served(site))
    #expect(bytes.count == 64)
    // No small file has one, and no metadata lists one.
    #expect(try FileManager.default.subpathsOfDirectory(atPath: site.targets).filter { $0.hasSuffix(".verity") }.count == 1)
    #expect(try !String(decoding: CommandTests.bytes(of: site.metadata + "/1.targets.json"), as: UTF8.self).contains(".verity"))
    let before = try site.snapshot(of: "repository/manifests")
    try site.publish(["--stage"])
    #expect(try site.snapshot(of: "repository/manifests") == before)
    // What was damaged or lost is made anew.
    try write([1, 2, 3], to: Self.served(site))
    try site.publish()
    #expect(try CommandTests.bytes(of: Self.served(site)) == bytes)
  }

  @Test func `without --stage it is written too, under the same name`() throws {
    let site = try ReleaseSite()
    try site.publish()
    let names = try FileManager.default.contentsOfDirectory(atPath: site.targets + "/other/large/2024-05")
    #expect(names.count == 1 && names[0].hasSuffix(".large.bin.verity"))
    try site.publish(["--stage"])
    #expect(try Self.served(site) == site.targets + "/other/large/2024-05/" + names[0])
  }

  @Test func `check stops at the first bad segment and names it`() throws {
    let site = try ReleaseSite()
    try site.publish(["--stage"])
    let local = site.models + "/" + Self.large
    try FileManager.default.copyItem(atPath: Self.served(site), toPath: local + ".verity")
    // An intact file passes, and its .verity is nothing extra, whichever digest decides.
    for options in [[], ["--whole"]] {
      let result = try site.device(options)
      #expect(result.status == 0, "\(result.text)\(result.errorText)")
    }
    var content = try bytes(of: local)
    content[Self.segment + 5] ^= 1
    try write(content, to: local)
    let result = try Self.check(site)
    #expect(result.status == 12 && result.text.contains("\(Self.large): wrong digest"))
    #expect(result.text.contains("in bytes 524288 to 699999") && result.text.contains("no more of the file was read"))
    let report = try json(try Self.check(site, "--json").text)
    let file = try #require((report["files"] as? [[String: Any]])?.first { $0["path"] as? String == Self.large })
    let found = try #require(file["segment"] as? [String: Any])
    #expect(file["status"] as? String == "wrong digest")
    #expect(found["offset"] as? Int == Self.segment && found["length"] as? Int == 700_000 - Self.segment)
  }

  @Test(arguments: ["corrupted", "truncated", "over-long", "swapped"])
  func `one that is damaged is not used, is told of, and is extra`(damage: String) throws {
    let site = try ReleaseSite()
    try site.publish(["--stage"])
    let good = try bytes(of: Self.served(site))
    let bad: [UInt8] =
      switch damage {
      case "corrupted": [good[0] ^ 1] + good.dropFirst()
      case "truncated": good.dropLast()
      case "over-long": good + [0]
      default: Array(good[32...] + good[..<32])
      }
    let local = site.models + "/" + Self.large
    try write(bad, to: local + ".verity")
    let result = try Self.check(site)
    #expect(result.status == 12 && result.text.contains("\(Self.large).verity: extra") && result.text.contains("1 file") == false)
    #expect(result.errorText.contains("\(Self.large).verity can't be used"))
    // The file itself is still judged, by its whole tree.
    var content = try bytes(of: local)
    content[3] ^= 1
    try write(content, to: local)
    #expect(try Self.check(site).text.contains("expected: 700,000 bytes, fs-verity sha256:"))
    // The publisher learns of one that is served so.
    try write(bad, to: Self.served(site))
    let verified = try site.sign(["verify"])
    #expect(verified.status == 12 && verified.errorText.contains(".large.bin.verity is not of the signed file"))
  }
}
