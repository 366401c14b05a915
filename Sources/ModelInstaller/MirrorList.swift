internal import FileIO
internal import TrustStore

/// Where the mirrors are, as `init` remembers it in the state folder. Nothing is trusted because of it.
///
/// A small text file, one `name value` a line, in this order:
/// ```
/// signed-manifest-mirrors 1
/// metadata https://example.org/metadata
/// targets https://example.org/targets
/// ```
package struct MirrorList: Equatable, Sendable {
  private static let name = "mirrors"
  private static let format: Int64 = 1
  private static let header = "signed-manifest-mirrors"
  private static let byteLimit = 64 << 10

  /// The URLs as they were given.
  package var metadata: [String]
  package var targets: [String]

  package init(metadata: [String] = [], targets: [String] = []) {
    self.metadata = metadata
    self.targets = targets
  }

  /// What a state folder remembers; nothing where it has no such file.
  package init(rememberedIn state: String) throws(InstallationError) {
    self.init()
    let path = "\(state)/\(Self.name)"
    let bytes: [UInt8]
    do { bytes = try readFile(path, limit: Self.byteLimit, followingLinks: false) } catch {
      guard error.errno == .notFound else { throw .file(error) }
      return
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .damagedMirrorList(path: path) }
    // Whatever else a later format has.
    if let first = text.split(separator: "\n").first, first.hasPrefix(Self.header + " "),
      let found = Int64(first.dropFirst(Self.header.utf8.count + 1)),
      found > Self.format
    {
      throw .store(.newerFormat(path: path, found: found, supported: Self.format))
    }
    for line in text.split(separator: "\n").dropFirst() {
      if line.hasPrefix("metadata ") { metadata.append(String(line.dropFirst(9))) }
      if line.hasPrefix("targets ") { targets.append(String(line.dropFirst(8))) }
    }
    guard self.text == text else { throw .damagedMirrorList(path: path) }
  }

  /// Remembers the list in a state folder, in place of another.
  package func remember(in state: String) throws(InstallationError) {
    do { try replaceFile(at: "\(state)/\(Self.name)", with: Array(text.utf8)) } catch { throw .file(error) }
  }

  private var text: String {
    (["\(Self.header) \(Self.format)"] + metadata.map { "metadata \($0)" } + targets.map { "targets \($0)" }).joined(separator: "\n") + "\n"
  }
}
