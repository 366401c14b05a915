/// The `signed` part of one kind of metadata.
public protocol RolePayload: Sendable {
  /// The role whose `_type` the payload has; delegated targets have that of targets.
  static var role: TopLevelRole { get }
  /// The version of this metadata.
  var version: Version { get }
  /// From this time on the metadata is expired; at this very second already (TUF 1.0.34 §5.1).
  var expires: UTCTime { get }
}

/// A payload as it is read from its JSON.
package protocol ReadableRolePayload: RolePayload {
  /// Reads the members that are this role's own.
  init(_ json: JSONValue, header: RoleHeader) throws(MetadataError)
}

/// The members that all roles have in common (TUF 1.0.34 §4.2.1).
public struct RoleHeader: Hashable, Sendable {
  public let version: Version
  public let expires: UTCTime

  /// The specification version that our own metadata states.
  package static let specVersion: ByteString = "1.0.34"

  package init(version: Version, expires: UTCTime) {
    self.version = version
    self.expires = expires
  }

  init(_ json: JSONValue, role: TopLevelRole) throws(MetadataError) {
    try json.requireObject()
    try json.read(.type) { value throws(MetadataError) in
      guard value.string == role.name else { throw value.unexpected("\"\(role.rawValue)\"") }
    }
    try json.read(.specVersion) { value throws(MetadataError) in
      guard Self.isSupported(try value.requireString()) else { throw value.unexpected("a specification version 1.x.y") }
    }
    version = try json.read(.version) { value throws(MetadataError) in try value.requireVersion() }
    expires = try json.read(.expires) { value throws(MetadataError) in try value.requireTime() }
  }

  // TUF 1.0.34 §4.2.1: three numbers; what a client can't read has another first one.
  private static func isSupported(_ text: ByteString) -> Bool {
    let parts = text.bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 3 && parts[0].elementsEqual([UInt8(ascii: "1")])
      && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }
  }

  package func members(of role: TopLevelRole) -> [ByteString: JSONTree] {
    [
      .type: .string(role.name),
      .specVersion: .string(Self.specVersion),
      .version: .integer(version.number),
      .expires: .string(ByteString(expires.description)),
    ]
  }
}
