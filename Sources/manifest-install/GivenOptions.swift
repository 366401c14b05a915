internal import CommandLineSupport
internal import DeviceCommands
internal import ModelInstaller

/// `--state`, `--root` and `--store` as the verb that runs was given them: what a command in a hint has to have too.
struct GivenOptions {
  /// For a verb that changes what is installed.
  private(set) var all = ""
  /// For one that looks at the store alone.
  private(set) var store = ""

  @TaskLocal static var current = GivenOptions()

  /// - Parameter hasState: whether the verb takes `--state` and `--root`.
  static func remembering(hasState: Bool, _ run: @escaping Verb.Run) -> Verb.Run {
    { invocation, output in
      let store = DeviceState.words(StoreOptions.store, invocation)
      let given = GivenOptions(all: (hasState ? DeviceState.options(invocation) : "") + store, store: store)
      return try $current.withValue(given) {
        do { return try run(invocation, output) } catch let error as InstallationError { throw Failure(explainingInstallation: error) }
      }
    }
  }
}
