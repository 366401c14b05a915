internal import CommandLineSupport
internal import DeviceCommands
internal import ModelInstaller

/// State, root, store, staging folder and mirrors as the verb that runs was given them: what a command in a hint has to have too.
struct GivenOptions {
  /// For a verb that changes what is installed.
  private(set) var all = ""
  /// For `prune`, which removes what is unfinished too.
  private(set) var storage = ""
  /// For one that looks at the store alone.
  private(set) var store = ""

  @TaskLocal static var current = GivenOptions()

  static func remembering(_ run: @escaping Verb.Run) -> Verb.Run {
    { invocation, output in
      let store = DeviceState.words(StoreOptions.store, invocation)
      let storage = store + DeviceState.words(StoreOptions.staging, invocation)
      let mirrors = [MirrorOptions.metadata, MirrorOptions.targets].map { DeviceState.words($0, invocation) }.joined()
      let given = GivenOptions(all: DeviceState.options(invocation) + storage + mirrors, storage: storage, store: store)
      return try $current.withValue(given) {
        do { return try run(invocation, output) } catch let error as InstallationError { throw Failure(explainingInstallation: error) }
      }
    }
  }
}
