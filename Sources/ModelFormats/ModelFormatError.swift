/// Why a file is not the model that its name or its first bytes promise. The caller puts the file's name in front.
public enum ModelFormatError: Error, Equatable, Sendable {
  /// The file's name promises one format, its first bytes are another's.
  case wrongContent(expected: ModelFormat, found: FileContent)
  /// The reader gave fewer bytes than the file's length promises: the file changed, or the disk failed.
  case shortRead(offset: UInt64, expected: Int, found: Int)

  /// A GGUF version that nothing reads any more, or does not read yet.
  case unsupportedVersion(found: UInt32)
  /// A GGUF file for big-endian machines, which no device of ours is.
  case bigEndian(version: UInt32)
  /// The file, or the length that a header states for itself, ends inside a part of the header.
  case truncatedHeader(HeaderItem, offset: UInt64, needed: UInt64, end: UInt64)
  /// The header goes on beyond the bound of `ModelFormatLimits`.
  case headerTooLong(HeaderItem, offset: UInt64, needed: UInt64, limit: UInt64)
  /// More tensors, metadata entries or bytes of names than `ModelFormatLimits` allows.
  case tooMany(HeaderItem, found: UInt64, limit: UInt64)
  /// Arrays or objects nested more deeply than `ModelFormatLimits` allows.
  case nestedTooDeeply(offset: UInt64, limit: Int)
  /// A key or name is empty or longer than the format allows.
  case nameLength(HeaderItem, offset: UInt64, found: UInt64, limit: UInt64)
  /// A key or name is not UTF-8, or holds a NUL at which C programs would cut it.
  case invalidText(HeaderItem, offset: UInt64)
  case duplicateKey(String)
  case duplicateTensor(String)

  case unknownValueType(key: String, found: UInt32, offset: UInt64)
  case wrongValueType(key: String, expected: String, found: String)
  /// A truth value that is neither 0 nor 1.
  case invalidBoolean(key: String, found: UInt8, offset: UInt64)
  /// The alignment is not a power of two and a multiple of 8.
  case invalidAlignment(found: UInt32)

  case tooManyDimensions(tensor: String, found: UInt32, limit: UInt32)
  /// The product of the dimensions, or the size in bytes, is beyond 63 bits.
  case tensorTooLarge(tensor: String)
  case removedTensorType(tensor: String, type: UInt32)
  case unknownTensorType(tensor: String, found: String)
  /// The row does not divide into whole blocks, or the elements into whole bytes.
  case partialBlock(tensor: String, type: String, elements: UInt64, blockSize: UInt64)
  /// The data does not begin where the data before it ends: they overlap, or bytes belong to no tensor.
  case misplacedTensor(tensor: String, expected: UInt64, found: UInt64)
  /// The data would end before it begins.
  case reversedRange(tensor: String, begin: UInt64, end: UInt64)
  /// The stated range holds another number of bytes than type and shape give.
  case wrongByteCount(tensor: String, expected: UInt64, found: UInt64)
  /// The tensor's data goes beyond the file's end.
  case truncatedData(tensor: String, end: UInt64, length: UInt64)
  /// The file goes on after the last tensor.
  case trailingBytes(expected: UInt64, length: UInt64)

  /// The stated length of a safetensors header is beyond the format's limit.
  case headerLength(found: UInt64, limit: UInt64)
  case invalidJSON(offset: UInt64, problem: JSONProblem)
  case missingMember(tensor: String, member: String)
}

/// What is wrong with a safetensors header's JSON.
public enum JSONProblem: Equatable, Sendable {
  /// What the grammar, or the format, asks for here.
  case expected(String)
  case duplicateMember(String)
  case invalidUTF8, controlCharacter, invalidEscape, loneSurrogate, numberTooLarge
}

extension JSONProblem: CustomStringConvertible {
  public var description: String {
    switch self {
    case .expected(let what): "expected \(what)"
    case .duplicateMember(let name): "the member \(quoted(name)) stands twice"
    case .invalidUTF8: "the bytes are not UTF-8"
    case .controlCharacter: "a control character stands unescaped in a string"
    case .invalidEscape: "an escape sequence is not one of JSON's"
    case .loneSurrogate: "half of a surrogate pair stands alone"
    case .numberTooLarge: "a number is beyond 64 bits"
    }
  }
}

extension ModelFormatError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .wrongContent(let expected, let found): "expected a \(expected) file, found \(found)"
    case .shortRead(let offset, let expected, let found):
      "expected \(expected) bytes at byte \(offset), could read \(found): the file changed or is damaged"
    case .unsupportedVersion(let found): "expected GGUF version 2 or 3, found \(found)"
    case .bigEndian(let version): "this GGUF file (version \(version)) is for big-endian machines: convert it to little-endian"
    case .truncatedHeader(let item, let offset, let needed, let end):
      "\(item) needs \(needed) bytes at byte \(offset), but the \(item == .json ? "header" : "file") ends at byte \(end): it is truncated or damaged"
    case .headerTooLong(let item, let offset, let needed, let limit):
      "\(item) needs \(needed) bytes at byte \(offset), beyond the \(limit) bytes that a header may have"
    case .tooMany(let item, let found, let limit): "\(item) has \(found) entries or bytes of names, more than the limit of \(limit)"
    case .nestedTooDeeply(let offset, let limit): "values at byte \(offset) are nested more than \(limit) levels deep"
    case .nameLength(let item, let offset, let found, let limit):
      "\(item) at byte \(offset) has \(found) bytes, expected 1 to \(limit)"
    case .invalidText(let item, let offset): "\(item) at byte \(offset) is not UTF-8 text without NUL"
    case .duplicateKey(let key): "the metadata key \(quoted(key)) stands twice"
    case .duplicateTensor(let name): "the tensor name \(quoted(name)) stands twice"
    case .unknownValueType(let key, let found, let offset):
      "\(quoted(key)) has the unknown value type \(found) at byte \(offset), expected 0 to 12"
    case .wrongValueType(let key, let expected, let found): "\(quoted(key)) must be of type \(expected), found \(found)"
    case .invalidBoolean(let key, let found, let offset):
      "\(quoted(key)) holds \(found) for a truth value at byte \(offset), expected 0 or 1"
    case .invalidAlignment(let found): "the alignment must be a power of two and a multiple of 8, found \(found)"
    default: tensorDescription
    }
  }

  private var tensorDescription: String {
    switch self {
    case .tooManyDimensions(let tensor, let found, let limit):
      "tensor \(quoted(tensor)) has \(found) dimensions, at most \(limit) are allowed"
    case .tensorTooLarge(let tensor): "tensor \(quoted(tensor)) has more elements than 63 bits can count"
    case .removedTensorType(let tensor, let type):
      "tensor \(quoted(tensor)) has type \(type), which was removed from GGUF: convert the model again"
    case .unknownTensorType(let tensor, let found): "tensor \(quoted(tensor)) has the unknown type \(found)"
    case .partialBlock(let tensor, let type, let elements, let blockSize):
      "tensor \(quoted(tensor)) has \(elements) elements of type \(type), expected a multiple of \(blockSize)"
    case .misplacedTensor(let tensor, let expected, let found):
      "tensor \(quoted(tensor)) begins at byte \(found) of the data, expected \(expected): "
        + (found < expected ? "it overlaps the tensor before it or stands out of order" : "bytes before it belong to no tensor")
    case .reversedRange(let tensor, let begin, let end):
      "tensor \(quoted(tensor)) would begin at byte \(begin) of the data and end at byte \(end)"
    case .wrongByteCount(let tensor, let expected, let found):
      "tensor \(quoted(tensor)) takes \(expected) bytes by its type and shape, but \(found) bytes are set aside for it"
    case .truncatedData(let tensor, let end, let length):
      "tensor \(quoted(tensor)) ends at byte \(end), the file has \(length) bytes: it is truncated"
    case .trailingBytes(let expected, let length):
      "the last tensor ends at byte \(expected), the file has \(length) bytes: something was appended"
    case .headerLength(let found, let limit): "the header claims \(found) bytes, expected 2 to \(limit)"
    case .invalidJSON(let offset, let problem): "the JSON header is wrong at byte \(offset): \(problem)"
    case .missingMember(let tensor, let member): "tensor \(quoted(tensor)) has no \"\(member)\""
    default: "the file is not a valid model"
    }
  }
}

/// A name from the file in quotes, cut where it would drown the message.
func quoted(_ name: String) -> String {
  let length = 100
  return name.unicodeScalars.count <= length
    ? "\"\(name)\"" : "\"\(String(String.UnicodeScalarView(name.unicodeScalars.prefix(length))))…\""
}
