/// The type of a metadata value: `enum gguf_metadata_value_type` of the GGUF specification.
enum GGUFValueType: UInt32 {
  case uint8, int8, uint16, int16, uint32, int32, float32, bool, string, array, uint64, int64, float64

  /// Bytes of one value; nil where the value itself says.
  var size: UInt64? {
    switch self {
    case .uint8, .int8, .bool: 1
    case .uint16, .int16: 2
    case .uint32, .int32, .float32: 4
    case .uint64, .int64, .float64: 8
    case .string, .array: nil
    }
  }

  /// Bytes that one value has at least: a string's length, an array's type and count.
  var minimumSize: UInt64 { size ?? (self == .string ? 8 : 12) }
}
