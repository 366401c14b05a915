internal import FileIO
internal import ModelCatalog
internal import TUFMetadata

/// Fragments made into one catalog, as if one machine had scanned and hashed one folder.
struct FragmentMerge {
  let scan: CatalogScan
  /// In the order of the scan.
  let files: [HashedFile]

  /// - Throws: `fragment` where one is at odds with another; `scan` where names collide that no single machine saw together.
  init(_ fragments: [Fragment]) throws(SigningError) {
    var owners: [TargetPath: (fragment: Fragment, file: TargetFile)] = [:]
    var models: [ModelName: (description: [UInt8]?, versions: [ByteString: [ScannedFile]])] = [:]
    var hashed: [TargetPath: HashedFile] = [:]
    func claim(_ path: TargetPath, _ file: TargetFile, _ fragment: Fragment) throws(SigningError) {
      guard let other = owners.updateValue((fragment, file), forKey: path) else { return }
      let fault: FragmentFault =
        other.file == file ? .overlap(path: path, other: other.fragment.path) : .contradiction(path: path, other: other.fragment.path)
      throw .fragment(path: fragment.path, fault)
    }
    for fragment in fragments {
      for file in fragment.files {
        let segments = file.file.path.segments
        guard segments.count >= 4, let name = try? ModelName(organisation: segments[0], name: segments[1]) else {
          throw .fragment(path: fragment.path, .misplaced(path: file.file.path))
        }
        try claim(file.file.path, file.target, fragment)
        models[name, default: (nil, [:])].versions[segments[2], default: []].append(file.file)
        hashed[file.file.path] = file
      }
      for (path, bytes) in fragment.descriptions {
        let segments = path.segments
        guard segments.count == 3, segments[2] == ModelDescription.fileName,
          let name = try? ModelName(organisation: segments[0], name: segments[1])
        else { throw .fragment(path: fragment.path, .misplaced(path: path)) }
        try claim(path, TargetFile(of: bytes), fragment)
        models[name, default: (nil, [:])].description = bytes
      }
    }
    try Self.requireGoodNames(owners.keys.sorted())
    let scanned = models.sorted { $0.key < $1.key }.map { name, model in
      let versions = model.versions.map { ScannedVersion(name: $0.key, files: $0.value.sorted { $0.path < $1.path }) }
      return ScannedModel(
        name: name, description: model.description, versions: versions.sorted { VersionOrder.isNewer($0.name, than: $1.name) })
    }
    scan = CatalogScan(folder: "", models: scanned)
    files = scan.files.compactMap { hashed[$0.path] }
  }

  /// Holds all names against the rules and against each other, as the scan of one folder would.
  private static func requireGoodNames(_ paths: [TargetPath]) throws(SigningError) {
    // The names in each folder, and whether each is a folder itself.
    var folders: [ByteString: [ByteString: Bool]] = [:]
    for path in paths {
      let segments = path.segments
      var folder = ByteString("")
      for (depth, name) in segments.enumerated() {
        let isFolder = depth < segments.count - 1
        if let other = folders[folder]?[name], other != isFolder { throw .scan([ScanProblem(path: path.name, fault: .notAFile)], count: 1) }
        folders[folder, default: [:]][name] = isFolder
        folder = ByteString((folder.bytes.isEmpty ? [] : folder.bytes + [UInt8(ascii: "/")]) + name.bytes)
      }
    }
    var problems: [ScanProblem] = []
    for (folder, names) in folders {
      let depth = folder.bytes.isEmpty ? 0 : folder.bytes.count { $0 == UInt8(ascii: "/") } + 1
      let clashes = ScanNames(Array(names.keys), ScanLevel(depth: depth))
      for (number, (name, isFolder)) in names.enumerated() {
        for fault in clashes.faults(at: number, kind: isFolder ? .directory : .regular) {
          let path = ByteString((folder.bytes.isEmpty ? [] : folder.bytes + [UInt8(ascii: "/")]) + name.bytes)
          problems.append(ScanProblem(path: path, fault: fault))
        }
      }
    }
    guard !problems.isEmpty else { return }
    problems.sort { $0.path < $1.path }
    throw .scan(Array(problems.prefix(CatalogScanner.problemLimit)), count: problems.count)
  }
}

extension SecretSearch {
  /// Refuses what machines could not tell for a secret, since they do not know the keys.
  func refuse(in fragments: [Fragment]) throws(SigningError) {
    var paths: [TargetPath] = []
    for fragment in fragments {
      paths += fragment.files.filter { $0.file.seedKeys.contains(where: knows) }.map(\.file.path)
      paths += fragment.descriptions.filter { finds(in: $0.value.span) }.map(\.key)
    }
    guard !paths.isEmpty else { return }
    let problems = paths.sorted().prefix(CatalogScanner.problemLimit).map { ScanProblem(path: $0.name, fault: .secretKey) }
    throw .scan(problems, count: paths.count)
  }
}

extension ScannedFile {
  /// A file that another machine has seen.
  convenience init(path: TargetPath, byteCount: Int64, seedKeys: [Ed25519PublicKey]) {
    self.init(
      path: path,
      status: FileStatus(
        device: 0, inode: 0, kind: .regular, byteCount: byteCount, modifiedNanoseconds: 0, changedNanoseconds: 0, permissions: 0, owner: 0,
        linkCount: 1), seedKeys: seedKeys)
  }
}

extension ScanLevel {
  fileprivate init(depth: Int) {
    self =
      switch depth {
      case 0: .catalog
      case 1: .organisation
      case 2: .model
      default: .version
      }
  }
}
