/// The bounds within which a header is read: what a file may cost before it is refused.
///
/// Memory: one window of `windowLength` bytes, plus the names that must be kept to find duplicates: at most `nameBytes` of them and
/// `tensors` + `keyValuePairs` records of under 100 bytes. Time: linear in the header, so `headerLength` bounds that too.
public struct ModelFormatLimits: Equatable, Sendable {
  /// Bytes of a GGUF header, metadata and tensor table together. A vocabulary of 260,000 tokens takes 10 MB. Stops: endless headers.
  public var ggufHeaderLength: UInt64 = 256 << 20
  /// Bytes of a safetensors header. The safetensors library's own limit. Stops: endless headers.
  public var safetensorsHeaderLength: UInt64 = 100_000_000
  /// Tensors in one file. The largest published models have under 100,000. Stops: memory for names.
  public var tensors: UInt64 = 1 << 18
  /// Metadata entries in one file; real files have under 100. Stops: memory for names.
  public var keyValuePairs: UInt64 = 1 << 16
  /// Bytes of all keys and tensor names together. Stops: memory for names.
  public var nameBytes: Int = 32 << 20
  /// Levels of nested arrays or objects. Stops: exhausted stacks.
  public var depth: Int = 16
  /// Bytes asked for at a time.
  public var windowLength: Int = 64 << 10

  public init() {}
}
