/// Reads the header of a model file and holds it against the file's length.
///
/// The bytes come from the caller, a window at a time: the tensor data is never read, whatever its size.
public enum ModelInspection {
  /// What a model file says about itself.
  ///
  /// A file is checked as GGUF or safetensors if its name ends so **or** its first bytes say so. Anything else is `.unknown` and allowed.
  /// - Parameters:
  ///   - name: the file's name or path; only what follows its last dot counts, in either case.
  ///   - length: the file's length in bytes.
  ///   - limits: what a header may cost.
  ///   - read: exactly `count` bytes at `offset`, which lie within `length`.
  /// - Throws: `ModelInspectionError.format` with the reason, or `.read` with what `read` threw.
  public static func inspect<ReadError: Error>(
    name: String, length: UInt64, limits: ModelFormatLimits = ModelFormatLimits(),
    read: (_ offset: UInt64, _ count: Int) throws(ReadError) -> [UInt8]
  ) throws(ModelInspectionError<ReadError>) -> ModelSummary {
    try inspect(name: name, length: length, limits: limits, tensor: { _ in }, read: read)
  }

  /// What a model file in memory says about itself.
  public static func inspect(
    name: String, bytes: [UInt8], limits: ModelFormatLimits = ModelFormatLimits()
  ) throws(ModelFormatError) -> ModelSummary {
    do {
      return try inspect(name: name, length: UInt64(bytes.count), limits: limits) { offset, count throws(Never) in
        Array(bytes[Int(offset)..<Int(offset) + count])
      }
    } catch {
      switch error {
      case .format(let error): throw error
      }
    }
  }

  /// As above, and hands over each tensor as it is read, before the whole file is known to be good.
  package static func inspect<ReadError: Error>(
    name: String, length: UInt64, limits: ModelFormatLimits = ModelFormatLimits(), tensor: (TensorDescription) -> Void,
    read: (_ offset: UInt64, _ count: Int) throws(ReadError) -> [UInt8]
  ) throws(ModelInspectionError<ReadError>) -> ModelSummary {
    // The parsers are not generic over the caller's error: it is set aside here, and a failed read looks to them like a short one.
    var failure: ReadError?
    do throws(ModelFormatError) {
      let bytes = { (offset: UInt64, count: Int) -> [UInt8] in
        do throws(ReadError) { return try read(offset, count) } catch {
          failure = error
          return []
        }
      }
      return try withoutActuallyEscaping(bytes) { bytes throws(ModelFormatError) in
        try withoutActuallyEscaping(tensor) { tensor throws(ModelFormatError) in
          try inspect(extension: fileExtension(of: name), length: length, limits: limits, tensor: tensor, read: bytes)
        }
      }
    } catch {
      if let failure { throw .read(failure) }
      throw .format(error)
    }
  }

  /// How many of a file's first bytes `contradiction` makes use of.
  package static let beginningLength = FileContent.prefixLength

  /// What a file is instead of what its name promises, as far as its first bytes tell; nil where nothing speaks against it.
  /// - Parameter beginning: the file's first `beginningLength` bytes, or all of them.
  package static func contradiction(name: String, beginning: [UInt8]) -> FileContent? {
    let content = FileContent(prefix: beginning)
    switch (fileExtension(of: name), content) {
    case (.unknown, _), (.gguf, .gguf), (.safetensors, .safetensors), (.safetensors, .binary), (.safetensors, .zeros): return nil
    default: return content
    }
  }

  private static func inspect(
    extension promised: ModelFormat, length: UInt64, limits: ModelFormatLimits, tensor: @escaping (TensorDescription) -> Void,
    read: @escaping (_ offset: UInt64, _ count: Int) -> [UInt8]
  ) throws(ModelFormatError) -> ModelSummary {
    let count = Int(min(length, UInt64(FileContent.prefixLength)))
    let prefix = count == 0 ? [] : read(0, count)
    guard prefix.count == count else { throw .shortRead(offset: 0, expected: count, found: prefix.count) }
    let content = FileContent(prefix: prefix)
    switch (promised, content) {
    case (.gguf, .gguf), (.unknown, .gguf):
      let window = ByteWindow(length: length, limit: limits.ggufHeaderLength, windowLength: limits.windowLength, read: read)
      var header = GGUFHeader(window: window, limits: limits, tensor: tensor)
      return try header.parse()
    case (.safetensors, .safetensors), (.unknown, .safetensors), (.safetensors, .binary), (.safetensors, .zeros):
      // Binary data under this name may be a damaged header: the parser's reason says more than "binary data".
      let window = ByteWindow(length: length, limit: .max, windowLength: limits.windowLength, read: read)
      var header = SafetensorsHeader(window: window, limits: limits, content: content, tensor: tensor)
      return try header.parse()
    case (.unknown, _): return ModelSummary(format: .unknown, content: content)
    default: throw .wrongContent(expected: promised, found: content)
    }
  }

  private static func fileExtension(of name: String) -> ModelFormat {
    let bytes = Array(name.utf8)
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), !bytes[dot...].contains(UInt8(ascii: "/")) else { return .unknown }
    return ModelFormat(rawValue: String(decoding: bytes[(dot + 1)...], as: UTF8.self).lowercased()) ?? .unknown
  }
}

/// Why a file was not found to be a good model: its content, or a failure to read it.
public enum ModelInspectionError<ReadError: Error>: Error {
  case format(ModelFormatError)
  case read(ReadError)
}

extension ModelInspectionError: Equatable where ReadError: Equatable {}

extension ModelInspectionError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .format(let error): "\(error)"
    case .read(let error): "\(error)"
    }
  }
}
