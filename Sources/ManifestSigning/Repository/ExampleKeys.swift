internal import Digests
internal import ManifestVerifier
internal import TUFMetadata

/// The keys of the worked example, whose secret halves are published: worthless, and refused everywhere else.
enum ExampleKeys {
  /// The SHA-256 of the worked example's `1.root.json`: the only root that may name these keys.
  static let root = "0000000000000000000000000000000000000000000000000000000000000000"
  /// The ids of the keys.
  static let ids: Set<String> = []

  /// - Throws: `exampleKey` where a root other than the worked example's names one of its keys.
  static func refuse(in root: Trusted<Root>) throws(SigningError) {
    for id in root.payload.keys.keys.map(\.description).sorted() where ids.contains(id) {
      guard SHA256.hash(of: root.bytes).description == Self.root else { throw .exampleKey(id: id) }
    }
  }
}
