/// A path or name as the system takes it: its bytes as they are, ended by NUL, none inside.
struct CPath: Sendable {
  /// With the NUL at the end.
  let characters: [CChar]

  init(_ bytes: some Collection<UInt8>) throws(Errno) {
    var characters: [CChar] = []
    characters.reserveCapacity(bytes.count + 1)
    for byte in bytes {
      guard byte != 0 else { throw .invalidArgument }
      characters.append(CChar(bitPattern: byte))
    }
    characters.append(0)
    self.characters = characters
  }

  init(_ path: String) throws(Errno) { try self.init(path.utf8) }

  /// For messages and fault hooks; what is not UTF-8 is replaced.
  var text: String { String(decoding: characters.dropLast().lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self) }
}
