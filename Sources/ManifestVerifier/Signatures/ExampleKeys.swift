internal import Digests
package import TUFMetadata

/// The keys of the worked example, whose secret halves are published: worthless, and refused everywhere else.
package enum ExampleKeys {
  /// The SHA-256 of the worked example's `1.root.json`: the only root that may name these keys.
  static let root = "0be6c212d872fa9dc06e6c9cbfdfa1ae83c3554a3a9c38ac9cd90f606ac7933a"
  /// The ids of the keys.
  static let ids: Set<String> = [
    "4b964a04e2e32a4a54f8762b3c797c5d6e6528dc8e0ad1c399ccedf6634cbdc3",
    "6ce33c6b3bddd87c874c66125009c8892233caa0296d3d28fbeb8ed0899f350c",
    "9c5e9bae87412e934f24b655dcacfaf092050f44fe74f29bfe44e06dbec47213",
    "c577c735b29b03621f37521ed7be3db39c9b4c320e84b42992da51ae8248df17",
    "e1d512be4f65d1484d36f71310655127b7f990c2cc4a981567b977f00ddcaab5",
    "f7db687bb034039d4957239a18d3f09d7abd51880d30ad2e7f8770a53d73b8ab",
  ]

  /// Whether a key is one of the worked example's.
  package static func contains(_ id: KeyID) -> Bool { ids.contains(id.description) }

  /// - Throws: `exampleKey` where a first root other than the worked example's names one of its keys.
  static func refuse(in root: Root, _ bytes: [UInt8]) throws(VerificationError) {
    for id in root.keys.keys.map(\.description).sorted() where ids.contains(id) {
      guard SHA256.hash(of: bytes).description == Self.root else { throw .exampleKey(id: id) }
    }
  }
}
