internal import FileIO
internal import ModelCatalog
internal import TUFMetadata

/// What a folder is for, by its depth.
enum ScanLevel {
  /// The scanned folder, which holds organisations.
  case catalog
  /// Holds models.
  case organisation
  /// Holds versions, and perhaps `model.json`.
  case model
  /// Holds files, and folders of files.
  case version

  func isDescription(_ name: ByteString) -> Bool { self == .model && name == ModelDescription.fileName }
}

/// A path below the scanned folder, as bytes.
struct ScanPath {
  private(set) var bytes: [UInt8] = []
  /// Whether no name in it was found at fault.
  private(set) var isGood = true

  func appending(_ name: ByteString, isGood: Bool) -> ScanPath {
    var path = ScanPath(isGood: self.isGood && isGood)
    path.bytes.reserveCapacity(bytes.count + 1 + name.bytes.count)
    path.bytes += bytes
    if !bytes.isEmpty { path.bytes.append(UInt8(ascii: "/")) }
    path.bytes += name.bytes
    return path
  }
}

/// The names in one folder, held against the rules and against each other.
struct ScanNames {
  /// The longest name of a file: `<64 digits>.<name>.verity` is a name of 255 bytes then.
  static let nameByteLimit = 255 - 65 - verity.utf8.count
  private static let verity = ".verity"

  private struct Name {
    let bytes: ByteString
    /// Nil where the bytes are no text.
    let key: CollisionKey?
  }

  private let level: ScanLevel
  private let all: [Name]
  /// Of the names that may be taken for one, the first.
  private var names: [CollisionKey: ByteString] = [:]
  /// The second, where there is one.
  private var others: [CollisionKey: ByteString] = [:]

  init(_ names: [ByteString], _ level: ScanLevel) {
    self.level = level
    all = names.map { name in Name(bytes: name, key: Self.text(name).map(CollisionKey.init)) }
    self.names.reserveCapacity(names.count)
    for name in all {
      guard let key = name.key, let first = self.names.updateValue(name.bytes, forKey: key) else { continue }
      self.names[key] = first
      if others[key] == nil { others[key] = name.bytes }
    }
  }

  /// What is wrong with the name of this number.
  func faults(at number: Int, kind: FileKind) -> [ScanProblem.Fault] {
    let name = all[number].bytes
    guard let key = all[number].key else { return [.notUTF8] }
    var faults: [ScanProblem.Fault] = []
    if name.bytes.first == UInt8(ascii: ".") { faults.append(.hidden) }
    for byte in Self.escaped where name.bytes.contains(byte) { faults.append(.needsEscaping(Character(Unicode.Scalar(byte)))) }
    if level != .version {
      for byte in Self.dividers where name.bytes.contains(byte) { faults.append(.divider(Character(Unicode.Scalar(byte)))) }
    }
    if let character = Self.invisibleCharacter(in: name) { faults.append(.invisible(character)) }
    do { _ = try TargetPath(name) } catch { faults.append(.path(error)) }
    if kind != .directory, name.bytes.count > Self.nameByteLimit { faults.append(.nameTooLong(limit: Self.nameByteLimit)) }
    if let purpose = reservation(of: name, key) { faults.append(.reserved(purpose)) }
    if let other = names[key] == name ? others[key] : names[key] { faults.append(.collision(with: other)) }
    return faults
  }

  private static func invisibleCharacter(in name: ByteString) -> Unicode.Scalar? {
    if name.bytes.allSatisfy({ $0 < 0x80 }) { return nil }
    return name.description.unicodeScalars.first { scalar in
      switch scalar.value {
      // Joiners and variation selectors: Persian, Indic scripts and emoji are written with them.
      case 0x200C, 0x200D, 0xFE00...0xFE0F: false
      case 0x2028, 0x2029: true
      default: scalar.properties.isDefaultIgnorableCodePoint
      }
    }
  }

  private static let escaped = Array("#?%".utf8)
  private static let dividers = Array("@:".utf8)

  private func reservation(of name: ByteString, _ key: CollisionKey) -> ScanProblem.Reservation? {
    switch level {
    case .catalog: return key == CollisionKey(Catalog.fileName.description) ? .catalog : nil
    case .organisation: return nil
    case .model:
      return key == CollisionKey(ModelDescription.fileName.description) && name != ModelDescription.fileName ? .description : nil
    case .version:
      // Most names end otherwise, which their last byte tells at once.
      if let last = name.bytes.last, last < 0x80, last | 0x20 != UInt8(ascii: "y") { return nil }
      guard let text = Self.text(name), text.lowercased().hasSuffix(Self.verity) else { return nil }
      let file = text.unicodeScalars.dropLast(Self.verity.unicodeScalars.count)
      return names[CollisionKey(String(file))].map { .segments(of: $0) }
    }
  }

  private static func text(_ name: ByteString) -> String? { String(validating: name.bytes, as: UTF8.self) }
}
