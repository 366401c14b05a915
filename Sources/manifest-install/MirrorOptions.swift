internal import CommandLineSupport
internal import DeviceCommands
internal import ModelInstaller

/// Where the mirrors are, as all verbs take it: from the command line, or else what `init` remembered.
enum MirrorOptions {
  static let metadata = Option.repeated(
    "--metadata-url", "URL",
    "The folder of published metadata, the one that holds 1.root.json: http, https or file. Several are mirrors, in order of preference.")
  static let targets = Option.repeated(
    "--targets-url", "URL", "The folder of the published files: http, https or file. Several are mirrors, in order of preference.")

  static let discussion =
    "A URL holds no user name and password: those come from the variable \(Network.credentialsVariable), as https://USER:PASSWORD@HOST or with "
    + ":PORT behind it, several of them divided by spaces. Only that scheme, host and port gets to see them. Other characters than letters, digits and "
    + "-._~ in user name and password are written as %XX, in UTF-8: an @ as %40. A file: URL is read as a folder, without the network."

  /// The mirrors that an option names, or else the remembered ones.
  static func mirrors(_ option: Option, _ invocation: Invocation, remembered: KeyPath<MirrorList, [String]>) throws -> [Mirror] {
    let texts = try texts(option, invocation, remembered)
    guard !texts.isEmpty else {
      throw Failure(
        .usage, "no mirror is known", expected: "\(option.name) URL, unless init was given one", found: "neither",
        hint: "give \(option.name) URL, here or to manifest-install init")
    }
    return try texts.map { try mirror($0, option) }
  }

  /// Whether there is one, be it given or remembered.
  static func areKnown(_ option: Option, _ invocation: Invocation, remembered: KeyPath<MirrorList, [String]>) throws -> Bool {
    try !texts(option, invocation, remembered).isEmpty
  }

  private static func texts(_ option: Option, _ invocation: Invocation, _ remembered: KeyPath<MirrorList, [String]>) throws -> [String] {
    let given = invocation.values(option.name)
    return given.isEmpty ? try MirrorList(rememberedIn: DeviceState.folder(invocation))[keyPath: remembered] : given
  }

  /// The URLs of an option, each checked.
  static func checked(_ option: Option, _ invocation: Invocation) throws -> [String] {
    let texts = invocation.values(option.name)
    for text in texts { _ = try mirror(text, option) }
    return texts
  }

  private static func mirror(_ text: String, _ option: Option) throws(Failure) -> Mirror {
    if text.prefix(5).lowercased() == "file:" { return .folder(try FolderLocation.path(of: text, option: option.name)) }
    do { return .server(try HTTPURL(text)) } catch {
      guard case .unusableURL(let expected) = error else { throw Failure(.usage, error.description) }
      // The text is not repeated: it may hold a password.
      throw Failure(
        .usage, "the value of \(option.name) is not a URL that can be used", expected: expected,
        hint: text.contains("@")
          ? "put user name and password into the variable \(Network.credentialsVariable)" : "a folder of this machine is file:///FOLDER")
    }
  }
}
