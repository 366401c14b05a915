internal import Digests
public import TUFMetadata

/// Where the parts of a repository lie.
///
/// ```
/// manifests/metadata  what a web server serves: N.root.json, N.snapshot.json, N.targets.json, timestamp.json,
///                     N.bin-0000.json and so on where the files are spread over bins
/// manifests/targets   <sha256>.catalog.json and so on, below the folders of their paths
/// keys                public keys (PEM) and policy.json: no secret
/// pending             partly signed metadata, outside of what is served
/// secrets             secret keys; may lie elsewhere, on a USB stick say
/// ```
public struct RepositoryLayout: Equatable, Sendable {
  /// The folder that holds the others.
  public let folder: String
  /// The folder of the secret keys.
  public let secrets: String
  /// The configuration of the external signers of whoever signs; nil for none.
  public let signers: String?

  /// - Parameters:
  ///   - folder: the folder that holds the others.
  ///   - secrets: where the secret keys lie; nil for `secrets` in the folder.
  ///   - signers: the path of a `signers.json`, which lies outside of what is shared; nil for none.
  public init(_ folder: String, secrets: String? = nil, signers: String? = nil) {
    self.folder = folder
    self.signers = signers
    self.secrets = secrets ?? folder + "/secrets"
  }

  public var metadata: String { folder + "/manifests/metadata" }
  public var targets: String { folder + "/manifests/targets" }
  public var keys: String { folder + "/keys" }
  /// What only saves work; git ignores it.
  var cache: String { folder + "/.manifest-sign-cache" }
  public var pending: String { folder + "/pending" }
  /// The root that whoever has these secret keys trusts.
  public var trustedRoot: String { secrets + "/trusted-root.json" }
  var lock: String { folder + "/.manifest-sign.lock" }
  package var policy: String { keys + "/policy.json" }

  package func publicKey(_ name: String) -> String { "\(keys)/\(name).pem" }
  package func secretKey(_ name: String) -> String { "\(secrets)/\(name).key" }

  /// The file of a role's metadata; the timestamp's has no version (TUF 1.0.34 §6.2).
  public func metadata(_ role: TopLevelRole, _ version: Version) -> String {
    role == .timestamp ? "\(metadata)/\(role.fileName)" : "\(metadata)/\(version).\(role.fileName)"
  }

  /// The same for any role.
  func file(of role: MetadataRole, _ version: Version) -> String {
    if case .topLevel(let role) = role { metadata(role, version) } else { "\(metadata)/\(version).\(role.fileName)" }
  }

  /// The file of a target under consistent snapshots (TUF 1.0.34 §6.2).
  public func target(_ path: TargetPath, _ file: TargetFile) -> String {
    targets + "/" + String(decoding: path.prefixed(by: file.hashes.sha256.hexadecimal), as: UTF8.self)
  }

  /// The `.verity` of a target, which lies beside it, or would; nil where it has none.
  public func segments(_ path: TargetPath, _ file: TargetFile) -> String? {
    file.segmentsPath(of: path, consistentSnapshot: true).map { targets + "/" + String(decoding: $0, as: UTF8.self) }
  }
}
