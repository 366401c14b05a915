internal import Digests

extension CanonicalWriter {
  /// What targets metadata says of one file (TUF 1.0.34 §4.5): the canonical form of `TargetFile.tree`, written straight away, for there may be
  /// a million of them.
  package mutating func target(_ path: TargetPath, _ file: TargetFile) throws(MetadataError) {
    try object(path.name) { writer throws(MetadataError) in
      if let fsverity = file.fsverity {
        try writer.object(.custom) { writer throws(MetadataError) in try writer.plainString(.fsverity) { fsverity.appendText(to: &$0) } }
      }
      try writer.object(.hashes) { writer throws(MetadataError) in
        try writer.plainString(.sha256) { file.hashes.sha256.appendHexadecimal(to: &$0) }
        if let sha512 = file.hashes.sha512 { try writer.plainString(.sha512) { $0 += sha512.hexadecimal } }
      }
      try writer.integer(.length, file.byteCount)
    }
  }
}
