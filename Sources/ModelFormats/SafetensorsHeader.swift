/// Parses a safetensors header and holds its tensors against the file's length.
///
/// Source: the safetensors library 0.8 (`Metadata::validate`) and its format description. Stricter than the library: a name that stands
/// twice is refused, `__metadata__` may not be null, and a tensor's description may not be an array.
struct SafetensorsHeader {
  /// Texts longer than this are not kept for the summary.
  private static let maximumKeptText = 1024
  private static let maximumDimensions = 64

  private let limits: ModelFormatLimits
  private let content: FileContent
  private let visit: (TensorDescription) -> Void
  private let length: UInt64
  private var window: ByteWindow
  private var summary: ModelSummary
  private var nameBytes = 0
  private var extents: [Extent] = []

  /// Where a tensor says that its data lies, in bytes from the start of the data.
  private struct Extent {
    let begin: UInt64
    let end: UInt64
    let name: [UInt8]

    var text: String { String(decoding: name, as: UTF8.self) }
  }

  /// - Parameters:
  ///   - window: the file from its first byte.
  ///   - content: what the file looks like.
  ///   - tensor: gets each tensor. Its offset counts from the start of the data.
  init(window: ByteWindow, limits: ModelFormatLimits, content: FileContent, tensor: @escaping (TensorDescription) -> Void) {
    self.window = window
    self.length = window.length
    self.limits = limits
    self.content = content
    self.visit = tensor
    self.summary = ModelSummary(format: .safetensors, content: content)
  }

  mutating func parse() throws(ModelFormatError) -> ModelSummary {
    let headerLength = try window.uint64(of: .headerLength)
    guard headerLength >= 2, headerLength <= limits.safetensorsHeaderLength else {
      throw .headerLength(found: headerLength, limit: limits.safetensorsHeaderLength)
    }
    try window.demand(headerLength, of: .json)
    let headerEnd = window.offset + headerLength
    window.narrow(to: headerEnd)
    summary.dataOffset = headerEnd
    // The format forbids white space before the object, which the library allows.
    guard try window.peek() == UInt8(ascii: "{") else {
      throw .invalidJSON(offset: window.offset, problem: .expected("\"{\" as the header's first byte"))
    }
    var scanner = JSONScanner(window: window, depthLimit: limits.depth)
    try parseObject(&scanner)
    try scanner.expectEnd()
    try checkExtents()
    summary.finish()
    return summary
  }

  private mutating func parseObject(_ scanner: inout JSONScanner) throws(ModelFormatError) {
    var names: Set<[UInt8]> = []
    try scanner.expect("{")
    while try scanner.another(before: "}", first: names.isEmpty) {
      let offset = scanner.offset
      let name = try scanner.string(limit: limits.nameBytes)
      try count(name: name)
      guard names.insert(name).inserted else {
        throw .invalidJSON(offset: offset, problem: .duplicateMember(String(decoding: name, as: UTF8.self)))
      }
      try scanner.expect(":")
      if name == Array("__metadata__".utf8) {
        try parseMetadata(&scanner)
      } else {
        guard UInt64(extents.count) < limits.tensors else {
          throw .tooMany(.tensorCount, found: UInt64(extents.count) + 1, limit: limits.tensors)
        }
        try parseTensor(&scanner, name: name)
      }
    }
  }

  private mutating func count(name: [UInt8]) throws(ModelFormatError) {
    nameBytes += name.count
    guard nameBytes <= limits.nameBytes else { throw .tooMany(.json, found: UInt64(nameBytes), limit: UInt64(limits.nameBytes)) }
  }

  private mutating func parseMetadata(_ scanner: inout JSONScanner) throws(ModelFormatError) {
    var keys: Set<[UInt8]> = []
    try scanner.expect("{", "an object of texts")
    while try scanner.another(before: "}", first: keys.isEmpty) {
      let offset = scanner.offset
      let key = try scanner.string(limit: limits.nameBytes)
      try count(name: key)
      let text = String(decoding: key, as: UTF8.self)
      guard UInt64(keys.count) < limits.keyValuePairs else {
        throw .tooMany(.metadataCount, found: UInt64(keys.count) + 1, limit: limits.keyValuePairs)
      }
      guard keys.insert(key).inserted else { throw .invalidJSON(offset: offset, problem: .duplicateMember(text)) }
      try scanner.expect(":")
      let value = try scanner.string(limit: limits.nameBytes)
      if value.count <= Self.maximumKeptText, key.count <= Self.maximumKeptText {
        summary.keep(key: text, value: String(decoding: value, as: UTF8.self))
      }
    }
  }

  // MARK: Tensors

  /// What a tensor's description gave so far.
  private struct Members {
    var type: SafetensorsDataType?
    var shape: [UInt64]?
    var extent: (begin: UInt64, end: UInt64)?
  }

  private mutating func parseTensor(_ scanner: inout JSONScanner, name: [UInt8]) throws(ModelFormatError) {
    let text = String(decoding: name, as: UTF8.self)
    var members = Members()
    var first = true
    try scanner.expect("{", "an object that describes tensor \"\(text)\"")
    while try scanner.another(before: "}", first: first) {
      first = false
      let offset = scanner.offset
      let member = String(decoding: try scanner.string(limit: Self.maximumKeptText), as: UTF8.self)
      try scanner.expect(":")
      let isNew: Bool
      switch member {
      case "dtype":
        isNew = members.type == nil
        members.type = try parseType(&scanner, tensor: text)
      case "shape":
        isNew = members.shape == nil
        members.shape = try parseShape(&scanner, tensor: text)
      case "data_offsets":
        isNew = members.extent == nil
        members.extent = try parseExtent(&scanner)
      default:
        // The library passes over members that it does not know.
        isNew = true
        try scanner.skipValue()
      }
      guard isNew else { throw .invalidJSON(offset: offset, problem: .duplicateMember(member)) }
    }
    try add(members, name: name, text: text)
  }

  private mutating func add(_ members: Members, name: [UInt8], text: String) throws(ModelFormatError) {
    guard let type = members.type else { throw .missingMember(tensor: text, member: "dtype") }
    guard let shape = members.shape else { throw .missingMember(tensor: text, member: "shape") }
    guard let extent = members.extent else { throw .missingMember(tensor: text, member: "data_offsets") }
    var elements: UInt64 = 1
    for dimension in shape {
      let (product, overflow) = elements.multipliedReportingOverflow(by: dimension)
      guard !overflow else { throw .tensorTooLarge(tensor: text) }
      elements = product
    }
    let (bits, overflow) = elements.multipliedReportingOverflow(by: type.bits)
    guard !overflow else { throw .tensorTooLarge(tensor: text) }
    guard bits % 8 == 0 else {
      throw .partialBlock(tensor: text, type: type.rawValue, elements: elements, blockSize: type.bits == 4 ? 2 : 4)
    }
    guard extent.end >= extent.begin else { throw .reversedRange(tensor: text, begin: extent.begin, end: extent.end) }
    guard extent.end - extent.begin == bits / 8 else {
      throw .wrongByteCount(tensor: text, expected: bits / 8, found: extent.end - extent.begin)
    }
    extents.append(Extent(begin: extent.begin, end: extent.end, name: name))
    summary.count(type: type.rawValue, elements: elements, bytes: bits / 8)
    visit(TensorDescription(name: name, type: type.rawValue, shape: shape, offset: extent.begin, byteCount: bits / 8))
  }

  private func parseType(_ scanner: inout JSONScanner, tensor: String) throws(ModelFormatError) -> SafetensorsDataType {
    let name = String(decoding: try scanner.string(limit: Self.maximumKeptText), as: UTF8.self)
    guard let type = SafetensorsDataType(rawValue: name) else { throw .unknownTensorType(tensor: tensor, found: name) }
    return type
  }

  private func parseShape(_ scanner: inout JSONScanner, tensor: String) throws(ModelFormatError) -> [UInt64] {
    var shape: [UInt64] = []
    try scanner.expect("[", "an array of dimensions")
    while try scanner.another(before: "]", first: shape.isEmpty) {
      guard shape.count < Self.maximumDimensions else {
        throw .tooManyDimensions(tensor: tensor, found: UInt32(shape.count) + 1, limit: UInt32(Self.maximumDimensions))
      }
      shape.append(try scanner.unsignedInteger())
    }
    return shape
  }

  private func parseExtent(_ scanner: inout JSONScanner) throws(ModelFormatError) -> (begin: UInt64, end: UInt64) {
    try scanner.expect("[", "an array of two offsets")
    let begin = try scanner.unsignedInteger()
    try scanner.expect(",")
    let end = try scanner.unsignedInteger()
    try scanner.expect("]")
    return (begin, end)
  }

  /// The data is covered without hole or overlap, from its first byte to the file's last.
  private mutating func checkExtents() throws(ModelFormatError) {
    extents.sort { ($0.begin, $0.end) < ($1.begin, $1.end) }
    var position: UInt64 = 0
    let available = length - summary.dataOffset
    for extent in extents {
      guard extent.begin == position else { throw .misplacedTensor(tensor: extent.text, expected: position, found: extent.begin) }
      position = extent.end
      guard position <= available else {
        let (end, overflow) = summary.dataOffset.addingReportingOverflow(position)
        throw .truncatedData(tensor: extent.text, end: overflow ? .max : end, length: length)
      }
    }
    guard position == available else { throw .trailingBytes(expected: summary.dataOffset + position, length: length) }
  }
}
