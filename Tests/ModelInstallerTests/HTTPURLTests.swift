import ModelInstaller
import Testing

@Suite("A mirror's URL is http or https, with nothing to hide in it")
struct HTTPURLTests {
  @Test(arguments: [
    "http://example.org", "https://example.org/", "HTTPS://Example.org:8443/a/b//", "http://[::1]:80/x", "http://example.org/...",
    "http://example.org/.well-known/a..b", "http://127.0.0.1/~a=b/%20c",
  ])
  func usableURLsAreTaken(text: String) throws {
    #expect(try HTTPURL(text).text.last != "/")
  }

  @Test(arguments: [
    "", "example.org", "/metadata", "ftp://example.org", "file:///x", "http:/x", "http://", "http:///x", "http://user@example.org/",
    "http://user:password@example.org/", "http://example.org/?token=1", "http://example.org/#x", "http://example.org/ a",
    "http://exa mple.org/",
    "http://example.org:0/", "http://example.org:65536/", "http://example.org:/", "http://example.org/%2", "http://example.org/%zz",
    "http://example.org/../x", "http://example.org/a/./b", "http://example.org/..", "http://example.org/a/%2E%2e/b",
    "http://example.org/.%2e/",
    "http://example.org/é", "http://example.org/\n", "http://[::1/x", "http://example.org\\@evil/",
  ])
  func otherURLsAreRefusedWithoutRepeatingThem(text: String) {
    #expect {
      try HTTPURL(text)
    } throws: { error in
      guard case InstallationError.unusableURL(let expected) = error else { return false }
      return !expected.contains("password") || expected == "a URL without user name and password"
    }
  }

  @Test(
    "A path keeps its slashes, and every byte that a URL can't hold is encoded",
    arguments: [
      ("a/b.c", "a/b.c"), ("part of 2.bin", "part%20of%202.bin"), ("50%#?.bin", "50%25%23%3F.bin"), ("é/~_-", "%C3%A9/~_-"),
      ("a+b&c", "a%2Bb%26c"),
    ])
  func pathsAreEncoded(path: String, encoded: String) throws {
    #expect(try HTTPURL("http://example.org/x/").appending(Array(path.utf8)).text == "http://example.org/x/" + encoded)
  }
}
