enum PathParts {
  /// The folder that a path's last component stands in, and that component; slashes at the end count for nothing.
  static func split(_ path: String) -> (folder: String, name: [UInt8]) {
    let slash = UInt8(ascii: "/")
    var bytes = Array(path.utf8)
    while bytes.count > 1, bytes.last == slash { bytes.removeLast() }
    guard let last = bytes.lastIndex(of: slash) else { return (".", bytes) }
    let name = Array(bytes[(last + 1)...])
    if last == 0 { return ("/", name) }
    return (String(decoding: bytes[..<last], as: UTF8.self), name)
  }

  /// Whether a name stands for a folder itself rather than for something in it.
  static func isSpecial(_ name: [UInt8]) -> Bool { name.isEmpty || name == Array(".".utf8) || name == Array("..".utf8) }
}
