/// Writes the canonical form of an object member by member: a million targets need no tree in memory.
///
/// Members come in byte order of their names, as canonical JSON has them.
package struct CanonicalWriter: Sendable {
  private var output: [UInt8]
  private var firstName: ByteString?
  private var lastName: ByteString?

  private init(output: [UInt8]) { self.output = output }

  /// The canonical form of the object whose members `body` writes.
  /// - Throws: what `body` throws; `MetadataError.invalidValue` for a member that comes after a greater or an equal name.
  package static func object(
    reservingCapacity capacity: Int = 0, _ body: (inout CanonicalWriter) throws(MetadataError) -> Void
  ) throws(MetadataError) -> [UInt8] {
    var writer = CanonicalWriter(output: [UInt8(ascii: "{")])
    writer.output.reserveCapacity(capacity)
    try body(&writer)
    writer.output.append(UInt8(ascii: "}"))
    return writer.output
  }

  /// Members of an object that are written apart, so that several threads may write those of one.
  package struct Members: Sendable {
    fileprivate let bytes: [UInt8]
    fileprivate let firstName: ByteString?
    fileprivate let lastName: ByteString?

    /// - Throws: as `object`.
    package init(
      reservingCapacity capacity: Int = 0, _ body: (inout CanonicalWriter) throws(MetadataError) -> Void
    ) throws(MetadataError) {
      var writer = CanonicalWriter(output: [])
      writer.output.reserveCapacity(capacity)
      try body(&writer)
      (bytes, firstName, lastName) = (writer.output, writer.firstName, writer.lastName)
    }
  }

  package mutating func members(_ members: Members) throws(MetadataError) {
    guard let first = members.firstName else { return }
    try separate(from: first)
    output += members.bytes
    lastName = members.lastName
  }

  package mutating func string(_ name: ByteString, _ text: ByteString) throws(MetadataError) {
    try begin(name)
    CanonicalJSON.appendString(text, to: &output)
  }

  /// A member whose value `append` writes in its canonical form.
  mutating func canonical(_ name: ByteString, _ append: (inout [UInt8]) -> Void) throws(MetadataError) {
    try begin(name)
    append(&output)
  }

  package mutating func integer(_ name: ByteString, _ value: Int64) throws(MetadataError) {
    try begin(name)
    CanonicalJSON.appendInteger(value, to: &output)
  }

  package mutating func boolean(_ name: ByteString, _ value: Bool) throws(MetadataError) {
    try begin(name)
    CanonicalJSON.append(boolean: value, to: &output)
  }

  package mutating func value(_ name: ByteString, _ value: JSONTree) throws(MetadataError) {
    try begin(name)
    value.appendCanonical(to: &output)
  }

  package mutating func value(_ name: ByteString, _ value: JSONValue) throws(MetadataError) {
    try begin(name)
    value.appendCanonical(to: &output)
  }

  /// A member whose value is canonical already, such as what `canonicalBytes` gave.
  package mutating func canonical(_ name: ByteString, _ bytes: [UInt8]) throws(MetadataError) {
    try begin(name)
    output.append(contentsOf: bytes)
  }

  /// A member that is itself an object.
  package mutating func object(
    _ name: ByteString, _ body: (inout CanonicalWriter) throws(MetadataError) -> Void
  ) throws(MetadataError) {
    try begin(name)
    output.append(UInt8(ascii: "{"))
    // The inner object has names of its own; after it, the outer ones go on.
    lastName = nil
    try body(&self)
    lastName = name
    output.append(UInt8(ascii: "}"))
  }

  private mutating func begin(_ name: ByteString) throws(MetadataError) {
    try separate(from: name)
    lastName = name
    CanonicalJSON.appendString(name, to: &output)
    output.append(UInt8(ascii: ":"))
  }

  /// What stands between the last member and one of this name.
  private mutating func separate(from name: ByteString) throws(MetadataError) {
    guard let lastName else {
      if firstName == nil { firstName = name }
      return
    }
    guard lastName < name else {
      throw .invalidValue(path: "canonical JSON", expected: "a member whose name comes after \"\(lastName)\"", found: "\"\(name)\"")
    }
    output.append(UInt8(ascii: ","))
  }
}
