import ModelInstaller
import TestSupport
import Testing

@Suite("Identical files of a version are fetched once")
struct TwinTests {
  @Test("Only one of them need be on the server, in whatever folder they lie")
  func fetchedOnce() async throws {
    var published = try PublishedModels()
    let bytes = Array("the same in each".utf8)
    let names = ["a.bin", "b/c.bin", "b/d/e.bin", "f.bin"]
    published.publish("1", Dictionary(uniqueKeysWithValues: names.map { ($0, bytes) }))
    for name in names.dropFirst() { published.network[published.url(of: "org/voice/1/\(name)", bytes)] = nil }
    let library = try published.library()
    let model = try await library.install("org/voice")
    for name in names { #expect(try await library.open(name, of: model, thorough: true).byteCount == Int64(bytes.count)) }
    #expect(published.network.requests.filter { $0.contains(".bin") }.count == 1)
  }
}
