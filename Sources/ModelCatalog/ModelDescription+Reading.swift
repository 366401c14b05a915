package import TUFMetadata

extension ModelDescription {
  /// Reads a `model.json` strictly.
  /// - Parameter model: whose description it is: all its files must lie below that model's own folder.
  /// - Throws: `MetadataError`, with the place of what is wrong.
  package init(parsing bytes: [UInt8], of model: ModelName) throws(MetadataError) {
    let limits = JSONLimits(byteCount: Self.byteLimit, valueCount: Self.valueLimit)
    let root = try JSONDocument(parsing: bytes, limits: limits).root
    try root.requireObject()
    try root.read(.schema) { value throws(MetadataError) in
      guard value.string == Self.schema else { throw value.unexpected("\"\(Self.schema)\"") }
    }
    title = try root.read(.title) { value throws(MetadataError) in try value.requireText() }
    licence = try root.read(.licence) { value throws(MetadataError) in try value.requireText() }
    versions = try root.read(.versions) { value throws(MetadataError) in
      try value.requireNamed("a version", \.name) { value throws(MetadataError) in try Version(value, of: model) }
    }
    additional = try root.additionalMembers(besides: [.schema, .title, .licence, .versions])
  }
}

extension ModelDescription.Version {
  fileprivate init(_ json: JSONValue, of model: ModelName) throws(MetadataError) {
    try json.requireObject()
    name = try json.read(.version) { value throws(MetadataError) in try value.requireName() }
    withdrawal = try json.readIfPresent(.withdrawn) { value throws(MetadataError) in try ModelDescription.Withdrawal(value) }
    variants = try json.read(.variants) { value throws(MetadataError) in
      try value.requireNamed("a variant", \.name) { value throws(MetadataError) in try ModelDescription.Variant(value, of: model) }
    }
    additional = try json.additionalMembers(besides: [.version, .withdrawn, .variants])
  }
}

extension ModelDescription.Variant {
  fileprivate init(_ json: JSONValue, of model: ModelName) throws(MetadataError) {
    try json.requireObject()
    name = try json.read(.name) { value throws(MetadataError) in try value.requireName() }
    platforms = try json.readIfPresent(.platforms) { value throws(MetadataError) in try value.requireDistinctTexts() } ?? []
    architectures = try json.readIfPresent(.architectures) { value throws(MetadataError) in try value.requireDistinctTexts() } ?? []
    minimumRuntime =
      try json.readIfPresent(.minimumRuntime) { value throws(MetadataError) in
        try value.requireObject()
        var runtimes: [ByteString: String] = [:]
        for (name, version) in value.members {
          guard !name.bytes.isEmpty else { throw value.unexpected("a runtime's name before each version") }
          do throws(MetadataError) { runtimes[name] = try version.requireText() } catch { throw error.within(name) }
        }
        return runtimes
      } ?? [:]
    quantisation = try json.readIfPresent(.quantisation) { value throws(MetadataError) in try value.requireText() }
    format = try json.readIfPresent(.format) { value throws(MetadataError) in try value.requireText() }
    files = try json.read(.files) { value throws(MetadataError) in
      try value.requireNamed("a file", \.path.name) { value throws(MetadataError) in try ModelDescription.File(value, of: model) }
    }
    additional = try json.additionalMembers(besides: [
      .name, .platforms, .architectures, .minimumRuntime, .quantisation, .format, .files,
    ])
  }
}

extension ModelDescription.File {
  private static let knownMembers: [ByteString] = [.path, .sources]

  fileprivate init(_ json: JSONValue, of model: ModelName) throws(MetadataError) {
    try json.requireObject()
    path = try json.read(.path) { value throws(MetadataError) in
      let path = try TargetPath(try value.requireString())
      guard path.name.bytes.starts(with: model.prefix) else { throw value.unexpected("a path below \(model)/") }
      let rest = path.name.bytes.dropFirst(model.prefix.count)
      guard rest.contains(UInt8(ascii: "/")) else { throw value.unexpected("a path in the folder of one of the versions") }
      return path
    }
    sources =
      try json.readIfPresent(.sources) { value throws(MetadataError) in
        try value.requireDistinct(\.text) { value throws(MetadataError) in try FileSource(try value.requireString()) }
      } ?? []
    additional = try json.additionalMembers(besides: Self.knownMembers)
  }
}

extension ModelDescription.Withdrawal {
  fileprivate init(_ json: JSONValue) throws(MetadataError) {
    try json.requireObject()
    self.init(reason: try json.read(.reason) { value throws(MetadataError) in try value.requireText() })
    additional = try json.additionalMembers(besides: [.reason])
  }
}

extension JSONValue {
  /// Text for people: not empty, on one line.
  fileprivate func requireText() throws(MetadataError) -> String {
    let text = String(decoding: try requireString().bytes, as: UTF8.self)
    let isBlank = text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    guard !isBlank, text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
      throw unexpected("text on one line, not empty")
    }
    return text
  }

  /// A name that can stand in `MODEL@VERSION:VARIANT`.
  fileprivate func requireName() throws(MetadataError) -> ByteString {
    let name = ByteString(try requireText())
    guard !name.bytes.contains(where: { "/@:".utf8.contains($0) }) else { throw unexpected("a name without \"/\", \"@\" and \":\"") }
    return name
  }

  fileprivate func requireDistinctTexts() throws(MetadataError) -> [String] {
    try requireDistinct(\.bytesAsName) { value throws(MetadataError) in try value.requireText() }
  }

  /// At least one element, no two of one name.
  fileprivate func requireNamed<Value: Sendable>(
    _ kind: String, _ name: (Value) -> ByteString, _ parse: @Sendable (JSONValue) throws(MetadataError) -> Value
  ) throws(MetadataError) -> [Value] {
    let values = try requireDistinct(name, parse)
    guard !values.isEmpty else { throw .invalidValue(path: "", expected: "\(kind) at least", found: "an empty array") }
    return values
  }

  fileprivate func requireDistinct<Value: Sendable>(
    _ name: (Value) -> ByteString, _ parse: @Sendable (JSONValue) throws(MetadataError) -> Value
  ) throws(MetadataError) -> [Value] {
    let values = try requireElements(parse)
    // Mostly the files stand in the order of their paths, so that none can stand twice.
    guard !zip(values, values.dropFirst()).allSatisfy({ name($0) < name($1) }) else { return values }
    var seen: Set<ByteString> = []
    for (index, value) in values.enumerated() where !seen.insert(name(value)).inserted {
      let found = "\(MetadataError.quoted(name(value).bytes.span)) again"
      throw .invalidValue(path: "[\(index)]", expected: "each only once", found: found)
    }
    return values
  }

  /// The members that the format doesn't know, at any depth none that would be a length or a digest.
  fileprivate func additionalMembers(besides known: [ByteString]) throws(MetadataError) -> [ByteString: JSONTree] {
    var additional: [ByteString: JSONTree] = [:]
    let members = members
    for position in members.indices where !members.withNameBytes(at: position, { known.contains($0) }) {
      let (name, value) = members[position]
      try Self.refuseDigest(name, value)
      additional[name] = JSONTree(value)
    }
    return additional
  }

  /// Recursive: the parser bounds the depth.
  private static func refuseDigests(in value: JSONValue) throws(MetadataError) {
    for (name, member) in value.members { try refuseDigest(name, member) }
    for (index, element) in value.elements.enumerated() {
      do throws(MetadataError) { try refuseDigests(in: element) } catch { throw error.within(ByteString("[\(index)]")) }
    }
  }

  private static func refuseDigest(_ name: ByteString, _ value: JSONValue) throws(MetadataError) {
    guard !ModelDescription.digestMembers.contains(name) else {
      let expected = "no length and no digest, which stand in the signed targets metadata only"
      throw .invalidValue(path: name.description, expected: expected, found: "\"\(name)\"")
    }
    do throws(MetadataError) { try refuseDigests(in: value) } catch { throw error.within(name) }
  }
}

extension [ByteString] {
  /// Nothing is allocated: for each of what may be a hundred thousand files.
  fileprivate func contains(_ name: Span<UInt8>) -> Bool {
    for own in self where own.equals(name) { return true }
    return false
  }
}

extension String {
  /// For comparing texts as bytes: two Unicode spellings are two texts.
  fileprivate var bytesAsName: ByteString { ByteString(self) }
}
