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

  private let level: ScanLevel
  /// Of the names that may be taken for one, the first.
  private var names: [CollisionKey: ByteString] = [:]
  /// The second, where there is one.
  private var others: [CollisionKey: ByteString] = [:]

  init(_ names: [ByteString], _ level: ScanLevel) {
    self.level = level
    self.names.reserveCapacity(names.count)
    for name in names {
      guard let text = Self.text(name) else { continue }
      let key = CollisionKey(text)
      guard let first = self.names.updateValue(name, forKey: key) else { continue }
      self.names[key] = first
      if others[key] == nil { others[key] = name }
    }
  }

  func faults(of name: ByteString, kind: FileKind) -> [ScanProblem.Fault] {
    guard let text = Self.text(name) else { return [.notUTF8] }
    var faults: [ScanProblem.Fault] = []
    if name.bytes.first == UInt8(ascii: ".") { faults.append(.hidden) }
    for character in "#?%" where name.bytes.contains(character.asciiValue ?? 0) { faults.append(.needsEscaping(character)) }
    if level != .version {
      for character in "@:" where name.bytes.contains(character.asciiValue ?? 0) { faults.append(.divider(character)) }
    }
    do { _ = try TargetPath(name) } catch { faults.append(.path(error)) }
    if kind != .directory, name.bytes.count > Self.nameByteLimit { faults.append(.nameTooLong(limit: Self.nameByteLimit)) }
    let key = CollisionKey(text)
    if let purpose = reservation(of: name, key, text) { faults.append(.reserved(purpose)) }
    if let other = names[key] == name ? others[key] : names[key] { faults.append(.collision(with: other)) }
    return faults
  }

  private func reservation(of name: ByteString, _ key: CollisionKey, _ text: String) -> ScanProblem.Reservation? {
    switch level {
    case .catalog: return key == CollisionKey(Catalog.fileName.description) ? .catalog : nil
    case .organisation: return nil
    case .model:
      return key == CollisionKey(ModelDescription.fileName.description) && name != ModelDescription.fileName ? .description : nil
    case .version:
      // Most names end otherwise, which their last byte tells at once.
      if let last = name.bytes.last, last < 0x80, last | 0x20 != UInt8(ascii: "y") { return nil }
      guard text.lowercased().hasSuffix(Self.verity) else { return nil }
      let file = text.unicodeScalars.dropLast(Self.verity.unicodeScalars.count)
      return names[CollisionKey(String(file))].map { .segments(of: $0) }
    }
  }

  private static func text(_ name: ByteString) -> String? { String(validating: name.bytes, as: UTF8.self) }
}
