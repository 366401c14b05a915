internal import Digests
internal import ModelCatalog
internal import TUFMetadata

/// Where content may be found that is wanted again: in every installed version, as the records tell, which are believed only as far as to look.
struct StoredFiles {
  struct Place {
    let folder: [[UInt8]]
    let name: [ByteString]
  }

  private var all: [SHA256Digest: [Place]] = [:]

  init(in store: ModelStore) throws(InstallationError) {
    for record in try store.readableRecords() {
      for entry in record.entries {
        for file in entry.files {
          all[file.target.hashes.sha256, default: []].append(Place(folder: entry.key.segments(of: record.model), name: file.name))
        }
      }
    }
  }

  func places(of target: TargetFile) -> [Place] { all[target.hashes.sha256] ?? [] }
}
