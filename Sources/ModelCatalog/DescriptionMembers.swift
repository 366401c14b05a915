package import TUFMetadata

/// The member names of `model.json` and `catalog.json`, each made once.
extension ByteString {
  package static let architectures: ByteString = "architectures"
  package static let files: ByteString = "files"
  package static let format: ByteString = "format"
  package static let licence: ByteString = "licence"
  package static let minimumRuntime: ByteString = "minimum_runtime"
  package static let model: ByteString = "model"
  package static let models: ByteString = "models"
  package static let newest: ByteString = "newest"
  package static let path: ByteString = "path"
  package static let platforms: ByteString = "platforms"
  package static let quantisation: ByteString = "quantisation"
  package static let reason: ByteString = "reason"
  package static let schema: ByteString = "schema"
  package static let sources: ByteString = "sources"
  package static let title: ByteString = "title"
  package static let variants: ByteString = "variants"
  package static let versions: ByteString = "versions"
  package static let withdrawn: ByteString = "withdrawn"
}

extension [ByteString] {
  /// The order in which people read them.
  package static let descriptionMembers: [ByteString] = [
    .schema, .model, .title, .licence, .version, .withdrawn, .reason, .name, .platforms, .architectures, .minimumRuntime, .format,
    .quantisation, .path, .sources, .newest, .files, .variants, .versions, .models,
  ]
}

extension ModelDescription {
  /// Members that a description must not have, whatever the format's version: what they would say is signed elsewhere.
  package static let digestMembers: Set<ByteString> = [
    "length", "size", "bytes", "byte_count", "hash", "hashes", "digest", "digests", "checksum", "checksums", "md5", "sha1", "sha256",
    "sha384", "sha512", "blake2b", "blake3", .fsverity,
  ]
}
