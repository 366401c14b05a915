internal import Digests
internal import ModelCatalog
internal import TUFMetadata

/// Where content may be found that is wanted again: in every installed version, as the records tell, which are believed only as far as to look.
struct StoredFiles {
  struct Place {
    let folder: [[UInt8]]
    let name: [ByteString]
    /// Of the file that was verified there; nil where no record tells.
    var number: FileNumber?
  }

  private var all: [SHA256Digest: [Place]] = [:]

  init(in store: ModelStore) throws(InstallationError) {
    for record in try store.readableRecords() {
      for entry in record.entries {
        for file in entry.files {
          all[file.target.hashes.sha256, default: []].append(
            Place(folder: entry.key.segments(of: record.model), name: file.name, number: FileNumber(file.identity)))
        }
      }
    }
  }

  /// The files that hold any of these contents.
  func numbers(of targets: some Sequence<TargetFile>) -> Set<FileNumber> {
    Set(targets.lazy.flatMap { places(of: $0) }.compactMap(\.number))
  }

  func places(of target: TargetFile) -> [Place] { all[target.hashes.sha256] ?? [] }
}
