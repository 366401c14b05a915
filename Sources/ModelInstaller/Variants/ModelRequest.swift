package import ModelCatalog
package import TUFMetadata

/// What a caller asks for: `MODEL[@VERSION][:VARIANT]`.
public struct ModelRequest: Hashable, Sendable {
  package let model: ModelName
  /// Nil for the newest.
  package let version: ByteString?
  /// Nil for the one that fits the device.
  package let variant: ByteString?

  /// Reads `ORG/NAME`, `ORG/NAME@VERSION`, `ORG/NAME:VARIANT` or `ORG/NAME@VERSION:VARIANT`.
  /// - Throws: `model` with `unreadableRequest`.
  public init(_ text: String) throws(InstallationError) {
    var rest = Array(text.utf8)[...]
    func cut(at mark: Unicode.Scalar) -> ByteString? {
      guard let index = rest.lastIndex(of: UInt8(ascii: mark)) else { return nil }
      defer { rest = rest[..<index] }
      return ByteString(Array(rest[(index + 1)...]))
    }
    // Names of versions and variants hold none of the marks; an organisation's might, so the last ones count.
    let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.startIndex
    let organisation = ByteString(Array(rest[..<slash]))
    rest = rest[slash...].dropFirst()
    let (variant, version) = (cut(at: ":"), cut(at: "@"))
    guard !organisation.bytes.isEmpty, variant?.bytes.isEmpty != true, version?.bytes.isEmpty != true,
      let model = try? ModelName(organisation: organisation, name: ByteString(Array(rest)))
    else { throw .model(.unreadableRequest(text)) }
    (self.model, self.version, self.variant) = (model, version, variant)
  }

  package init(model: ModelName, version: ByteString? = nil, variant: ByteString? = nil) {
    (self.model, self.version, self.variant) = (model, version, variant)
  }
}

extension ModelRequest {
  /// Whether it may come to this.
  func allows(_ key: StoreKey) -> Bool { (version == nil || version == key.version) && (variant == nil || variant == key.variant) }
}

extension ModelRequest: CustomStringConvertible {
  public var description: String { "\(model)\(version.map { "@\($0)" } ?? "")\(variant.map { ":\($0)" } ?? "")" }
}
