import Digests
import ManifestSigning
import TUFMetadata
import TestSupport
import Testing

@Suite("Fingerprints to compare by voice") struct KeyFingerprintTests {
  @Test("eight numbers of five digits, each two bytes of the key id") func groups() throws {
    let id = KeyID(
      digest: try SHA256Digest(
        hexadecimal: Array(
          ("0000" + "0001" + "00ff" + "0100" + "1234" + "8000" + "fffe" + "ffff" + String(repeating: "ab", count: 16)).utf8
        ).span))
    #expect(KeyFingerprint(id).description == "00000 00001 00255 00256 04660 32768 65534 65535")
  }

  @Test("a change anywhere in the first 128 bits shows") func everyBit() throws {
    let bytes = [UInt8](repeating: 0x5A, count: 32)
    let original = KeyFingerprint(KeyID(digest: try SHA256Digest(bytes: bytes.span)))
    for bit in 0..<128 {
      var changed = bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(KeyFingerprint(KeyID(digest: try SHA256Digest(bytes: changed.span))) != original)
    }
  }
}
