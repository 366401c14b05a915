import Foundation
import HTTPTransport
import ModelInstaller

/// Installs a model, cancels and continues, goes back, and shows what an error says: Installer ROOT.json METADATA_URL TARGETS_URL FOLDER
@main
struct Installer {
  static let model = "acme/voice"

  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 5 else { fatalError("usage: Installer ROOT.json METADATA_URL TARGETS_URL FOLDER") }
    // An app has this file in its bundle: all trust begins there.
    let root = Array(try Data(contentsOf: URL(filePath: arguments[1])))
    let settings = try LibrarySettings(
      root: root, metadata: [.server(HTTPURL(arguments[2]))], targets: [.server(HTTPURL(arguments[3]))], folder: arguments[4])
    let models = ModelLibrary(settings) { () throws(InstallationError) in try HTTPTransport(HTTPOptions(userAgent: "example/1")) }

    print("active:", try models.active(model)?.version ?? "none")
    switch try await models.plan(model) {
    case .plan(let plan): print("plan: \(plan.version), \(plan.files.count) files")
    case .nothingForDevice(let nothing): print(nothing)
    }

    try await cancel(models)
    let first = try await models.install("\(model)@1.0")
    print("installed:", first.version)
    let newest = try await models.install(model) { event in
      if case .state(let state) = event { print("  \(state.rawValue)") }
    }
    print("installed:", newest.version)

    // At each launch: the very file that was verified is known again without being read.
    let file = try await models.open("notes.txt", of: newest)
    print("opened: \(file.byteCount) bytes, read again: \(file.wasRead)")

    let back = try await models.rollBack(model)
    print("rolled back to:", back.version)

    do { _ = try await models.install("\(model)@9.9") } catch { print("error:", error.localizedDescription) }
  }

  /// Cancels in the middle of a download. What has come is kept, and nothing else has changed.
  static func cancel(_ models: ModelLibrary) async throws {
    let (events, continuation) = AsyncStream.makeStream(of: InstallEvent.self)
    let task = Task { try await models.install("\(model)@1.0") { continuation.yield($0) } }
    for await event in events {
      guard case .received = event else { continue }
      task.cancel()
      break
    }
    do { _ = try await task.value } catch { print("cancelled:", error.localizedDescription) }
    print("active:", try models.active(model)?.version ?? "none")
  }
}
