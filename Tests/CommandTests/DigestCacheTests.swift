import Foundation
import TestSupport
import Testing

@Suite struct `What was hashed once is not read again` {
  /// A site whose files changed long before they are hashed, as far as the file system tells: the time of change can't be set, so it is waited for.
  static func site() throws -> ReleaseSite {
    let site = try ReleaseSite()
    Thread.sleep(forTimeInterval: 2.1)
    return site
  }

  static func hashed(_ site: ReleaseSite, _ options: String...) throws -> Int {
    try #require(try json(try site.publish(["--json"] + options).text)["hashed"] as? Int)
  }

  static func cache(_ site: ReleaseSite) throws -> String {
    let folder = site.repository + "/.manifest-sign-cache"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("digests-") }
    try #require(names.count == 1)
    return folder + "/" + names[0]
  }

  @Test func `a file is read again where anything of it changed, and all are with --rehash`() throws {
    let site = try Self.site()
    #expect(try Self.hashed(site) == 3)
    let manifest = try bytes(of: site.metadata + "/1.targets.json")
    #expect(try Self.hashed(site) == 0)
    #expect(try Self.hashed(site, "--rehash") == 3)
    #expect(try bytes(of: site.metadata + "/1.targets.json") == manifest)
    // Younger than the clock's step, so it is read each time; the content decides what is published.
    try site.write("the weights of Tiny", to: "acme/tiny/1.0/weights.bin")
    expect(12, "acme/tiny/1.0/weights.bin", in: try site.sign(["publish", site.models]))
    #expect(try Self.hashed(site, "--allow-replace") == 1)
    #expect(try Self.hashed(site) == 1)
    // The same length and time of modification: the time of change tells.
    let file = site.models + "/other/large/2024-05/large.bin"
    let date = try #require(try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date)
    try write([UInt8](repeating: 8, count: 700_000), to: file)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file)
    expect(12, "large.bin", in: try site.sign(["publish", site.models]))
  }

  @Test func `an unchanged catalog costs one look at the status of each file, and opens none of them`() throws {
    let (few, many) = (20, 220)
    let counts = try [few, many].map { count in
      let site = try ReleaseSite([:])
      for number in 0..<count { try site.write("\(number)", to: "acme/many/1.0/\(number).bin") }
      Thread.sleep(forTimeInterval: 2.1)
      #expect(try Self.hashed(site) == count)
      return try SystemCallCounts(of: "manifest-sign", ["publish", site.models, "--repository", site.repository])
    }
    // The rest of what is opened and looked at is the same for both.
    #expect(counts[1].statuses - counts[0].statuses == many - few)
    #expect(counts[1].openings == counts[0].openings)
  }

  @Test func `a format is checked before a file is remembered, and what a person broke since is found`() throws {
    let site = try Self.site()
    try site.write("<html>", to: "acme/tiny/1.0/weights.gguf")
    for _ in 0..<2 { expect(16, "weights.gguf", in: try site.sign(["publish", site.models])) }
    try FileManager.default.removeItem(atPath: site.models + "/acme/tiny/1.0/weights.gguf")
    // What was hashed before the failure was remembered.
    #expect(try Self.hashed(site) < 3)
  }

  @Test func `a .verity that is missing or damaged where it is served is made again from the file`() throws {
    let site = try Self.site()
    try site.publish()
    let folder = site.targets + "/other/large/2024-05"
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasSuffix(".verity") })
    let good = try bytes(of: folder + "/" + name)
    #expect(try Self.hashed(site) == 0)
    for bad in [nil, good.map { $0 ^ 1 }, Array(good.dropLast())] {
      try FileManager.default.removeItem(atPath: folder + "/" + name)
      if let bad { try write(bad, to: folder + "/" + name) }
      #expect(try Self.hashed(site) == 1)
      #expect(try bytes(of: folder + "/" + name) == good)
    }
  }

  @Test func `the cache is the owner's alone, outside of what is served, and ignored by git`() throws {
    let site = try Self.site()
    try site.publish()
    let cache = try Self.cache(site)
    let mode = try FileManager.default.attributesOfItem(atPath: cache)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(try bytes(of: site.repository + "/.manifest-sign-cache/.gitignore") == Array("*\n".utf8))
    let git = try runChild("sh", ["-c", "cd '\(site.repository)' && git init -q . && git status --porcelain --untracked-files=all"])
    #expect(!git.text.contains("cache"), "\(git.text)\(git.errorText)")
  }

  enum Damage: CaseIterable {
    case bitFlip, truncation, empty, longer, readableByOthers, symbolicLink, directory
  }

  @Test func `one that is damaged or not the owner's alone is ignored, with a warning, and replaced`() throws {
    let site = try Self.site()
    try site.publish()
    let cache = try Self.cache(site)
    let good = try bytes(of: cache)
    for damage in Damage.allCases {
      switch damage {
      case .bitFlip:
        var bad = good
        bad[bad.count / 2] ^= 1
        try write(bad, to: cache)
      case .truncation: try write(Array(good.dropLast()), to: cache)
      case .empty: try write([], to: cache)
      case .longer: try write(good + [0], to: cache)
      case .readableByOthers: try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: cache)
      case .symbolicLink:
        try write(good, to: cache + ".other")
        try FileManager.default.removeItem(atPath: cache)
        try FileManager.default.createSymbolicLink(atPath: cache, withDestinationPath: cache + ".other")
      case .directory:
        try FileManager.default.removeItem(atPath: cache)
        try FileManager.default.createDirectory(atPath: cache, withIntermediateDirectories: false)
      }
      let result = try site.publish(["--json"])
      #expect(result.errorText.contains("every file is read"), "\(damage): \(result.errorText)")
      #expect(try json(result.text)["hashed"] as? Int == 3, "\(damage)")
      if damage == .directory { continue }
      #expect(try Self.hashed(site) == 0, "\(damage)")
      try? FileManager.default.removeItem(atPath: cache + ".other")
    }
  }

  @Test(arguments: ["link", "dangling link", "file", "writable", "another user's"])
  func `its folder is ignored with a warning, and left as it is, where it is a link or not the owner's alone`(kind: String) throws {
    let site = try Self.site()
    try site.publish()
    let files = FileManager.default
    let (folder, other) = (site.repository + "/.manifest-sign-cache", site.repository + "/other")
    switch kind {
    case "link":
      try files.moveItem(atPath: folder, toPath: other)
      try files.createSymbolicLink(atPath: folder, withDestinationPath: "other")
    case "dangling link":
      try files.removeItem(atPath: folder)
      try files.createSymbolicLink(atPath: folder, withDestinationPath: "other")
    case "file":
      try files.removeItem(atPath: folder)
      try write([], to: folder)
    case "writable": try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
    default: _ = try runChild("chown", ["12345", folder]).successful()
    }
    func content() throws -> [String] { try files.subpathsOfDirectory(atPath: site.repository).filter { $0.contains("digests-") } }
    let before = try content()
    for options in [["--json"], ["--json", "--rehash"]] {
      let result = try site.publish(options)
      #expect(result.errorText.contains("can't be remembered"), "\(kind): \(result.errorText)")
      #expect(result.errorText.contains("every file is read") || options.contains("--rehash"), "\(kind): \(result.errorText)")
      #expect(try json(result.text)["hashed"] as? Int == 3, "\(kind)")
    }
    #expect(try content() == before && (kind != "dangling link" || !files.fileExists(atPath: other)))
  }

  @Test func `verify reads every file, whatever is remembered`() throws {
    let site = try Self.site()
    try site.publish(["--stage"])
    // Written through the page cache of the same inode: what a failing disk does leaves no trace in the times either, but can't be made here.
    let file = site.models + "/acme/tiny/1.0/weights.bin"
    try write(Array("the weights of tinY".utf8), to: file)
    expect(12, "weights.bin", in: try site.sign(["verify", site.models]))
  }
}
