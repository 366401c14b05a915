internal import Digests
internal import FileIO
internal import ModelCatalog
internal import TUFMetadata

/// Walks a folder of models: `<org>/<name>/<version>/files`, in sub-folders too, and `<org>/<name>/model.json` where people wrote one.
///
/// Whatever is there is either published or named as a problem: nothing is skipped. No symbolic link is followed below the folder.
package struct CatalogScanner {
  /// How many problems are told in full.
  package static let problemLimit = 100
  /// Folders inside a version's folder, one in another; each is an open file during the scan.
  static let depthLimit = 32
  /// The fewest folders in one for which a thread is woken.
  private static let fewestFolders = 8

  private var problems: [ScanProblem] = []
  private let search: SecretSearch

  private let known: DigestCache
  /// Where among what is known the next file probably stands.
  private var nextKnown = 0

  private let isElsewhere: @Sendable (TargetPath) -> Bool
  private let jobs: Int

  private init(_ search: SecretSearch, _ known: DigestCache, _ isElsewhere: @escaping @Sendable (TargetPath) -> Bool, _ jobs: Int?) {
    (self.search, self.known, self.isElsewhere, self.jobs) = (search, known, isElsewhere, Cores.count(jobs))
  }

  /// Lists the models in a folder.
  /// - Parameters:
  ///   - folder: its path; where that is a symbolic link, it is followed.
  ///   - search: what finds secret keys among the files; one that knows the repository's keys finds their bare seeds too.
  /// - Throws: `SigningError.file` where the folder can't be opened; else `SigningError.scan` with every problem, in the order of the paths.
  package static func scan(_ folder: String) throws(SigningError) -> CatalogScan {
    try scan(folder, SecretSearch(knowing: []), known: DigestCache())
  }

  /// - Parameters:
  ///   - known: a file that is in it needs no more than a look at its status.
  ///   - isElsewhere: whether a file is hashed, and searched for secrets, somewhere else: it is not read here.
  ///   - jobs: the most threads that look at the files; nil for as many as there are cores.
  static func scan(
    _ folder: String, _ search: SecretSearch, known: DigestCache, isElsewhere: @escaping @Sendable (TargetPath) -> Bool = { _ in false },
    jobs: Int? = nil
  ) throws(SigningError) -> CatalogScan {
    let top: FileDescriptor
    do { top = try FileDescriptor(opening: folder, .directory) } catch { throw .file(.system(.open, path: folder, error)) }
    // Whether a file is the bare seed of a key can only be told by whoever knows the key.
    var scanner = Self(search, known.searchedKeys == search.keys ? known : DigestCache(), isElsewhere, jobs)
    let models = scanner.models(in: top)
    guard scanner.problems.isEmpty else {
      let problems = scanner.problems.sorted { $0.path < $1.path }
      throw .scan(Array(problems.prefix(problemLimit)), count: problems.count)
    }
    return CatalogScan(folder: folder, models: models)
  }

  // MARK: The levels

  private mutating func models(in top: borrowing FileDescriptor) -> [ScannedModel] {
    let organisations = children(of: top, at: ScanPath(), .catalog)
    return map(organisations) { scanner, organisation in scanner.models(of: organisation, below: top) }.sorted { $0.name < $1.name }
  }

  private mutating func models(of organisation: Child, below top: borrowing FileDescriptor) -> [ScannedModel] {
    guard let folder = open(organisation, below: top) else { return [] }
    return map(children(of: folder, at: organisation.path, .organisation)) { scanner, name in
      guard let modelFolder = scanner.open(name, below: folder) else { return [] }
      return scanner.model(in: modelFolder, organisation: organisation, name: name).map { [$0] } ?? []
    }
  }

  /// What is found in each of many folders, one behind another, by all threads.
  ///
  /// Few folders are looked at one after another, each with all threads: one of them may hold nearly all files.
  private mutating func map<Found: Sendable>(
    _ folders: [Child], _ look: @Sendable (inout CatalogScanner, Child) -> [Found]
  ) -> [Found] {
    let here = self
    let inner = Cores.map(folders, jobs: jobs, fewest: Self.fewestFolders, with: here.apart) { scanner, child in
      (found: look(&scanner, child), problems: scanner.takeProblems())
    }
    problems += inner.flatMap(\.problems)
    return inner.flatMap(\.found)
  }

  private mutating func model(in folder: borrowing FileDescriptor, organisation: Child, name: Child) -> ScannedModel? {
    var description: [UInt8]?
    var versions: [ScannedVersion] = []
    for child in children(of: folder, at: name.path, .model) {
      if child.status.kind == .directory {
        guard let versionFolder = open(child, below: folder) else { continue }
        let files = files(in: versionFolder, at: child.path, depth: 1).sorted { $0.path < $1.path }
        versions.append(ScannedVersion(name: child.name, files: files))
      } else {
        description = self.description(child, below: folder)
      }
    }
    versions.sort { VersionOrder.isNewer($0.name, than: $1.name) }
    // Fails only for a name that was reported above.
    guard let modelName = try? ModelName(organisation: organisation.name, name: name.name) else { return nil }
    return ScannedModel(name: modelName, description: description, versions: versions)
  }

  private mutating func files(in folder: borrowing FileDescriptor, at path: ScanPath, depth: Int) -> [ScannedFile] {
    let children = children(of: folder, at: path, .version)
    var files = files(children.filter { $0.status.kind != .directory }, below: folder)
    let folders = children.filter { $0.status.kind == .directory }
    guard !folders.isEmpty else { return files }
    files += map(folders) { scanner, child in scanner.files(in: child, below: folder, depth: depth + 1) }
    return files
  }

  private mutating func files(in child: Child, below folder: borrowing FileDescriptor, depth: Int) -> [ScannedFile] {
    guard depth <= Self.depthLimit + 1 else {
      report(child.path, .tooDeep(limit: Self.depthLimit))
      return []
    }
    guard let inner = open(child, below: folder) else { return [] }
    return files(in: inner, at: child.path, depth: depth)
  }

  /// The same for another thread, which reports apart.
  private var apart: CatalogScanner { CatalogScanner(search.apart, known, isElsewhere, jobs) }

  private mutating func takeProblems() -> [ScanProblem] {
    defer { problems = [] }
    return problems
  }

  // MARK: One folder

  /// A folder, or a file where one may be. Its name may have been reported; what is in it is looked at all the same.
  private struct Child {
    let name: ByteString
    let path: ScanPath
    let status: FileStatus
  }

  /// What a look at one name has told.
  private struct Look {
    /// Nil where the file system told nothing of it.
    let child: Child?
    let faults: [ScanProblem.Fault]
  }

  private mutating func children(of folder: borrowing FileDescriptor, at path: ScanPath, _ level: ScanLevel) -> [Child] {
    let names: [ByteString]
    do { names = try folder.names().map { ByteString($0) } } catch {
      report(path, .unreadable(error))
      return []
    }
    if names.isEmpty { report(path, level == .catalog ? .emptyCatalog : .emptyFolder) }
    let clashes = ScanNames(names, level)
    let looks = Cores.map(Array(names.indices), jobs: jobs) { number in
      let name = names[number]
      do throws(Errno) {
        let status = try folder.status(of: name.bytes)
        let faults = clashes.faults(at: number, kind: status.kind)
        return Look(child: Child(name: name, path: path.appending(name, isGood: faults.isEmpty), status: status), faults: faults)
      } catch { return Look(child: nil, faults: [.unreadable(error)]) }
    }
    var children: [Child] = []
    for (name, look) in zip(names, looks) {
      for fault in look.faults { report(path.appending(name, isGood: false), fault) }
      guard let child = look.child else { continue }
      switch child.status.kind {
      case .directory where !level.isDescription(name): children.append(child)
      case .directory: report(child.path, .notAFile)
      case .regular where level == .version || level.isDescription(name): children.append(child)
      case .regular: report(child.path, .misplaced)
      default: report(child.path, .notRegular(child.status.kind))
      }
    }
    return children
  }

  private mutating func open(_ child: Child, below folder: borrowing FileDescriptor) -> FileDescriptor? {
    do { return try folder.open(child.name.bytes, .directoryNoFollow) } catch {
      report(child.path, .unreadable(error))
      return nil
    }
  }

  private mutating func report(_ path: ScanPath, _ fault: ScanProblem.Fault) {
    problems.append(ScanProblem(path: ByteString(path.bytes), fault: fault))
  }

  // MARK: The files of one folder

  /// What a file was found to be, and what is wrong with it.
  private struct Finding {
    var file: ScannedFile?
    var faults: [ScanProblem.Fault] = []
  }

  /// Looks at the files of one folder: those of which nothing is known are searched for secrets.
  private mutating func files(_ children: [Child], below folder: borrowing FileDescriptor) -> [ScannedFile] {
    var files: [ScannedFile] = []
    var unknown: [Child] = []
    for child in children {
      if let file = unread(child) { files.append(file) } else { unknown.append(child) }
    }
    let search = search
    let findings = Cores.map(unknown, jobs: jobs, fewest: 16, with: search.apart) { Self.search(&$0, $1, below: folder) }
    for (child, finding) in zip(unknown, findings) {
      for fault in finding.faults { report(child.path, fault) }
      if let file = finding.file { files.append(file) }
    }
    return files
  }

  /// A file that needs no more than the look at its status.
  private mutating func unread(_ child: Child) -> ScannedFile? {
    guard child.path.isGood, let path = try? TargetPath(ByteString(child.path.bytes)) else { return nil }
    if isElsewhere(path) { return ScannedFile(path: path, status: child.status) }
    return known.known(path, child.status, expectedAt: &nextKnown).map { ScannedFile(path: $0.path, status: child.status, known: $0) }
  }

  private static func search(_ search: inout SecretSearch, _ child: Child, below folder: borrowing FileDescriptor) -> Finding {
    var finding = Finding()
    do throws(Errno) {
      let file = try folder.open(child.name.bytes, .readNoFollow)
      let status = try file.status()
      guard status.kind == .regular else { return Finding(faults: [.notRegular(status.kind)]) }
      if try search.finds(in: file, byteCount: status.byteCount) { finding.faults.append(.secretKey) }
      let seedKeys = search.takeCollected()
      guard child.path.isGood else { return finding }
      do { finding.file = ScannedFile(path: try TargetPath(ByteString(child.path.bytes)), status: status, seedKeys: seedKeys) } catch {
        finding.faults.append(.path(error))
      }
    } catch { finding.faults.append(.unreadable(error)) }
    return finding
  }

  private mutating func description(_ child: Child, below folder: borrowing FileDescriptor) -> [UInt8]? {
    guard let found = files([child], below: folder).first else { return nil }
    let limit = ModelDescription.byteLimit
    guard found.status.byteCount <= Int64(limit) else {
      report(child.path, .tooLarge(limit: limit))
      return nil
    }
    do throws(Errno) {
      let file = try folder.open(child.name.bytes, .readNoFollow)
      // One more than it should have, to see that it has not grown.
      var bytes = [UInt8](repeating: 0, count: Int(found.status.byteCount) + 1)
      let count = try file.fill(&bytes, at: 0)
      guard count < bytes.count else {
        report(child.path, .changing)
        return nil
      }
      bytes.removeLast(bytes.count - count)
      return bytes
    } catch {
      report(child.path, .unreadable(error))
      return nil
    }
  }
}
