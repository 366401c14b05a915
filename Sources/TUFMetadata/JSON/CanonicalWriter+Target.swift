internal import Digests

extension CanonicalWriter {
  /// What targets metadata says of one file (TUF 1.0.34 §4.5): the canonical form of `TargetFile.tree`, written straight away and with the
  /// names as they stand, for there may be a million of them, and threads that write them would wait for each other at every name they share.
  package mutating func target(_ path: TargetPath, _ file: TargetFile) throws(MetadataError) {
    try canonical(path.name) { output in
      output.append(UInt8(ascii: "{"))
      if let fsverity = file.fsverity {
        output += #""custom":{"fsverity":""#.utf8
        fsverity.appendText(to: &output)
        output += #""},"#.utf8
      }
      output += #""hashes":{"sha256":""#.utf8
      file.hashes.sha256.appendHexadecimal(to: &output)
      if let sha512 = file.hashes.sha512 {
        output += #"","sha512":""#.utf8
        output += sha512.hexadecimal
      }
      output += #""},"length":"#.utf8
      CanonicalJSON.appendInteger(file.byteCount, to: &output)
      output.append(UInt8(ascii: "}"))
    }
  }
}
