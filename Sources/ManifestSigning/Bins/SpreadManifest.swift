internal import Digests
internal import ManifestVerifier
internal import TUFMetadata

/// The files of a manifest, spread over bins, and how each bin differs from the published one.
struct SpreadManifest: Sendable {
  let bins: HashBins
  /// What no bin lists: the list of models stays with the top-level role (as a delegated role could otherwise tell devices of other models).
  let top: Manifest
  /// By the bins' numbers.
  let parts: [Manifest]
  /// What makes each part another than what is published in the bin of its number, however many there are; nil where there is no such bin.
  let changes: [ManifestChanges?]

  init(_ manifest: Manifest, over bins: HashBins, since published: PublishedBins?) {
    var top: [Manifest.File] = []
    var parts = [[Manifest.File]](repeating: [], count: bins.count)
    let numbers = Cores.map(manifest.files) { $0.path.name == Catalog.fileName ? nil : bins.number(of: $0.path) }
    for (file, number) in zip(manifest.files, numbers) {
      if let number { parts[number].append(file) } else { top.append(file) }
    }
    self.bins = bins
    self.top = Manifest(top)
    self.parts = parts.map(Manifest.init)
    changes = Cores.map(Array(self.parts.enumerated()), fewest: 1) { number, part in
      published?.metadata(number).map { part.changes(since: $0.payload) }
    }
  }
}
