internal import Digests
package import ModelCatalog
package import TUFMetadata

/// One variant of one version of a model: what a folder of the store holds.
package struct StoreKey: Hashable, Sendable {
  package let version: ByteString
  package let variant: ByteString

  /// - Throws: `unusableName` where one of them can't be the name of a folder.
  package init(version: ByteString, variant: ByteString, of model: ModelName) throws(InstallationError) {
    let joined = ByteString(version.bytes + [UInt8(ascii: "/")] + variant.bytes)
    guard let path = try? TargetPath(joined), path.segments == [version, variant] else {
      throw .model(.unusableName(model: model.description, name: joined.description))
    }
    (self.version, self.variant) = (version, variant)
  }

  /// The folder's place in the store.
  func segments(of model: ModelName) -> [[UInt8]] {
    [StoreName.models, model.organisation.bytes, model.name.bytes, version.bytes, variant.bytes]
  }

  /// The name of the folder in which the version is put together: the same after a crash, and short whatever the names are.
  func stagingName(of model: ModelName) -> [UInt8] {
    let parts = [model.organisation.bytes, model.name.bytes, version.bytes, variant.bytes]
    return SHA256.hash(of: Array(parts.joined(separator: [0]))).hexadecimal
  }
}

extension StoreKey: CustomStringConvertible {
  package var description: String { "\(version):\(variant)" }
}

/// The names at the top of a store, and in its staging folder.
enum StoreName {
  static let models = Array("models".utf8)
  static let records = Array("records".utf8)
  static let descriptions = Array("descriptions".utf8)
  static let staging = Array("staging".utf8)
  /// Versions that are being put together.
  static let versions = Array("versions".utf8)
  /// Among those, a version that gives way to a new one where the two can't change places in one step.
  static let replaced = Array("replaced".utf8)
  /// Files that are being fetched, each under its signed SHA-256.
  static let parts = Array("parts".utf8)
  /// What is being removed.
  static let trash = Array("trash".utf8)
  /// Space for a record when the disk is full.
  static let reserve = Array("reserve".utf8)
  static let suffix = Array(".json".utf8)
}
