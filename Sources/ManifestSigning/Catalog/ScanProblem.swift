internal import Digests
public import FileIO
public import TUFMetadata

/// One reason why a folder can't be published as it is.
public struct ScanProblem: Equatable, Sendable {
  /// Below the scanned folder, and empty for that folder itself. As the file system has it: it need not be UTF-8.
  public let path: ByteString
  public let fault: Fault

  package init(path: ByteString, fault: Fault) {
    self.path = path
    self.fault = fault
  }

  /// What is wrong with a file or folder.
  public enum Fault: Equatable, Sendable {
    case unreadable(Errno)
    /// A symbolic link, socket, FIFO or device.
    case notRegular(FileKind)
    /// A name that begins with a dot.
    case hidden
    /// A file that lies in no version's folder.
    case misplaced
    /// A folder where only a file can be: `model.json`.
    case notAFile
    case emptyCatalog
    case emptyFolder
    case notUTF8
    /// A character that URLs give a meaning to: `#`, `?` or `%`.
    case needsEscaping(Character)
    /// A character that divides model, version and variant where they are named together: `@` or `:`.
    case divider(Character)
    /// A character that is not seen, and may turn or break the line that the name is shown in. Joiners and variation selectors, which letters
    /// and emoji are made of, are not meant.
    case invisible(Unicode.Scalar)
    /// A rule of target paths.
    case path(MetadataError)
    /// The name, in bytes, leaves no room for the digest before it.
    case nameTooLong(limit: Int)
    /// Folders inside a version, one in another.
    case tooDeep(limit: Int)
    /// Another file or folder beside this one has a name that a file system may take for the same.
    case collision(with: ByteString)
    /// The name of something that publishing writes itself.
    case reserved(Reservation)
    case secretKey
    /// More bytes than a description may have.
    case tooLarge(limit: Int)
    /// It grew while it was read.
    case changing
  }

  /// What publishing writes itself.
  public enum Reservation: Equatable, Sendable {
    /// `catalog.json`, the list of models.
    case catalog
    /// `model.json`, the description of a model.
    case description
    /// The digests of a file's segments, `<file>.verity`.
    case segments(of: ByteString)
  }
}

extension ScanProblem: CustomStringConvertible {
  public var description: String {
    if path.bytes.isEmpty { return fault.description }
    // What is no text can't be recognised by what is shown of it.
    let bytes = fault == .notUTF8 ? " (its bytes: \(ByteString(Hexadecimal.encode(name.span))))" : ""
    return "\(path): \(fault)\(bytes)"
  }

  private var name: [UInt8] { Array(path.bytes.split(separator: UInt8(ascii: "/")).last ?? []) }
}

extension ScanProblem.Fault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unreadable(let error): "can't be read: \(error)"
    case .notRegular(let kind): "is a \(kind.rawValue); only regular files and folders can be published"
    case .hidden: "is hidden; nothing is left out silently, so remove it or rename it"
    case .misplaced:
      "lies in no version's folder; models are laid out as <org>/<name>/<version>/files, with <org>/<name>/model.json beside the versions"
    case .notAFile: "is a folder; a model's description must be a file"
    case .emptyCatalog: "there is no model in it; models are laid out as <org>/<name>/<version>/files"
    case .emptyFolder: "is an empty folder; a manifest lists files only, so it would be lost"
    case .notUTF8: "its name is not UTF-8"
    case .needsEscaping(let character): "its name holds \"\(character)\", which has a meaning in URLs"
    case .divider(let character):
      "its name holds \"\(character)\", which divides a model, its version and its variant where they are named together"
    case .invisible(let character): "its name holds \(Self.codePoint(character)), which is not seen where the name is shown"
    case .path(.invalidValue(_, let expected, _)): "can't be published: expected \(expected)"
    case .path(let error): "can't be published: \(error)"
    case .nameTooLong(let limit):
      "its name is longer than \(limit) bytes, and would have no room for the digest that goes before it"
    case .tooDeep(let limit): "lies deeper than \(limit) folders"
    case .collision(let other):
      "collides with \(other)\(Self.spelling(of: other)): file systems that ignore letter case or Unicode spelling take both for one name"
    case .reserved(.catalog): "its name is reserved for the list of models, which publishing writes"
    case .reserved(.description): "its name may be taken for model.json, the model's description"
    case .reserved(.segments(let file)): "its name is reserved for the digests of the segments of \(file), which publishing writes"
    case .secretKey: "is a secret key, and would be published; remove it, and replace the key if anyone else could read it here"
    case .tooLarge(let limit): "is longer than the limit of \(limit) bytes"
    case .changing: "changed while it was read; publish when nothing writes to the folder any more"
    }
  }

  private static func codePoint(_ character: Unicode.Scalar) -> String {
    let digits = String(character.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }

  /// Tells apart what looks alike.
  private static func spelling(of name: ByteString) -> String {
    let others = name.description.unicodeScalars.filter { !$0.isASCII }
    return others.isEmpty ? "" : " (with \(others.map(codePoint).joined(separator: " ")))"
  }
}
