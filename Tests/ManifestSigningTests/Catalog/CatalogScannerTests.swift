import FileIO
import Foundation
import ManifestSigning
import ModelCatalog
import TUFMetadata
import Testing

@Suite("A folder is listed whole")
struct CatalogScanTests {
  @Test func modelsVersionsAndFilesAreFoundInOrder() throws {
    let tree = try ModelTree()
    try tree.write("b/model/1/a", "x")
    try tree.write("a/model/1.9/weights/part/two", "xy")
    try tree.write("a/model/1.9/a", "")
    try tree.write("a/model/1.10/a", "x")
    try tree.write("a/model/model.json", "{}")
    try tree.write("a/model/1.9/model.json", "a model's own file of that name")
    let scan = try tree.scan()
    #expect(scan.models.map(\.name.description) == ["a/model", "b/model"])
    #expect(scan.models[0].description == Array("{}".utf8))
    #expect(scan.models[1].description == nil)
    #expect(scan.models[0].versions.map(\.name) == ["1.10", "1.9"])
    #expect(
      scan.files.map(\.path.description) == [
        "a/model/1.10/a", "a/model/1.9/a", "a/model/1.9/model.json", "a/model/1.9/weights/part/two", "b/model/1/a",
      ])
    #expect(scan.files.map(\.status.byteCount) == [1, 0, 31, 2, 1])
  }

  @Test func aLinkToTheFolderItselfIsFollowed() throws {
    let tree = try ModelTree(file: "o/n/1/file")
    let link = try ModelTree()
    try FileManager.default.createSymbolicLink(atPath: link.path("link"), withDestinationPath: tree.folder)
    #expect(try CatalogScanner.scan(link.path("link")).files.count == 1)
  }

  @Test func aFolderThatIsNotThereIsAnError() throws {
    #expect(throws: SigningError.file(.system(.open, path: "/nowhere", .notFound))) { try CatalogScanner.scan("/nowhere") }
  }

  @Test func textsOfOtherScriptsAreNames() throws {
    let tree = try ModelTree(file: "組織/modèle/v 1/ملف.gguf")
    // Joiners and variation selectors are a part of how these are written.
    try tree.write("組織/modèle/v 1/می\u{200C}خواهم.gguf", "x")
    try tree.write("組織/modèle/v 1/👩\u{200D}🔬❤\u{FE0F}.gguf", "x")
    #expect(try tree.scan().files.count == 3)
  }
}

@Suite("Whatever can't be published is refused by name")
struct ScanRefusalTests {
  private static let good = "org/name/1/weights.gguf"

  /// What a test adds to a good folder, and what is then said of which path.
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    let path: String
    let fault: ScanProblem.Fault
    let add: @Sendable (ModelTree) throws -> Void
    var testDescription: String { rule }

    static func file(_ rule: String, _ path: String, _ fault: ScanProblem.Fault, content: String = "x") -> Case {
      Case(rule: rule, path: path, fault: fault) { try $0.write(path, content) }
    }

    static func folder(_ rule: String, _ path: String, _ fault: ScanProblem.Fault) -> Case {
      Case(rule: rule, path: path, fault: fault) { try $0.makeFolder(path) }
    }
  }

  /// As many as a secret has at least; a file that only speaks of keys has none.
  private static let digits = String(repeating: "0123456789abcdef", count: 4)

  static let cases: [Case] = [
    .file("file in the catalog's folder", "README.md", .misplaced),
    .file("file in an organisation's folder", "org/README.md", .misplaced),
    .file("file in a model's folder", "org/name/weights.gguf", .misplaced),
    .file("model.json in an organisation's folder", "org/model.json", .misplaced),
    .folder("model.json that is a folder", "org/name/model.json", .notAFile),
    .folder("empty organisation", "empty", .emptyFolder),
    .folder("empty model", "org/empty", .emptyFolder),
    .folder("empty version", "org/name/2", .emptyFolder),
    .folder("empty folder in a version", "org/name/1/empty", .emptyFolder),
    .file("hidden file", "org/name/1/.DS_Store", .hidden),
    Case(rule: "hidden folder", path: ".git", fault: .hidden) { try $0.write(".git/a/b/c", "x") },
    Case(rule: "symbolic link to a file", path: "org/name/1/link", fault: .notRegular(.symbolicLink)) {
      try FileManager.default.createSymbolicLink(atPath: $0.path("org/name/1/link"), withDestinationPath: "weights.gguf")
    },
    Case(rule: "symbolic link to a folder", path: "org/name/2", fault: .notRegular(.symbolicLink)) {
      try FileManager.default.createSymbolicLink(atPath: $0.path("org/name/2"), withDestinationPath: "1")
    },
    Case(rule: "symbolic link for a description", path: "org/name/model.json", fault: .notRegular(.symbolicLink)) {
      try FileManager.default.createSymbolicLink(atPath: $0.path("org/name/model.json"), withDestinationPath: "1/weights.gguf")
    },
    Case(rule: "FIFO", path: "org/name/1/fifo", fault: .notRegular(.fifo)) {  // The path is ended by NUL and outlives the call.
      let result = unsafe mkfifo($0.path("org/name/1/fifo"), 0o644)
      try #require(result == 0)
    },
    Case(rule: "socket", path: "org/name/1/socket", fault: .notRegular(.socket)) { tree in
      // The path is ended by NUL and outlives the call.
      let result = unsafe mknod(tree.path("org/name/1/socket"), S_IFSOCK | 0o644, 0)
      try #require(result == 0)
    },
    .file("number sign", "org/name/1/a#b", .needsEscaping("#")),
    .file("question mark", "org/name/1/a?b", .needsEscaping("?")),
    .file("percent sign", "org/name/1/a%b", .needsEscaping("%")),
    .file("bidirectional override", "org/name/1/a\u{202E}gpj.gguf", .invisible("\u{202E}")),
    .file("bidirectional isolate", "org/name/1/a\u{2066}b", .invisible("\u{2066}")),
    .file("Arabic letter mark", "org/name/1/a\u{61C}b", .invisible("\u{61C}")),
    .file("zero-width space", "org/name/1/a\u{200B}b", .invisible("\u{200B}")),
    .file("soft hyphen", "org/name/1/a\u{AD}b", .invisible("\u{AD}")),
    .file("byte order mark", "org/name/1/\u{FEFF}a", .invisible("\u{FEFF}")),
    .file("line separator", "org/name/1/a\u{2028}b", .invisible("\u{2028}")),
    .file("tag character", "org/name/1/a\u{E0041}", .invisible("\u{E0041}")),
    Case(rule: "bidirectional override in a model", path: "org/a\u{202E}b", fault: .invisible("\u{202E}")) {
      try $0.write("org/a\u{202E}b/1/a", "x")
    },
    Case(rule: "number sign in a folder", path: "c#", fault: .needsEscaping("#")) { try $0.write("c#/a/b/c", "x") },
    Case(rule: "at sign in a version", path: "org/name/1@2", fault: .divider("@")) { try $0.write("org/name/1@2/a", "x") },
    Case(rule: "colon in a model", path: "org/a:b", fault: .divider(":")) { try $0.write("org/a:b/1/a", "x") },
    Case(rule: "catalog.json as an organisation", path: "catalog.json", fault: .reserved(.catalog)) {
      try $0.write("catalog.json/a/b/c", "x")
    },
    Case(rule: "catalog.json in other letters", path: "Catalog.JSON", fault: .reserved(.catalog)) {
      try $0.write("Catalog.JSON/a/b/c", "x")
    },
    Case(rule: "model.json in other letters", path: "org/name/Model.json", fault: .reserved(.description)) {
      try $0.write("org/name/Model.json/c", "x")
    },
    .file("the name of a file's segments", "org/name/1/weights.gguf.verity", .reserved(.segments(of: "weights.gguf"))),
    .file("our secret key", "org/name/1/key", .secretKey, content: "manifest-sign secret key 1\nname: x\nseed: " + digits + "\n"),
    .file("PEM private key", "org/name/1/key", .secretKey, content: "a certificate\n-----BEGIN ENCRYPTED PRIVATE KEY-----\n" + digits),
    .file("OpenSSH private key", "org/name/1/key", .secretKey, content: "-----BEGIN OPENSSH PRIVATE KEY-----\r\nb3Bl" + digits),
    .file("minisign secret key", "org/name/1/key", .secretKey, content: "untrusted comment: x\nRWRTY0Iy" + digits + "\n"),
    .file(
      "minisign secret key without passphrase", "org/name/1/key", .secretKey, content: "untrusted comment: x\nRWQAAEIy" + digits + "\n"),
    .file("name without room for a digest", "org/name/1/" + String(repeating: "n", count: 184), .nameTooLong(limit: 183)),
    Case(rule: "too long a description", path: "org/name/model.json", fault: .tooLarge(limit: ModelDescription.byteLimit)) {
      try $0.write("org/name/model.json", "")
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: $0.path("org/name/model.json")))
      try file.truncate(atOffset: UInt64(ModelDescription.byteLimit) + 1)
    },
  ]

  @Test(arguments: cases) func isRefused(_ example: Case) throws {
    let tree = try ModelTree(file: Self.good)
    try example.add(tree)
    let problems = try tree.problems()
    #expect(problems.contains(ScanProblem(path: ByteString(example.path), fault: example.fault)), "\(problems)")
    // Nothing else is found at fault: a link to a good file, say, is one problem.
    #expect(Set(problems.map(\.path)) == [ByteString(example.path)], "\(problems)")
  }

  @Test func deviceIsRefused() throws {
    // Not every container lets root make a device, but each has this one.
    let problems = try ModelTree.problems(of: "/dev")
    #expect(problems.contains(ScanProblem(path: "null", fault: .notRegular(.characterDevice))))
  }

  @Test func emptyCatalogIsRefused() throws {
    #expect(try ModelTree().problems() == [ScanProblem(path: "", fault: .emptyCatalog)])
  }

  @Test func publicKeysAndSignaturesAreNoSecrets() throws {
    let tree = try ModelTree(file: Self.good)
    try tree.write("org/name/1/a.pem", "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----\n")
    try tree.write("org/name/1/a.pub", "untrusted comment: minisign public key\nRWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\n")
    try tree.write("org/name/1/README", "Never publish a PRIVATE KEY-----. --- -----BEGIN nothing")
    #expect(try tree.scan().files.count == 4)
  }

  @Test(arguments: [[0xFF], [0x61, 0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]])
  func nameThatIsNotUTF8IsRefused(_ name: [UInt8]) throws {
    let tree = try ModelTree(file: Self.good)
    try tree.write(bytesOfName: name, in: "org/name/1")
    let problem = ScanProblem(path: ByteString(Array("org/name/1/".utf8) + name), fault: .notUTF8)
    #expect(try tree.problems() == [problem])
    let digits = name.map { String($0, radix: 16) }.joined()
    #expect(problem.description.contains(digits), "\(problem)")
  }

  @Test(arguments: ["a\u{1}b", "a\\b", "a\nb", "\u{7F}"]) func nameThatNoTargetPathHoldsIsRefused(_ name: String) throws {
    let tree = try ModelTree(file: Self.good)
    try tree.write("org/name/1/" + name, "x")
    let problem = try #require(try tree.problems().first)
    guard case .path(.invalidValue) = problem.fault else {
      Issue.record("\(problem)")
      return
    }
    #expect(problem.description.contains("expected a target path without"))
  }

  @Test func foldersInEachOtherEndSomewhere() throws {
    let tree = try ModelTree(file: Self.good)
    try tree.write("org/name/1/" + String(repeating: "d/", count: 32) + "file", "x")
    #expect(try tree.scan().files.count == 2)
    try tree.write("org/name/1/" + String(repeating: "e/", count: 33) + "file", "x")
    let path = "org/name/1/" + String(repeating: "e/", count: 32) + "e"
    #expect(try tree.problems() == [ScanProblem(path: ByteString(path), fault: .tooDeep(limit: 32))])
  }

  @Test func everyProblemIsNamedInOrderOfPathsAndTheFirstHundredAreTold() throws {
    let tree = try ModelTree(file: Self.good)
    for number in (0..<150).shuffled() { try tree.write("org/name/1/.\(1000 + number)", "x") }
    do throws(SigningError) {
      _ = try tree.scan()
      Issue.record("accepted")
    } catch {
      guard case .scan(let problems, let count) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(count == 150)
      #expect(problems.map(\.path) == (0..<100).map { ByteString("org/name/1/.\(1000 + $0)") })
      #expect(error.description.hasSuffix("and 50 more"))
    }
  }

  @Test func manyModelsAreFoundAndTheirFaultsToldInOrderWhicheverThreadFindsThem() throws {
    let tree = try ModelTree()
    let names = (10..<30).flatMap { organisation in (10..<30).map { "org\(organisation)/model\($0)" } }
    for name in names.shuffled() { try tree.write(name + "/1/file", "x") }
    #expect(try tree.scan().models.map(\.name.description) == names)
    #expect(try tree.scan().files.map(\.path.description) == names.map { $0 + "/1/file" })
    for name in names.suffix(60) { try tree.write(name + "/1/.hidden", "x") }
    #expect(try tree.problems() == names.suffix(60).map { ScanProblem(path: ByteString($0 + "/1/.hidden"), fault: .hidden) })
  }

  @Test func differentFaultsAreToldTogether() throws {
    let tree = try ModelTree(file: Self.good)
    try tree.write("stray", "x")
    try tree.write("org/name/1/.a#", "x")
    try tree.makeFolder("org/empty")
    let problems = try tree.problems()
    #expect(
      problems == [
        ScanProblem(path: "org/empty", fault: .emptyFolder), ScanProblem(path: "org/name/1/.a#", fault: .hidden),
        ScanProblem(path: "org/name/1/.a#", fault: .needsEscaping("#")), ScanProblem(path: "stray", fault: .misplaced),
      ])
  }
}

@Suite("What can't be read is refused by name")
struct UnreadableTests {
  @Test(arguments: ["org", "org/name", "org/name/1", "org/name/1/sub", "org/name/1/weights.gguf"])
  func asAnotherUser(_ path: String) throws {
    let tree = try ModelTree(file: "org/name/1/weights.gguf")
    try tree.write("org/name/1/sub/file", "x")
    tree.chmod(path, 0)
    defer { tree.chmod(path, 0o755) }
    let problems = try asNobody { try tree.problems() }
    #expect(problems == [ScanProblem(path: ByteString(path), fault: .unreadable(.accessDenied))])
  }

  @Test(arguments: [0o444, 0o111]) func folderThatCanBeOnlyListedOrOnlySearched(_ mode: Int) throws {
    let tree = try ModelTree(file: "org/name/1/a")
    tree.chmod("org/name/1", mode)
    defer { tree.chmod("org/name/1", 0o755) }
    let problems = try asNobody { try tree.problems() }
    #expect(problems == [ScanProblem(path: "org/name/1", fault: .unreadable(.accessDenied))])
  }

  @Test func diskThatFailsIsNamed() throws {
    let tree = try ModelTree(file: "org/name/1/a")
    let problems = try FaultInjection.withHook(below: tree.folder) {
      $0.name == .read ? .fail(.inputOutput) : .proceed
    } _: {
      try tree.problems()
    }
    #expect(problems == [ScanProblem(path: "org/name/1/a", fault: .unreadable(.inputOutput))])
  }

  /// Runs `body` with the file permissions of a user who owns nothing, where the tests run as root, who reads everything.
  private func asNobody<Result>(_ body: () throws -> Result) throws -> Result {
    guard geteuid() == 0 else { return try body() }
    typealias SetUser = @convention(c) (UInt32) -> CInt
    // The C library has this function, with this type; it changes the calling thread only, and Glibc's Swift module does not list it.
    let symbol = unsafe dlsym(nil, "setfsuid")
    let isFound = unsafe symbol != nil
    try #require(isFound)
    let setUser = unsafe unsafeBitCast(symbol, to: SetUser.self)
    _ = setUser(65534)
    defer { _ = setUser(0) }
    try #require(setUser(.max) == 65534)
    return try body()
  }
}
