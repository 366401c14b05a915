internal import CommandFailures
internal import CommandLineSupport
internal import ModelCatalog
internal import ModelInstaller
internal import TUFMetadata

/// Where installed models are, and for what they are chosen, as all verbs take it.
enum StoreOptions {
  static let store = Option.value(
    "--store", "DIR", "The folder of the installed models. Unless told otherwise: signed-manifest-models in the place for application data."
  )
  static let staging = Option.value(
    "--staging", "DIR", "Fetch files into this folder, on another disk say, before they come into the store.")
  static let platform = Option.value(
    "--platform", "NAME", "Choose for this operating system: linux, macos, ios, … Unless told otherwise, this one.")
  static let architecture = Option.value(
    "--architecture", "NAME", "Choose for this processor architecture: x86_64, arm64, … Unless told otherwise, this one.")
  static let runtime = Option.repeated(
    "--runtime", "NAME=VERSION", "Choose only what this program of this version can load. May stand several times.")

  static let model = Argument(
    "MODEL", "ORG/NAME, with @VERSION and :VARIANT where it is not to be the newest version and the variant for this device.")

  static func folder(_ invocation: Invocation) throws(Failure) -> String {
    if let folder = invocation.value(store.name) { return folder }
    guard let folder = Surroundings.applicationData("signed-manifest-models") else {
      throw Failure(.usage, "the home folder is not known", expected: "--store DIR", hint: "give --store DIR")
    }
    return folder
  }

  static func request(_ text: String) throws(Failure) -> ModelRequest {
    do { return try ModelRequest(text) } catch {
      throw Failure(.usage, "MODEL is not a model", expected: "ORG/NAME, ORG/NAME@VERSION or ORG/NAME@VERSION:VARIANT", found: text)
    }
  }

  /// Tells what is left alone, a model whose record can't be read say, and what to do: no other model is hindered by it.
  static func warn(of error: InstallationError, _ what: String, in store: ModelStore, _ output: Output) {
    output.warning("\(what) is left alone: \(failure(of: error, in: store).description)")
  }

  /// Tells what is missing of active versions and of ways back to them, and what to do.
  /// - Parameters:
  ///   - model: nil for all.
  ///   - isOfActive: whether of active versions too.
  static func tellLosses(
    of model: ModelName? = nil, in store: ModelStore, isOfActive: Bool = true, _ tell: (String) -> Void
  ) throws(InstallationError) {
    for (name, found) in try store.records() where model == nil || name == model {
      guard let record = try? found.get() else { continue }
      for (isActive, error) in store.losses(of: record) where isOfActive || !isActive {
        tell("\(lost(isActive, of: record, in: store)): \(failure(of: error, in: store).description)")
      }
    }
  }

  /// What a version was that is lost: the way back is another one by now, where there is one.
  static func lost(_ isActive: Bool, of record: ModelRecord, in store: ModelStore) -> String {
    isActive ? "active" : store.wayBack(of: record) == nil ? "way back" : "active before"
  }

  /// What to say of an error, and where a version was withdrawn, whether it is damaged too, and what serves instead.
  /// - Parameter mayGoBack: whether going back to another version is worth a word.
  static func failure(
    of error: InstallationError, in store: ModelStore, isOffline: Bool = false, mayGoBack: Bool = true
  ) -> Failure {
    var failure = Failure(explainingInstallation: error)
    guard case .model(.withdrawn(let name, let version, _)) = error, let model = try? ModelRequest(name).model else { return failure }
    if store.seemsAllWithdrawn(model) {
      failure.hint = "wait for a new version: its publisher has withdrawn every one\(isOffline ? ", as far as is known here" : "")"
    } else if isOffline {
      failure.hint = "run manifest-install install \(name)\(GivenOptions.current.all), without --offline, for the newest version"
    }
    guard let record = try? store.record(of: model) else { return failure }
    let entry = record.entries.first { $0.key.version.description == version }
    if let entry, (try? store.isIntact(entry, of: model, isCancelled: { Interruption.isRequested })) == false {
      failure.message += ", and something of it is damaged or missing"
    }
    if mayGoBack, let wayBack = try? store.intactWayBack(of: record, isCancelled: { Interruption.isRequested }) {
      failure.hint = [failure.hint, "or go back to \(wayBack): manifest-install rollback \(name)\(GivenOptions.current.store)"].compactMap {
        $0
      }.joined(separator: "; ")
    }
    return failure
  }

  /// Whether the device is named, or some of it.
  static func namesDevice(_ invocation: Invocation) -> Bool {
    invocation.value(platform.name) != nil || invocation.value(architecture.name) != nil || !invocation.values(runtime.name).isEmpty
  }

  static func device(_ invocation: Invocation) throws(Failure) -> Device {
    let own = Device.current
    var runtimes: [String: String] = [:]
    for text in invocation.values(runtime.name) {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
        throw Failure(.usage, "the value of --runtime can't be read", expected: "NAME=VERSION", found: text)
      }
      runtimes[parts[0]] = parts[1]
    }
    return Device(
      platform: invocation.value(platform.name) ?? own.platform, architecture: invocation.value(architecture.name) ?? own.architecture,
      runtimes: runtimes)
  }
}
