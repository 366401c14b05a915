import Foundation
import TestSupport
import Testing

/// A copy of the worked example, without anything secret.
private struct DrillCopy {
  let folder: TemporaryFolder
  var repository: String { folder("repository") }

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: repository, withIntermediateDirectories: false)
    for part in ["keys", "manifests"] {
      try FileManager.default.copyItem(atPath: packageRoot.appending(path: part).path, toPath: repository + "/" + part)
    }
  }

  func drill(_ options: [String] = [], environment: [String: String?] = [:]) throws -> ChildResult {
    try runChild(
      builtCommand("manifest-sign"), ["drill", "--repository", repository] + options,
      environment: ["MANIFEST_SIGN_PASSPHRASE": nil].merging(environment) { $1 })
  }

  /// Everything below the repository: content, kind, times.
  func image() throws -> [String: String] {
    var image: [String: String] = [:]
    for case let path as String in try #require(FileManager.default.enumerator(atPath: repository)) {
      let full = repository + "/" + path
      let attributes = try FileManager.default.attributesOfItem(atPath: full)
      let time = try #require(attributes[.modificationDate] as? Date).timeIntervalSince1970
      let content = FileManager.default.contents(atPath: full).map { $0.base64EncodedString() } ?? "a folder"
      image[path] = "\(time) \(attributes[.posixPermissions] ?? 0) \(content)"
    }
    let top = try FileManager.default.attributesOfItem(atPath: repository)
    image["."] = "\(try #require(top[.modificationDate] as? Date).timeIntervalSince1970)"
    return image
  }
}

@Suite("manifest-sign drill")
struct ManifestSignDrillTests {
  @Test("passes on the worked example with python-tuf as a second device, touches nothing and needs no secret")
  func workedExample() throws {
    let copy = try DrillCopy()
    let before = try copy.image()
    let result = try copy.drill(["--json", "--seed", "7", "--python", try peerPython()])
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
    #expect(try copy.image() == before)
    let report = try json(result.text)
    #expect(report["passed"] as? Bool == true && report["seed"] as? Int == 7)
    let scenarios = try #require(report["scenarios"] as? [[String: Any]])
    #expect(scenarios.count > 50)
    for scenario in scenarios {
      for name in ["id", "role", "device", "expected", "observed", "result", "without_updates"] {
        #expect((scenario[name] as? String)?.isEmpty == false, "\(name): \(scenario)")
      }
      #expect(scenario["passed"] as? Bool == true, "\(scenario)")
    }
    #expect(scenarios.contains { $0["id"] as? String == "key-loss" && $0["role"] as? String == "root: root-3" })
    #expect(scenarios.contains { $0["id"] as? String == "rotation" && ($0["device"] as? String)?.hasPrefix("python-tuf 7") == true })
    // The same number plays the same drill.
    let replayed = try json(try copy.drill(["--json", "--seed", "7", "--python", try peerPython()]).text)
    #expect(Self.rows(replayed) == Self.rows(report))
  }

  /// What was played and what became of it, without the sentences, in which the clock's time stands.
  private static func rows(_ report: [String: Any]) -> [String] {
    (report["scenarios"] as? [[String: Any]] ?? []).map { row in
      ["id", "role", "device", "result", "without_updates"].map { "\(row[$0] ?? "")" }.joined(separator: " | ")
    }
  }

  @Test("tells in a table what was played, and notes that a second client is missing")
  func table() throws {
    let result = try DrillCopy().drill(environment: ["PATH": "/nowhere"])
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
    for words in ["compromise-root-threshold", "an update of the app", "publisher-crash", "not run", "passed, 0 failed", "--seed "] {
      #expect(result.text.contains(words), "\(words)")
    }
    #expect(result.errorText.contains("not installed"))
    #expect(!result.text.contains("FAILED"))
  }

  @Test("exits with 19 and says what failed where something did")
  func failing() throws {
    let copy = try DrillCopy()
    // A newer targets file than the snapshot names: the publication ended too early, or was never signed above.
    let metadata = copy.repository + "/manifests/metadata"
    try FileManager.default.copyItem(atPath: metadata + "/1.targets.json", toPath: metadata + "/2.targets.json")
    let result = try copy.drill(environment: ["PATH": "/nowhere"])
    #expect(result.status == 19, "\(result.text)\(result.errorText)")
    #expect(result.text.contains("FAILED: Whatever names a file names its newest version (cascade), snapshot"))
    #expect(result.text.contains("expected: ") && result.text.contains("observed: ") && result.text.contains("2.targets.json"))
    let report = try json(try copy.drill(["--json"], environment: ["PATH": "/nowhere"]).text)
    #expect(report["passed"] as? Bool == false)
    let rows = try #require(report["scenarios"] as? [[String: Any]])
    #expect(rows.filter { $0["passed"] as? Bool == false }.compactMap { $0["id"] as? String } == ["cascade"])
    #expect(rows.contains { $0["result"] as? String == "not-run" && $0["passed"] is NSNull })
  }

  @Test("passes on a healthy catalog with bins", arguments: [2, 16])
  func bins(count: Int) throws {
    let site = try ReleaseSite(options: ["--no-passphrase", "--root-keys", "3", "--root-threshold", "2", "--bins", "\(count)"])
    try site.publish()
    let result = try site.sign(["drill", "--json", "--seed", "1", "--python", peerPython()])
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
    let rows = try #require(try json(result.text)["scenarios"] as? [[String: Any]])
    #expect(rows.contains { $0["id"] as? String == "expiry" && ($0["role"] as? String)?.hasPrefix("bin-0000 and ") == true })
    #expect(rows.contains { $0["id"] as? String == "rotation" && ($0["device"] as? String)?.hasPrefix("python-tuf 7") == true })
  }

  @Test("says before it is played that its page can't be written")
  func unwritablePage() throws {
    let copy = try DrillCopy()
    for path in ["/nonexistent/drill.html", copy.repository, copy.repository + "/keys/policy.json/drill.html"] {
      let result = try copy.drill(["--html", path], environment: ["PATH": "/nowhere"])
      expect(14, path, in: result)
      #expect(!result.text.contains("rotation"))
    }
    let page = copy.folder("drill.html")
    try require(0, try copy.drill(["--html", page], environment: ["PATH": "/nowhere"]))
    #expect(try FileManager.default.contentsOfDirectory(atPath: copy.folder.path).sorted() == ["drill.html", "repository"])
  }

  @Test("refuses a folder that holds no repository, one that has published nothing, and a Python without python-tuf")
  func refusals() throws {
    let folder = try TemporaryFolder()
    let sign = try builtCommand("manifest-sign")
    expect(1, "no repository", in: try runChild(sign, ["drill", "--repository", folder.path]))
    let copy = try DrillCopy()
    for name in ["timestamp", "1.snapshot", "1.targets"] {
      try FileManager.default.removeItem(atPath: copy.repository + "/manifests/metadata/\(name).json")
    }
    expect(1, "nothing is published yet", in: try copy.drill())
    expect(1, "python-tuf", "pip install", in: try DrillCopy().drill(["--python", "/bin/false"]))
    expect(2, in: try copy.drill(["--seed", "-1"]))
    expect(2, "past", in: try copy.drill(["--at", "2001-01-01T00:00:00Z"]))
  }
}

@Suite("The page of manifest-sign drill")
struct DrillPageTests {
  /// A page with a failure and with a role whose name is hostile.
  private static func page(_ folder: TemporaryFolder) throws -> String {
    let copy = try DrillCopy()
    let metadata = copy.repository + "/manifests/metadata"
    try FileManager.default.copyItem(atPath: metadata + "/1.targets.json", toPath: metadata + "/2.targets.json")
    let name = "<script>document.title='owned'</script>\u{202E}"
    try FileManager.default.moveItem(
      atPath: copy.repository + "/keys/root-1.pem", toPath: copy.repository + "/keys/\(name.replacing("/", with: "")).pem")
    let result = try copy.drill(["--html", folder("drill.html"), "--python", try peerPython()])
    #expect(result.status == 19, "\(result.text)\(result.errorText)")
    return try folder.text(of: "drill.html")
  }

  @Test("needs nothing else, escapes every name, and tells passed from failed in words")
  func content() throws {
    let page = try Self.page(try TemporaryFolder())
    #expect(
      page.contains("✗ FAILED") && page.contains("✓ passed") && page.contains("prefers-color-scheme: dark") && page.contains("@media print")
    )
    #expect(page.contains("&lt;script&gt;") && !page.contains("<script") && !page.contains("\u{202E}"))
    for loader in ["src=", "href=\"http", "url(", "@import", "<link"] { #expect(!page.contains(loader), "\(loader)") }
    #expect(page.contains("no cure in band"))
  }

  @Test("fits a phone and a screen without being scrolled sideways, as Chromium lays it out")
  func layout() throws {
    let folder = try TemporaryFolder()
    _ = try Self.page(folder)
    // The page itself may run nothing, so a page around it looks.
    try folder.write(
      """
      <!DOCTYPE html><meta charset="utf-8"><body>
      <iframe src="drill.html" width="360" height="800"></iframe><iframe src="drill.html" width="1000" height="800"></iframe>
      <iframe src="drill.html" width="1280" height="800"></iframe>
      <script>
      window.onload = () => {
        for (const frame of document.querySelectorAll("iframe")) {
          const page = frame.contentDocument;
          const wide = [...page.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > frame.clientWidth + 1)
            .concat([...page.querySelectorAll("td, dd")].filter(e => e.scrollWidth > e.clientWidth + 1));
          const small = [...page.querySelectorAll("td span, p, li")].filter(e => parseFloat(getComputedStyle(e).fontSize) < 12);
          const line = document.createElement("p");
          line.textContent = `width ${frame.width}: page ${page.documentElement.scrollWidth <= frame.clientWidth}, wide ${wide.length}, `
            + `small ${small.length}, rows ${page.querySelectorAll("tbody tr").length}, title ${page.title}`;
          document.body.append(line);
        }
      };
      </script>
      """, to: "frames.html")
    // A profile of its own; as root there is no sandbox to be had.
    let result = try runChild(
      "chromium",
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--user-data-dir=" + folder("profile"),
        "--virtual-time-budget=10000", "--dump-dom", "file://" + folder("frames.html"),
      ])
    for width in [360, 1000, 1280] {
      let line = try #require(
        result.text.split(separator: "<p>").first { $0.hasPrefix("width \(width):") },
        "\(result.text.prefix(2000))\(result.errorText.suffix(2000))")
      #expect(line.contains("page true, wide 0, small 0, "), "\(line)")
      #expect(line.contains("title Rotation drill of ") && !line.contains("rows 0"), "\(line)")
    }
  }
}
