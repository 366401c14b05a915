internal import TUFMetadata

/// The member names of `model.json` and `catalog.json`, each made once.
extension ByteString {
  static let architectures: ByteString = "architectures"
  static let files: ByteString = "files"
  static let format: ByteString = "format"
  static let licence: ByteString = "licence"
  static let minimumRuntime: ByteString = "minimum_runtime"
  static let model: ByteString = "model"
  static let models: ByteString = "models"
  static let newest: ByteString = "newest"
  static let path: ByteString = "path"
  static let platforms: ByteString = "platforms"
  static let quantisation: ByteString = "quantisation"
  static let reason: ByteString = "reason"
  static let schema: ByteString = "schema"
  static let sources: ByteString = "sources"
  static let title: ByteString = "title"
  static let variants: ByteString = "variants"
  static let versions: ByteString = "versions"
  static let withdrawn: ByteString = "withdrawn"
}

extension [ByteString] {
  /// The order in which people read them.
  static let descriptionMembers: [ByteString] = [
    .schema, .model, .title, .licence, .version, .withdrawn, .reason, .name, .platforms, .architectures, .minimumRuntime, .format,
    .quantisation, .path, .sources, .newest, .files, .variants, .versions, .models,
  ]
}

extension ModelDescription {
  /// Members that a description must not have, whatever the format's version: what they would say is signed elsewhere.
  static let digestMembers: Set<ByteString> = [
    "length", "size", "bytes", "byte_count", "hash", "hashes", "digest", "digests", "checksum", "checksums", "md5", "sha1", "sha256",
    "sha384", "sha512", "blake2b", "blake3", .fsverity,
  ]
}
