import Foundation
import Testing

@Suite("A ceremony whose keys lie behind external signers") struct CeremonySignerTests {
  @Test("a command signs a rotation, a refresh and a root; one that takes too little stops it before anything is signed") func command()
    throws
  {
    let place = try Workplace()
    let key = try place.makeRepositoryWithForeignTimestampKey()
    let script = try place.write(
      "signer",
      """
      #!/bin/sh
      set -e
      echo called >> \(place.path)/calls
      cat > \(place.path)/message
      openssl pkeyutl -sign -rawin -inkey \(place.path)/timestamp.pem -in \(place.path)/message
      """, mode: 0o700)
    func configure(_ more: [String: Any] = [:]) throws {
      try place.configure([["name": "the signer", "public_key": key, "command": [script]].merging(more) { $1 }])
    }
    try configure()
    try place.mustSign(["publish", place.models])
    let rotation = try place.mustSign(["rotate", "targets", "--no-passphrase"])
    #expect(rotation.output.contains("Published root 2, targets 2, snapshot 2, timestamp 2."))
    // The same key for the root, of whose messages the signer takes none that long.
    try place.mustSign(["propose", "--add-key", "root=timestamp-1", "--threshold", "root=2", "--allow-shared"])
    try configure(["max_message_bytes": 300])
    let calls = try place.content("calls")
    let before = try place.snapshot("repository/manifests")
    let refused = try place.sign(["sign", "--yes"])
    #expect(refused.status == 17 && refused.errors.contains("the signer"), "\(refused.errors)")
    #expect(try place.content("calls") == calls)
    #expect(try place.snapshot("repository/manifests") == before)
    try configure()
    #expect(try place.mustSign(["sign", "--yes"]).output.contains("Signed root with root-1, timestamp-1."))
    try place.mustSign(["verify", place.models])
  }
}
