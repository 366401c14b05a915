/// What a model file says about itself, once its header has been held against its length.
public struct ModelSummary: Equatable, Sendable {
  /// The format, by name and by content.
  public var format: ModelFormat
  /// What the first bytes look like: worth a warning where `format` is unknown and this is an error page, say.
  public var content: FileContent
  /// The format's own version, where it has one.
  public var version: UInt32?
  /// GGUF's `general.architecture`.
  public var architecture: String?
  /// What the file calls itself: GGUF's `general.name`.
  public var name: String?
  /// GGUF's `general.file_type` by name (`Q4_K_M`); else the type of most of the tensor data (`F16`). Nil without tensors.
  public var quantisation: String?
  /// Texts worth showing, in the file's order: GGUF's short `general.` texts, safetensors' `__metadata__`; 64 at most.
  public var metadata: [Entry] = []
  /// Tensors by type, those with the most bytes first.
  public var types: [TypeUse] = []
  public var tensorCount = 0
  /// Elements of all tensors together; at the top of its range where they would exceed it.
  public var parameterCount: UInt64 = 0
  /// Where the tensor data begins, in bytes from the file's start.
  public var dataOffset: UInt64 = 0

  /// One text of the metadata.
  public struct Entry: Equatable, Sendable {
    public let key: String
    public let value: String
  }

  /// How much of the file is of one type.
  public struct TypeUse: Equatable, Sendable {
    /// The type's name as the format writes it: `Q4_K`, `BF16`.
    public let type: String
    public internal(set) var tensorCount: Int
    public internal(set) var byteCount: UInt64
  }

  init(format: ModelFormat, content: FileContent) {
    self.format = format
    self.content = content
  }

  /// What was remembered of a file that was inspected before.
  package init(format: ModelFormat, content: FileContent, quantisation: String?) {
    self.init(format: format, content: content)
    self.quantisation = quantisation
  }

  mutating func count(type: String, elements: UInt64, bytes: UInt64) {
    tensorCount += 1
    let (sum, overflow) = parameterCount.addingReportingOverflow(elements)
    parameterCount = overflow ? .max : sum
    let index = types.firstIndex { $0.type == type } ?? types.endIndex
    if index == types.endIndex { types.append(TypeUse(type: type, tensorCount: 0, byteCount: 0)) }
    types[index].tensorCount += 1
    let (total, tooMany) = types[index].byteCount.addingReportingOverflow(bytes)
    types[index].byteCount = tooMany ? .max : total
  }

  mutating func keep(key: String, value: String) {
    if metadata.count < 64 { metadata.append(Entry(key: key, value: value)) }
  }

  /// Brings the types into their order and names the quantisation where the file did not.
  mutating func finish() {
    types.sort { ($1.byteCount, $0.type) < ($0.byteCount, $1.type) }
    if quantisation == nil { quantisation = types.first?.type }
  }
}

/// One tensor as the header describes it.
package struct TensorDescription: Equatable, Sendable {
  package let name: [UInt8]
  package let type: String
  /// Dimensions in the file's order: GGUF's fastest first, safetensors' slowest first.
  package let shape: [UInt64]
  /// Where the tensor begins, in bytes from the start of the data.
  package let offset: UInt64
  package let byteCount: UInt64
}
