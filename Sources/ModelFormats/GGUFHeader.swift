/// Parses a GGUF header, versions 2 and 3, little-endian, and holds its tensors against the file's length.
///
/// Source: ggml's `docs/gguf.md`; where that leaves a rule open, ggml's loader. Tensors must follow one another in the order of the
/// table, each padded to the alignment, and the last must end the file: ggml loads nothing else, and every byte is accounted for.
/// Versions 1 and big-endian files are refused, as ggml refuses them on the devices that we serve.
struct GGUFHeader {
  static let magic = Array("GGUF".utf8)
  /// Bytes of a tensor's name, and its dimensions.
  private static let maximumNameLength: UInt64 = 64
  private static let maximumDimensions: UInt32 = 4
  private static let maximumKeyLength: UInt64 = 65_535
  /// A tensor without dimensions: name length, dimension count, type, offset.
  private static let minimumTensorSize: UInt64 = 24
  /// A one-byte key with a one-byte value: key length, key, type, value.
  private static let minimumEntrySize: UInt64 = 14
  /// Texts longer than this (chat templates, licences) are not kept for the summary.
  private static let maximumKeptText: UInt64 = 1024

  private var window: ByteWindow
  private let limits: ModelFormatLimits
  private let visit: (TensorDescription) -> Void
  private var summary = ModelSummary(format: .gguf, content: .gguf)
  private var alignment: UInt64 = 32
  private var nameBytes = 0
  private var last: (name: String, end: UInt64)?

  /// - Parameters:
  ///   - window: the file from its first byte.
  ///   - tensor: gets each tensor. Its offset counts from the start of the data.
  init(window: ByteWindow, limits: ModelFormatLimits, tensor: @escaping (TensorDescription) -> Void) {
    self.window = window
    self.limits = limits
    self.visit = tensor
  }

  mutating func parse() throws(ModelFormatError) -> ModelSummary {
    try window.skip(UInt64(Self.magic.count), of: .magic)
    try parseVersion()
    let tensorCount = try count(of: .tensorCount, limit: limits.tensors)
    let entryCount = try count(of: .metadataCount, limit: limits.keyValuePairs)
    try window.demand(entryCount, itemsOf: Self.minimumEntrySize, of: .metadataCount)
    try parseMetadata(entryCount)
    try window.demand(tensorCount, itemsOf: Self.minimumTensorSize, of: .tensorCount)
    try parseTensors(tensorCount)
    summary.finish()
    return summary
  }

  private mutating func parseVersion() throws(ModelFormatError) {
    let version = try window.uint32(of: .version)
    // A big-endian file is known by its version: 3 reads as 0x03000000.
    if version & 0xFFFF == 0, version != 0 { throw .bigEndian(version: version.byteSwapped) }
    guard version == 2 || version == 3 else { throw .unsupportedVersion(found: version) }
    summary.version = version
  }

  private mutating func count(of item: HeaderItem, limit: UInt64) throws(ModelFormatError) -> UInt64 {
    let count = try window.uint64(of: item)
    guard count <= limit else { throw .tooMany(item, found: count, limit: limit) }
    return count
  }

  /// A key or a name: 1 to `limit` bytes of UTF-8.
  private mutating func name(of item: HeaderItem, minimum: UInt64, limit: UInt64) throws(ModelFormatError) -> (bytes: [UInt8], text: String)
  {
    let offset = window.offset
    let length = try window.uint64(of: item)
    guard length >= minimum, length <= limit else { throw .nameLength(item, offset: offset, found: length, limit: limit) }
    let bytes = try window.take(length, of: item)
    guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else { throw .invalidText(item, offset: offset) }
    nameBytes += bytes.count
    guard nameBytes <= limits.nameBytes else { throw .tooMany(item, found: UInt64(nameBytes), limit: UInt64(limits.nameBytes)) }
    return (bytes, text)
  }

  // MARK: Metadata

  private mutating func parseMetadata(_ count: UInt64) throws(ModelFormatError) {
    var keys: Set<[UInt8]> = []
    for index in 0..<count {
      let (bytes, key) = try name(of: .key(index: index), minimum: 1, limit: Self.maximumKeyLength)
      guard keys.insert(bytes).inserted else { throw .duplicateKey(key) }
      try parseValue(of: key)
    }
  }

  private mutating func parseValue(of key: String) throws(ModelFormatError) {
    let type = try valueType(of: key)
    switch (key, type) {
    case ("general.alignment", .uint32):
      let found = try window.uint32(of: .value(key: key))
      guard found >= 8, found & (found - 1) == 0 else { throw .invalidAlignment(found: found) }
      alignment = UInt64(found)
    case ("general.alignment", _): throw .wrongValueType(key: key, expected: "uint32", found: "\(type)")
    case ("general.architecture", .string), ("general.name", .string): try keepText(of: key, required: true)
    case ("general.architecture", _), ("general.name", _): throw .wrongValueType(key: key, expected: "string", found: "\(type)")
    case ("general.file_type", .uint32):
      let number = try window.uint32(of: .value(key: key))
      summary.quantisation = GGUFFileType.name(of: UInt64(number))
    case (_, .string) where key.utf8.starts(with: "general.".utf8): try keepText(of: key, required: false)
    default: try skipValue(of: type, key: key, depth: 0)
    }
  }

  private mutating func valueType(of key: String) throws(ModelFormatError) -> GGUFValueType {
    let offset = window.offset
    let number = try window.uint32(of: .value(key: key))
    guard let type = GGUFValueType(rawValue: number) else { throw .unknownValueType(key: key, found: number, offset: offset) }
    return type
  }

  private mutating func keepText(of key: String, required: Bool) throws(ModelFormatError) {
    let offset = window.offset
    let length = try window.uint64(of: .value(key: key))
    guard length <= Self.maximumKeptText else { return try window.skip(length, of: .value(key: key)) }
    let bytes = try window.take(length, of: .value(key: key))
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidText(.value(key: key), offset: offset) }
    switch key {
    case "general.architecture": summary.architecture = text
    case "general.name": summary.name = text
    default: summary.keep(key: key, value: text)
    }
  }

  /// Passes a value in place: a vocabulary of 260,000 tokens costs no allocation.
  private mutating func skipValue(of type: GGUFValueType, key: String, depth: Int) throws(ModelFormatError) {
    switch type {
    case .string: try skipStrings(1, key: key)
    case .bool: try checkBooleans(1, key: key)
    case .array: try skipArray(key: key, depth: depth + 1)
    default: try window.skip(type.minimumSize, of: .value(key: key))
    }
  }

  private mutating func skipArray(key: String, depth: Int) throws(ModelFormatError) {
    guard depth <= limits.depth else { throw .nestedTooDeeply(offset: window.offset, limit: limits.depth) }
    let type = try valueType(of: key)
    let count = try window.uint64(of: .value(key: key))
    try window.demand(count, itemsOf: type.minimumSize, of: .value(key: key))
    switch type {
    case .string: try skipStrings(count, key: key)
    case .bool: try checkBooleans(count, key: key)
    case .array:
      for _ in 0..<count { try skipArray(key: key, depth: depth + 1) }
    default: try window.skip(count * type.minimumSize, of: .value(key: key))
    }
  }

  private mutating func skipStrings(_ count: UInt64, key: String) throws(ModelFormatError) {
    let item = HeaderItem.value(key: key)
    for _ in 0..<count { try window.skip(window.uint64(of: item), of: item) }
  }

  private mutating func checkBooleans(_ count: UInt64, key: String) throws(ModelFormatError) {
    for _ in 0..<count {
      let offset = window.offset
      let found = try window.byte(of: .value(key: key))
      guard found <= 1 else { throw .invalidBoolean(key: key, found: found, offset: offset) }
    }
  }

  // MARK: Tensors

  private mutating func parseTensors(_ count: UInt64) throws(ModelFormatError) {
    var names: Set<[UInt8]> = []
    var position: UInt64 = 0
    for index in 0..<count {
      let (bytes, name) = try name(of: .tensorName(index: index), minimum: 0, limit: Self.maximumNameLength)
      guard names.insert(bytes).inserted else { throw .duplicateTensor(name) }
      let tensor = try parseTensor(name: name, bytes: bytes)
      guard tensor.offset == position else { throw .misplacedTensor(tensor: name, expected: position, found: tensor.offset) }
      last = (name, try sum(position, tensor.byteCount, tensor: name))
      position = try sum(position, try padded(tensor.byteCount, tensor: name), tensor: name)
      visit(tensor)
    }
    try checkEnd()
  }

  private mutating func parseTensor(name: String, bytes: [UInt8]) throws(ModelFormatError) -> TensorDescription {
    let item = HeaderItem.tensor(name)
    let dimensionCount = try window.uint32(of: item)
    guard dimensionCount <= Self.maximumDimensions else {
      throw .tooManyDimensions(tensor: name, found: dimensionCount, limit: Self.maximumDimensions)
    }
    var shape: [UInt64] = []
    var elements: UInt64 = 1
    for _ in 0..<dimensionCount {
      let dimension = try window.uint64(of: item)
      // ggml counts in signed 64-bit numbers.
      let (product, overflow) = elements.multipliedReportingOverflow(by: dimension)
      guard !overflow, product < UInt64(Int64.max), dimension <= UInt64(Int64.max) else { throw .tensorTooLarge(tensor: name) }
      shape.append(dimension)
      elements = product
    }
    let type = try tensorType(of: name)
    let row = shape.first ?? 1
    guard row % type.blockSize == 0 else {
      throw .partialBlock(tensor: name, type: type.name, elements: row, blockSize: type.blockSize)
    }
    let (byteCount, overflow) = (elements / type.blockSize).multipliedReportingOverflow(by: type.blockBytes)
    guard !overflow, byteCount <= UInt64(Int64.max) else { throw .tensorTooLarge(tensor: name) }
    let offset = try window.uint64(of: item)
    summary.count(type: type.name, elements: elements, bytes: byteCount)
    return TensorDescription(name: bytes, type: type.name, shape: shape, offset: offset, byteCount: byteCount)
  }

  private mutating func tensorType(of name: String) throws(ModelFormatError) -> GGMLType {
    let number = try window.uint32(of: .tensor(name))
    if let type = GGMLType(number: number) { return type }
    if GGMLType.wasRemoved(number) { throw .removedTensorType(tensor: name, type: number) }
    throw .unknownTensorType(tensor: name, found: "\(number)")
  }

  /// Holds the end of the data against the file's length. The padding after the last tensor may be there or not.
  private mutating func checkEnd() throws(ModelFormatError) {
    let headerEnd = window.offset
    guard let last else {
      // A vocabulary alone: the header is all there is, padded or not.
      summary.dataOffset = headerEnd
      let end = try padded(headerEnd, tensor: "")
      guard window.length <= end else { throw .trailingBytes(expected: headerEnd, length: window.length) }
      return
    }
    let start = try padded(headerEnd, tensor: last.name)
    summary.dataOffset = start
    let end = try sum(start, last.end, tensor: last.name)
    guard end <= window.length else { throw .truncatedData(tensor: last.name, end: end, length: window.length) }
    let paddedEnd = try sum(start, try padded(last.end, tensor: last.name), tensor: last.name)
    guard window.length <= paddedEnd else { throw .trailingBytes(expected: end, length: window.length) }
  }

  private func padded(_ count: UInt64, tensor: String) throws(ModelFormatError) -> UInt64 {
    try sum(count, (alignment - count % alignment) % alignment, tensor: tensor)
  }

  private func sum(_ left: UInt64, _ right: UInt64, tensor: String) throws(ModelFormatError) -> UInt64 {
    let (sum, overflow) = left.addingReportingOverflow(right)
    guard !overflow else { throw .tensorTooLarge(tensor: tensor) }
    return sum
  }
}
