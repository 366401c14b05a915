import TestSupport
import Testing

@Suite("manifest-verify says what it is")
struct ManifestVerifyVersionTests {
  @Test func theVersionIsPrinted() throws {
    let result = try runChild(builtCommand("manifest-verify"), ["--version"])
    #expect(result.status == 0)
    #expect(result.text == "manifest-verify 0.1.0\n")
  }
}
