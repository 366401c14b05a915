internal import Digests
internal import FileIO
internal import Synchronization
internal import TUFMetadata

/// Hashes the files of one scanned folder, all of them: a long file on two cores, short ones side by side.
package struct CatalogHasher {
  /// A file up to this length, in bytes, is hashed by one core.
  private static let shortByteCount: Int64 = 1 << 20
  /// How much is done between two looks at whether to stop: at most so many short files, and so many bytes.
  private static let batchFileCount = 512
  private static let batchByteCount: Int64 = 32 << 20

  let folder: String
  let jobs: Int

  /// - Parameters:
  ///   - folder: the one that was scanned.
  ///   - jobs: the most threads; nil for as many as there are cores.
  package init(folder: String, jobs: Int? = nil) { (self.folder, self.jobs) = (folder, Cores.count(jobs)) }

  /// - Parameter done: gets each file's number and what came of it.
  /// - Throws: as `FileHasher.hash`, for the first file that fails; `done` was called for all before it.
  package func hash(
    _ files: [ScannedFile], _ observer: some PublishingObserver, done: (Int, HashedFile) -> Void
  ) throws(SigningError) {
    var hasher = try FileHasher(folder: folder, jobs: jobs)
    var start = 0
    while start < files.count {
      let count = jobs > 1 ? shortCount(files[start...]) : 0
      observer.willHash(files[start].path)
      guard count > 1 else {
        done(start, try hasher.hash(files[start], progress: observer.didHash, isCancelled: observer.isCancelled))
        start += 1
        continue
      }
      guard !observer.isCancelled() else { throw .cancelled }
      for (offset, result) in hash(short: files[start..<start + count]).enumerated() {
        let hashed = try result.get()
        observer.didHash(byteCount: Int(hashed.target.byteCount))
        done(start + offset, hashed)
      }
      start += count
    }
  }

  /// How many of the first files are a batch of short ones.
  private func shortCount(_ files: ArraySlice<ScannedFile>) -> Int {
    var byteCount: Int64 = 0
    return files.prefix(Self.batchFileCount).prefix { file in
      byteCount += file.status.byteCount
      return file.status.byteCount <= Self.shortByteCount && byteCount <= Self.batchByteCount
    }.count
  }

  /// - Returns: what came of each file, up to the first that failed.
  private func hash(short files: ArraySlice<ScannedFile>) -> [Result<HashedFile, SigningError>] {
    let results = Mutex([Result<HashedFile, SigningError>?](repeating: nil, count: files.count))
    let longest = files.map(\.status.byteCount).max() ?? 0
    // Files are begun in their order, so that of several bad ones the first is always among those that were hashed.
    let next = Atomic<Int>(0)
    let isStopped = Atomic<Bool>(false)
    Cores.run(min(jobs, files.count)) { [folder] _ in
      var number = 0
      do throws(SigningError) {
        var hasher = try FileHasher(folder: folder, longest: longest)
        while !isStopped.load(ordering: .relaxed) {
          number = next.wrappingAdd(1, ordering: .relaxed).oldValue
          guard number < files.count else { return }
          let hashed = try hasher.hash(files[files.startIndex + number])
          results.withLock { $0[number] = .success(hashed) }
        }
      } catch {
        isStopped.store(true, ordering: .relaxed)
        results.withLock { $0[number] = .failure(error) }
      }
    }
    return results.withLock { $0 }.prefix { $0 != nil }.compactMap(\.self)
  }
}
