internal import CommandLineSupport
internal import FileIO
internal import ManifestSigning
internal import ManifestVerifier
internal import TUFMetadata

enum ShowVerb {
  private static let file = Argument(
    "FILE", "A metadata file, or one of root, targets, snapshot, timestamp for the newest published one.")

  static let verb = Verb(
    "show", "Print one metadata file so that people can read it.",
    arguments: [file],
    options: [RepositoryOptions.repository],
    discussion: ["What is shown is well formed; nobody has checked its signatures. Run verify for that."],
    exitCodes: [.disk, .malformed],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let path = try path(of: invocation.required(file.name), RepositoryOptions.publishedLayout(invocation))
    let shown = try MetadataText(path)
    output.line("\(path)", style: .heading)
    for line in shown.lines { output.line("\(line)") }
    output.report("file", .string(path))
    output.report("metadata", json(shown.tree))
    return .done
  }

  private static func path(of name: String, _ layout: RepositoryLayout) throws -> String {
    guard let role = TopLevelRole(rawValue: name) else { return name }
    let state = try PublishedState(layout)
    if role == .root { return layout.metadata(.root, state.root.payload.version) }
    guard let version = state.manifest?.roles.first(where: { $0.role == role })?.version else {
      throw Failure(.failure, "no \(role) metadata is published yet", hint: "run manifest-sign publish DIR")
    }
    return layout.metadata(role, version)
  }

  private static func json(_ tree: JSONTree) -> JSONResult {
    switch tree {
    case .object(let members):
      .object(members.sorted { $0.key < $1.key }.map { .init($0.key.description, json($0.value)) })
    case .array(let elements): .array(elements.map(json))
    case .string(let text): .string(text.description)
    case .integer(let value): .integer(value)
    case .boolean(let value): .bool(value)
    case .null: .null
    }
  }
}
