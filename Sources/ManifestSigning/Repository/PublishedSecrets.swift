internal import FileIO

/// Looks for secret keys where everybody may look: below `manifests`, which is served, and below `keys`, which is shared.
public enum PublishedSecrets {
  private static let folders = ["manifests", "keys"]

  /// - Throws: `publishedSecrets` with the paths; `file` where something can't be read.
  public static func refuse(in layout: RepositoryLayout) throws(SigningError) {
    var found: [String] = []
    var buffer = [UInt8](repeating: 0, count: SecretKeyTraces.byteLimit)
    for folder in folders { try search("\(layout.folder)/\(folder)", &buffer, &found) }
    guard found.isEmpty else { throw .publishedSecrets(paths: found.sorted()) }
  }

  /// Whether a web server that follows the link would hand out a secret key.
  private static func leadsToSecret(_ link: String, _ buffer: inout [UInt8]) throws(Errno) -> Bool {
    do throws(Errno) {
      let file = try FileDescriptor(opening: link, .read)
      let status = try file.status()
      guard status.kind == .regular, status.byteCount <= Int64(SecretKeyTraces.byteLimit) else { return false }
      return SecretKeyTraces.isSecretKey(buffer[..<(try file.fill(&buffer, at: 0))])
    } catch {
      // It leads nowhere, or to what can't be opened as a file.
      guard error == .notFound || error == .noSuchDeviceOrAddress || error == .tooManySymbolicLinks else { throw error }
      return false
    }
  }

  private static func search(_ folder: String, _ buffer: inout [UInt8], _ found: inout [String]) throws(SigningError) {
    // Depth is bounded by the length of a path.
    var waiting = [folder]
    while let path = waiting.popLast() {
      do throws(Errno) {
        let directory = try FileDescriptor(opening: path, .directory)
        for name in try directory.names() {
          let child = "\(path)/\(String(decoding: name, as: UTF8.self))"
          let status = try directory.status(of: name)
          if status.kind == .directory { waiting.append(child) }
          if status.kind == .symbolicLink, try leadsToSecret(child, &buffer) { found.append(child) }
          guard status.kind == .regular, status.byteCount <= Int64(SecretKeyTraces.byteLimit) else { continue }
          let count = try directory.open(name, .readNoFollow).fill(&buffer, at: 0)
          if SecretKeyTraces.isSecretKey(buffer[..<count]) { found.append(child) }
        }
      } catch {
        // The folder is not there yet, or a file went away meanwhile.
        guard error == .notFound else { throw .file(.system(.read, path: path, error)) }
      }
    }
  }
}
