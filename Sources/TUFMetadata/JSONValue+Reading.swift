internal import Digests

/// Reading members that must be there and values that must have one shape. Errors carry the path from the value that is
/// being read; whoever reads the value around it adds its own name, so that nothing is spent on paths where nothing is wrong.
extension JSONValue {
  /// The value of a member that must be there, read by a closure whose errors get the member's name.
  package func read<Value>(
    _ name: ByteString, _ parse: (JSONValue) throws(MetadataError) -> Value
  ) throws(MetadataError) -> Value {
    guard let value = member(name) else { throw .missingMember(name: name.description, path: "") }
    do { return try parse(value) } catch { throw error.within(name) }
  }

  /// The value of a member that may be missing.
  package func readIfPresent<Value>(
    _ name: ByteString, _ parse: (JSONValue) throws(MetadataError) -> Value
  ) throws(MetadataError) -> Value? {
    guard let value = member(name) else { return nil }
    do { return try parse(value) } catch { throw error.within(name) }
  }

  package func requireObject() throws(MetadataError) {
    guard kind == .object else { throw unexpected("an object") }
  }

  /// The elements of an array, on several threads where they are very many. The error of the first that can't be read is thrown.
  package func requireElements<Value: Sendable>(
    _ parse: @Sendable (JSONValue) throws(MetadataError) -> Value
  ) throws(MetadataError) -> [Value] {
    guard kind == .array else { throw unexpected("an array") }
    let parts = Cores.ranges(of: count)
    let parsed = Cores.map(parts, fewest: 1) { [elements] part in
      Result { () throws(MetadataError) in
        var values: [Value] = []
        values.reserveCapacity(part.count)
        for index in part {
          do throws(MetadataError) { values.append(try parse(elements[index])) } catch { throw error.within(ByteString("[\(index)]")) }
        }
        return values
      }
    }
    // One part, mostly: it is not copied.
    guard parsed.count != 1 else { return try parsed[0].get() }
    var values: [Value] = []
    values.reserveCapacity(count)
    for part in parsed { values += try part.get() }
    return values
  }

  package func requireString() throws(MetadataError) -> ByteString {
    guard let string else { throw unexpected("a string") }
    return string
  }

  package func requireBoolean() throws(MetadataError) -> Bool {
    guard let boolean else { throw unexpected("true or false") }
    return boolean
  }

  package func requireInteger(in range: ClosedRange<Int64>) throws(MetadataError) -> Int64 {
    guard let integer, range.contains(integer) else { throw unexpected("an integer from \(range.lowerBound) to \(range.upperBound)") }
    return integer
  }

  func requireVersion() throws(MetadataError) -> Version {
    guard let integer, let version = Version(integer) else { throw unexpected("a version: an integer of at least 1") }
    return version
  }

  func requireTime() throws(MetadataError) -> UTCTime {
    let time = try withStringBytes { bytes throws(MetadataError) in try UTCTime(text: bytes) }
    guard let time else { throw unexpected("a time as YYYY-MM-DDTHH:MM:SSZ") }
    return time
  }

  func requireDigest() throws(MetadataError) -> SHA256Digest {
    let digest = try withStringBytes { bytes throws(MetadataError) in
      do { return try SHA256Digest(hexadecimal: bytes) } catch {
        throw .invalidValue(path: "", expected: "a SHA-256 digest: \(error)", found: MetadataError.quoted(bytes))
      }
    }
    guard let digest else { throw unexpected("a SHA-256 digest of 64 lower-case hexadecimal digits") }
    return digest
  }

  /// The error that this value is not what it should be.
  package func unexpected(_ expected: String) -> MetadataError {
    let found =
      switch kind {
      case .object: "an object"
      case .array: "an array"
      case .string: withStringBytes { bytes in MetadataError.quoted(bytes) } ?? ""
      case .integer: integer.map { String($0) } ?? "a number"
      case .boolean: boolean == true ? "true" : "false"
      case .null: "null"
      }
    return .invalidValue(path: "", expected: expected, found: found)
  }
}

extension MetadataError {
  /// The same error, seen from the value around it.
  package func within(_ name: ByteString) -> MetadataError {
    func joined(_ path: String) -> String {
      path.isEmpty ? name.description : path.hasPrefix("[") ? name.description + path : name.description + "." + path
    }
    return switch self {
    case .missingMember(let member, let path): .missingMember(name: member, path: joined(path))
    case .invalidValue(let path, let expected, let found): .invalidValue(path: joined(path), expected: expected, found: found)
    case .syntax, .keyIDMismatch: self
    }
  }

  /// Untrusted text in quotation marks, cut where it is long.
  package static func quoted(_ bytes: Span<UInt8>) -> String {
    let beginning = bytes.extracting(first: 80)
    let shown = String(decoding: beginning)
    return bytes.count > 80 ? "\"\(shown)…\" (\(bytes.count) bytes)" : "\"\(shown)\""
  }
}

extension String {
  /// The text that some bytes stand for in UTF-8; what is invalid in them becomes U+FFFD.
  package init(decoding bytes: Span<UInt8>) {
    // The buffer is read at once and not kept.
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
