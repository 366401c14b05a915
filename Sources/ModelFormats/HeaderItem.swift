/// A part of a header, as messages name it.
public enum HeaderItem: Equatable, Sendable {
  case magic, version, tensorCount, metadataCount, headerLength, json
  case key(index: UInt64)
  case value(key: String)
  case tensorName(index: UInt64)
  case tensor(String)
}

extension HeaderItem: CustomStringConvertible {
  public var description: String {
    switch self {
    case .magic: "the magic number"
    case .version: "the version"
    case .tensorCount: "the tensor table"
    case .metadataCount: "the metadata"
    case .headerLength: "the header's length"
    case .json: "the JSON header"
    case .key(let index): "metadata key \(index + 1)"
    case .value(let key): "the value of \(quoted(key))"
    case .tensorName(let index): "the name of tensor \(index + 1)"
    case .tensor(let name): "the description of tensor \(quoted(name))"
    }
  }
}
