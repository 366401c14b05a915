import ModelInstaller
import TestSupport
import Testing

@Suite("That a version was withdrawn is remembered as soon as the trusted manifest tells")
struct WithdrawalTests {
  enum Failure: CaseIterable { case allWithdrawn, newestNotFetched, nothingForDevice, namedVersion }

  @Test("Whatever becomes of the installation that learns it", arguments: Failure.allCases)
  func remembered(failure: Failure) async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    _ = try await library.install("org/voice")
    var request = "org/voice"
    switch failure {
    case .allWithdrawn: break
    case .newestNotFetched:
      published.publish("2")
      published.network[published.weightsURL("2")] = nil
    case .nothingForDevice: published.publish("2", for: "macos")
    case .namedVersion:
      published.publish("2")
      request = "org/voice@1"
    }
    published.withdraw(["1"], because: "it stammers")
    await #expect(throws: InstallationError.self) { _ = try await library.install(request) }
    #expect(try library.active("org/voice")?.withdrawal == "it stammers")
    #expect(try library.installed().map(\.withdrawal) == ["it stammers"])
  }
}
