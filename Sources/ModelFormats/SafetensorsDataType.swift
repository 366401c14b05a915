/// An element type of safetensors, and its width.
///
/// Source: `Dtype` of the safetensors library 0.8.
enum SafetensorsDataType: String, CaseIterable {
  case bool = "BOOL"
  case f4 = "F4"
  case f6e2m3 = "F6_E2M3"
  case f6e3m2 = "F6_E3M2"
  case u8 = "U8"
  case i8 = "I8"
  case f8e5m2 = "F8_E5M2"
  case f8e4m3 = "F8_E4M3"
  case f8e8m0 = "F8_E8M0"
  case f8e4m3fnuz = "F8_E4M3FNUZ"
  case f8e5m2fnuz = "F8_E5M2FNUZ"
  case i16 = "I16"
  case u16 = "U16"
  case f16 = "F16"
  case bf16 = "BF16"
  case i32 = "I32"
  case u32 = "U32"
  case f32 = "F32"
  case c64 = "C64"
  case f64 = "F64"
  case i64 = "I64"
  case u64 = "U64"

  /// Bits of one element; two types pack elements across byte boundaries.
  var bits: UInt64 {
    switch self {
    case .f4: 4
    case .f6e2m3, .f6e3m2: 6
    case .bool, .u8, .i8, .f8e5m2, .f8e4m3, .f8e8m0, .f8e4m3fnuz, .f8e5m2fnuz: 8
    case .i16, .u16, .f16, .bf16: 16
    case .i32, .u32, .f32: 32
    case .c64, .f64, .i64, .u64: 64
    }
  }
}
