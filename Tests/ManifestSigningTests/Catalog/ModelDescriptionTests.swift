import FileIO
import Foundation
import ManifestSigning
import ModelCatalog
import ModelFormats
import TUFMetadata
import Testing

private func file(_ path: String, _ more: String = "") -> String { #"{"path": "\#(path)"\#(more)}"# }

private func variant(_ files: String = file("org/name/1/a"), _ more: String = "", name: String = "default") -> String {
  #"{"name": "\#(name)", "files": [\#(files)]\#(more)}"#
}

private func version(_ variants: String = variant(), _ more: String = "", name: String = "1") -> String {
  #"{"version": "\#(name)", "variants": [\#(variants)]\#(more)}"#
}

private func model(_ versions: String = version(), _ more: String = "") -> String {
  #"{"schema": "signed-manifest/model/1", "title": "T", "licence": "MIT", "versions": [\#(versions)]\#(more)}"#
}

/// A text and the rule that it proves.
struct Vector: Sendable, CustomTestStringConvertible {
  let rule: String
  let text: String
  /// Where a bad one is at fault.
  let place: String?

  init(_ rule: String, _ text: String, at place: String? = nil) {
    (self.rule, self.text, self.place) = (rule, text, place)
  }

  var testDescription: String { rule }
}

@Suite("model.json is read strictly")
struct ModelDescriptionTests {
  static let name = try? ModelName(organisation: "org", name: "name")

  private static let members =
    #", "platforms": ["linux", "ios"], "architectures": ["arm64"], "minimum_runtime": {"llama.cpp": "b4000"}, "format": "gguf""#
    + #", "quantisation": "Q4_K_M""#

  static let good: [Vector] = [
    Vector("the least that there can be", model()),
    Vector("several versions", model(version(name: "2") + "," + version())),
    Vector("several variants", model(version(variant() + "," + variant(name: "small")))),
    Vector("one file in two versions", model(version(variant(file("org/name/1/a")), name: "2") + "," + version())),
    Vector(
      "unknown members",
      model(version(variant(file("org/name/1/a", #", "x": [{"y": null}]"#), #", "z": true"#), #", "n": -1"#), #", "o": {}"#)),
    Vector("withdrawn version", model(version(variant(), #", "withdrawn": {"reason": "wrong weights", "by": "me"}"#))),
    Vector("all members of a variant", model(version(variant(file("org/name/1/a"), members)))),
    Vector(
      "sources",
      model(version(variant(file("org/name/1/a", #", "sources": ["https://h.example/a?b=%20", "hf:o/r/a/b.gguf", "hf:o/r@main/a"]"#))))),
    Vector("text in other scripts", model(version(variant(file("org/name/1/ملف \u{1F600}"))), #", "m": "e\u0301""#)),
  ]

  static let bad: [Vector] = [
    Vector("not an object", "[]", at: ""),
    Vector("duplicate member", model(version(), #", "title": "U""#)),
    Vector("no schema", #"{"title": "T"}"#, at: ""),
    Vector("another schema", model().replacing("model/1", with: "model/2"), at: "schema"),
    Vector("no title", model().replacing(#""title": "T", "#, with: ""), at: ""),
    Vector("blank title", model().replacing(#""T""#, with: #"" ""#), at: "title"),
    Vector("title of two lines", model().replacing(#""T""#, with: #""a\nb""#), at: "title"),
    Vector("no licence", model().replacing(#""licence": "MIT", "#, with: ""), at: ""),
    Vector("licence that is no text", model().replacing(#""MIT""#, with: "1"), at: "licence"),
    Vector("no versions", model(""), at: "versions"),
    Vector("a version twice", model(version() + "," + version()), at: "versions[1]"),
    Vector("version without name", model(version().replacing(#""version": "1", "#, with: "")), at: "versions[0]"),
    Vector("version that is a number", model(version().replacing(#""1", "#, with: "1, ")), at: "versions[0].version"),
    Vector("version with a slash", model(version(name: "1/2")), at: "versions[0].version"),
    Vector("version with an at sign", model(version(name: "1@2")), at: "versions[0].version"),
    Vector("no variants", model(version("")), at: "versions[0].variants"),
    Vector("a variant twice", model(version(variant() + "," + variant())), at: "versions[0].variants[1]"),
    Vector("variant with a colon", model(version(variant(name: "a:b"))), at: "versions[0].variants[0].name"),
    Vector("no files", model(version(variant(""))), at: "versions[0].variants[0].files"),
    Vector(
      "a file twice", model(version(variant(file("org/name/1/a") + "," + file("org/name/1/a")))), at: "versions[0].variants[0].files[1]"),
    Vector("file of another model", model(version(variant(file("org/other/1/a")))), at: "versions[0].variants[0].files[0].path"),
    Vector(
      "file of a model whose name begins alike", model(version(variant(file("org/name2/1/a")))), at: "versions[0].variants[0].files[0].path"
    ),
    Vector("file outside", model(version(variant(file("org/name/../a/b")))), at: "versions[0].variants[0].files[0].path"),
    Vector(
      "file in no version's folder", model(version(variant(file("org/name/model.json")))), at: "versions[0].variants[0].files[0].path"),
    Vector(
      "platforms that are no texts", model(version(variant(file("org/name/1/a"), #", "platforms": [1]"#))),
      at: "versions[0].variants[0].platforms[0]"),
    Vector(
      "a platform twice", model(version(variant(file("org/name/1/a"), #", "platforms": ["a", "a"]"#))),
      at: "versions[0].variants[0].platforms[1]"),
    Vector(
      "minimum runtime without version", model(version(variant(file("org/name/1/a"), #", "minimum_runtime": "llama.cpp""#))),
      at: "versions[0].variants[0].minimum_runtime"),
    Vector("withdrawn without reason", model(version(variant(), #", "withdrawn": {}"#)), at: "versions[0].withdrawn"),
    Vector("withdrawn that is true", model(version(variant(), #", "withdrawn": true"#)), at: "versions[0].withdrawn"),
    Vector(
      "length of a file", model(version(variant(file("org/name/1/a", #", "length": 1"#)))), at: "versions[0].variants[0].files[0].length"),
    Vector(
      "digest of a file", model(version(variant(file("org/name/1/a", #", "sha256": "00""#)))), at: "versions[0].variants[0].files[0].sha256"
    ),
    Vector("digest in an unknown member", model(version(), #", "x": [[{"hashes": {}}]]"#), at: "x[0][0].hashes"),
  ]

  static let badSources = [
    "http://h.example/a", "file:///a", "https:///a", "https://h.example", "https://u:p@h.example/a", "https://h.example/a b",
    "https://h.example/a#b",
    "https://h.example/\\u00e9", "https://:443/a", "ftp://h.example/a", "hf:o/r", "hf:o//a", "hf:o/r/../a", "hf:o/r@/a", "hf:o/r@a@b/c",
    "hf:o/r/a?b", "",
  ]

  @Test(arguments: good) func accepted(_ vector: Vector) throws {
    let name = try #require(Self.name)
    let description = try ModelDescription(parsing: Array(vector.text.utf8), of: name)
    // Nothing that was read is lost when it is written, unknown members included.
    let again = description.bytes
    #expect(try ModelDescription(parsing: again, of: name) == description)
    #expect(try JSONDocument(parsing: again).root.canonicalBytes == JSONDocument(parsing: Array(vector.text.utf8)).root.canonicalBytes)
  }

  @Test(
    arguments: bad
      + badSources.map {
        Vector(
          "source \($0)", model(version(variant(file("org/name/1/a", #", "sources": ["\#($0)"]"#)))),
          at: "versions[0].variants[0].files[0].sources[0]")
      })
  func refused(_ vector: Vector) throws {
    let name = try #require(Self.name)
    do throws(MetadataError) {
      _ = try ModelDescription(parsing: Array(vector.text.utf8), of: name)
      Issue.record("accepted")
    } catch {
      switch error {
      case .missingMember(_, let path), .invalidValue(let path, _, _): #expect(path == vector.place)
      default: #expect(vector.place == nil, "\(error)")
      }
    }
  }

  @Test func schemasAcceptAndRefuseTheSame() throws {
    // What a schema can't say: names that stand twice, and whose the files are.
    let beyond = [
      "a version twice", "a variant twice", "a file twice", "file of another model", "file of a model whose name begins alike",
      "duplicate member",
    ]
    let bad =
      Self.bad.filter { !beyond.contains($0.rule) }.map(\.text)
      + Self.badSources.map { model(version(variant(file("org/name/1/a", #", "sources": ["\#($0)"]"#)))) }
    #expect(try validity(Self.good.map(\.text) + bad, "model") == Self.good.map { _ in true } + bad.map { _ in false })
  }

  @Test func prettyTextIsPythons() throws {
    let name = try #require(Self.name)
    for vector in Self.good {
      let bytes = try ModelDescription(parsing: Array(vector.text.utf8), of: name).bytes
      #expect(
        try python("import json,sys; print(json.dumps(json.load(sys.stdin), indent=2, ensure_ascii=False))", Data(bytes)) == Data(bytes))
    }
  }
}

@Suite("model.json fits the files beside it")
struct DescriptionCheckTests {
  private func problems(_ text: String, files: [String]) throws -> [DescriptionProblem] {
    let tree = try ModelTree()
    for path in files { try tree.write(path, "x") }
    try tree.write("org/name/model.json", text)
    let scanned = try #require(try tree.scan().models.first)
    do throws(SigningError) {
      let description = try scanned.readDescription(allowsMovingSources: true)
      #expect(scanned.description == Array(text.utf8))
      #expect(description?.title == "T")
      return []
    } catch {
      guard case .descriptionMismatch(let path, let problems, let count) = error else { throw error }
      #expect(path.description == "org/name/model.json")
      #expect(count == problems.count)
      return problems
    }
  }

  @Test func whatFitsIsAccepted() throws {
    #expect(try problems(model(), files: ["org/name/1/a"]) == [])
  }

  @Test func listedFilesMustBeThere() throws {
    let text = model(version(variant(file("org/name/1/a") + "," + file("org/name/1/b"))))
    #expect(try problems(text, files: ["org/name/1/a"]) == [.missingFile(try TargetPath("org/name/1/b"), version: "1")])
  }

  @Test func filesOfWithdrawnVersionsMayBeGone() throws {
    let gone = version(variant(file("org/name/0/a")), #", "withdrawn": {"reason": "r"}"#, name: "0")
    #expect(try problems(model(version() + "," + gone), files: ["org/name/1/a"]) == [])
    #expect(try problems(model(version() + "," + gone), files: ["org/name/1/a", "org/name/0/a"]) == [])
  }

  @Test func filesThatAreThereMustBeListed() throws {
    #expect(try problems(model(), files: ["org/name/1/a", "org/name/1/x/b"]) == [.unlistedFile(try TargetPath("org/name/1/x/b"))])
  }

  @Test func versionsThatAreThereMustBeDescribed() throws {
    let found = try problems(model(), files: ["org/name/1/a", "org/name/2/a", "org/name/2/b"])
    #expect(found == [.undescribedVersion("2", files: [try TargetPath("org/name/2/a"), try TargetPath("org/name/2/b")])])
    // What the message says to add is right: added, it is accepted.
    let text = try #require(found.first?.description)
    let addition = String(text[try #require(text.firstIndex(of: "{"))...])
    #expect(try problems(model(addition + "," + version()), files: ["org/name/1/a", "org/name/2/a", "org/name/2/b"]) == [])
  }

  @Test func folderWhoseFilesAnotherVersionListsNeedsNoVersion() throws {
    #expect(try problems(model(version(variant(file("org/name/shared/a")))), files: ["org/name/shared/a"]) == [])
  }

  @Test func malformedDescriptionNamesItsPlace() throws {
    let tree = try ModelTree(file: "org/name/1/a")
    try tree.write("org/name/model.json", model(""))
    let scanned = try #require(try tree.scan().models.first)
    do throws(SigningError) {
      _ = try scanned.readDescription(allowsMovingSources: true)
      Issue.record("accepted")
    } catch { #expect(error.description.hasPrefix("org/name/model.json: versions: expected a version at least")) }
  }
}

@Suite("A model that nobody described is described by its folder")
struct DerivedDescriptionTests {
  private func derive(
    _ tree: ModelTree, previous: ModelDescription? = nil
  ) throws -> (description: ModelDescription, warnings: [DescriptionWarning]) {
    let scan = try tree.scan()
    var hasher = try FileHasher(folder: scan.folder)
    var summaries: [TargetPath: ModelSummary] = [:]
    for file in scan.files { summaries[file.path] = try hasher.hash(file).summary }
    return ModelDescription.derived(from: try #require(scan.models.first), summaries: summaries, previous: previous)
  }

  private func tree() throws -> ModelTree {
    let tree = try ModelTree()
    try tree.write("org/name/1.9/a.safetensors", safetensors())
    try tree.write("org/name/1.9/README \"x\"", "x")
    try tree.write("org/name/1.10/a.bin", "x")
    return tree
  }

  @Test func itHoldsWhatTheFolderTells() throws {
    let (description, warnings) = try derive(try tree())
    #expect(description.title == "name")
    #expect(description.licence == "unknown")
    #expect(warnings == [.unknownLicence(try ModelName(organisation: "org", name: "name"))])
    #expect(description.versions.map(\.name) == ["1.10", "1.9"])
    #expect(description.versions.map { $0.variants.map(\.name) } == [["default"], ["default"]])
    #expect(description.versions[1].variants[0].format == "safetensors")
    #expect(description.versions[1].variants[0].quantisation == "F16")
    #expect(description.versions[0].variants[0].format == nil)
    #expect(
      description.versions[1].variants[0].files.map(\.path.description) == ["org/name/1.9/README \"x\"", "org/name/1.9/a.safetensors"])
  }

  @Test func itIsReadBackAsItWas() throws {
    let tree = try tree()
    let description = try derive(tree).description
    let name = try ModelName(organisation: "org", name: "name")
    #expect(try ModelDescription(parsing: description.bytes, of: name) == description)
    #expect(try derive(tree, previous: description).description == description)
    // Written beside the files, it fits them.
    try tree.write("org/name/model.json", Data(description.bytes))
    #expect(try tree.scan().models.first?.readDescription(allowsMovingSources: true) == description)
    #expect(try validity([String(decoding: description.bytes, as: UTF8.self)], "model") == [true])
  }

  @Test func thatOfManyFilesIsReadBackToo() throws {
    let files = try (0..<100_000).map { ModelDescription.File(path: try TargetPath("org/name/1/of-many-files-\($0).bin")) }
    let version = ModelDescription.Version(name: "1", variants: [ModelDescription.Variant(name: "default", files: files)])
    let description = ModelDescription(title: "name", licence: "MIT", versions: [version])
    #expect(try ModelDescription(parsing: description.bytes, of: ModelName(organisation: "org", name: "name")) == description)
  }

  @Test func whatWasSaidBeforeIsKept() throws {
    let tree = try tree()
    var previous = try derive(tree).description
    previous.title = "Title"
    previous.licence = "MIT"
    previous.versions[0].withdrawal = ModelDescription.Withdrawal(reason: "bad")
    previous.versions[1].variants[0].platforms = ["linux"]
    try FileManager.default.removeItem(atPath: tree.path("org/name/1.10"))
    try tree.write("org/name/1.11/a.bin", "x")
    let (description, warnings) = try derive(tree, previous: previous)
    #expect(warnings.isEmpty)
    #expect(description.title == "Title" && description.licence == "MIT")
    #expect(description.versions.map(\.name) == ["1.11", "1.10", "1.9"])
    #expect(description.versions[1] == previous.versions[0])
    #expect(description.versions[2] == previous.versions[1])
  }

  @Test func aVersionThatIsGoneAndNotWithdrawnIsGone() throws {
    let tree = try tree()
    let previous = try derive(tree).description
    try FileManager.default.removeItem(atPath: tree.path("org/name/1.10"))
    #expect(try derive(tree, previous: previous).description.versions.map(\.name) == ["1.9"])
  }

  @Test func newFilesOfAWithdrawnVersionDoNotBringItBack() throws {
    let tree = try tree()
    var previous = try derive(tree).description
    previous.versions[0].withdrawal = ModelDescription.Withdrawal(reason: "bad")
    try tree.write("org/name/1.10/more", "x")
    let version = try derive(tree, previous: previous).description.versions[0]
    #expect(version.withdrawal?.reason == "bad")
    #expect(version.variants[0].files.count == 2)
  }

  @Test(arguments: [
    ["1.10", "1.9", "1.2.1", "1.2", "1.2-rc2", "1.2-rc1", "1.1"], ["v10", "v9", "v1"], ["2024-10-01", "2024-9-30"],
    ["1.0b", "1.0a", "1.0"],
    ["99999999999999999999999999", "99999999999999999999999998"], ["1", "01", "00"],
  ])
  func versionsStandInNaturalOrder(_ names: [String]) throws {
    let tree = try ModelTree()
    for name in names.shuffled() { try tree.write("org/name/\(name)/a", "x") }
    #expect(try tree.scan().models[0].versions.map(\.name.description) == names)
  }

  @Test func catalogListsEachModelAndItsNewestVersion() throws {
    var description = try derive(try tree()).description
    let (a, b) = (try ModelName(organisation: "org", name: "a"), try ModelName(organisation: "org", name: "b"))
    var withdrawn = description
    for index in withdrawn.versions.indices { withdrawn.versions[index].withdrawal = ModelDescription.Withdrawal(reason: "bad") }
    description.versions[0].withdrawal = ModelDescription.Withdrawal(reason: "bad")
    let bytes = try Catalog([b: withdrawn, a: description]).bytes
    #expect(
      String(decoding: bytes, as: UTF8.self) == """
        {
          "schema": "signed-manifest/catalog/1",
          "models": [
            {
              "model": "org/a",
              "title": "name",
              "path": "org/a/model.json",
              "newest": "1.9"
            },
            {
              "model": "org/b",
              "title": "name",
              "path": "org/b/model.json"
            }
          ]
        }

        """)
    #expect(try validity([String(decoding: bytes, as: UTF8.self)], "catalog") == [true])
  }
}
