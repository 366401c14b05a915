internal import Digests
internal import ModelFormats
internal import TUFMetadata

/// The form of the cache on disk: a heading, each file, and the SHA-256 of all that. Numbers are 8 bytes, the lowest first.
extension DigestCache {
  /// Names the form, and the rules that the files were held against, those of `ModelFormats` and `SecretSearch`: whoever changes either counts it up.
  private static let heading = Array("manifest-sign digests 2, rules 1\n".utf8)
  /// Everything of an entry but the path and the quantisation.
  private static let entryByteCount = 5 * 8 + 2 * 32 + 4

  /// - Returns: nil where the bytes are not what was written once.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.heading.count + 64, bytes.starts(with: Self.heading) else { return nil }
    let end = bytes.count - 32
    var hash = SHA256()
    hash.update(bytes.span.extracting(first: end))
    guard hash.finalize().bytes == Array(bytes[end...]) else { return nil }
    var reader = Reader(bytes: bytes, position: Self.heading.count, end: end)
    let keys = reader.digest()
    var entries: [Entry] = []
    entries.reserveCapacity((end - reader.position) / (Self.entryByteCount + 32))
    while reader.position < end {
      guard let entry = reader.entry(), entries.last.map({ $0.path < entry.path }) ?? true else { return nil }
      entries.append(entry)
    }
    self.init(entries)
    // Zeros stand for none.
    searchedKeys = keys.flatMap { $0.bytes.allSatisfy { $0 == 0 } ? nil : $0 }
  }

  package var bytes: [UInt8] {
    var output = Self.heading
    output.reserveCapacity(output.count + entries.count * (Self.entryByteCount + 64))
    output += searchedKeys?.bytes ?? [UInt8](repeating: 0, count: 32)
    for entry in entries {
      let path = entry.path
      // A description that long is rare, and costs no more than reading that file again.
      let quantisation = Array((entry.summary.quantisation ?? "").utf8)
      guard path.name.bytes.count <= 0xFFFF, quantisation.count <= 0xFF, let fsverity = entry.target.fsverity,
        let content = FileContent.allCases.firstIndex(of: entry.summary.content),
        let format = ModelFormat.allCases.firstIndex(of: entry.summary.format)
      else { continue }
      let length = path.name.bytes.count
      output += [UInt8(length & 0xFF), UInt8(length >> 8), UInt8(format << 4 | content), UInt8(quantisation.count)]
      output += path.name.bytes
      output += quantisation
      Self.append(entry.device, to: &output)
      Self.append(entry.inode, to: &output)
      for number in [entry.target.byteCount, entry.modifiedNanoseconds, entry.changedNanoseconds] {
        Self.append(UInt64(bitPattern: number), to: &output)
      }
      entry.target.hashes.sha256.append(to: &output)
      fsverity.sha256.append(to: &output)
    }
    output += SHA256.hash(of: output).bytes
    return output
  }

  private static func append(_ number: UInt64, to output: inout [UInt8]) {
    for shift in stride(from: 0, to: 64, by: 8) { output.append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
  }

  private struct Reader {
    let bytes: [UInt8]
    var position: Int
    let end: Int

    mutating func entry() -> Entry? {
      guard let head = take(4) else { return nil }
      let (format, content) = (Int(head[head.startIndex + 2] >> 4), Int(head[head.startIndex + 2] & 15))
      let pathLength = Int(head[head.startIndex]) | Int(head[head.startIndex + 1]) << 8
      guard let name = take(pathLength), let quantisation = take(Int(head[head.startIndex + 3])),
        let path = try? TargetPath(ByteString(Array(name))), ModelFormat.allCases.indices.contains(format),
        FileContent.allCases.indices.contains(content), let device = number(), let inode = number(), let byteCount = number(),
        let modified = number(), let changed = number(), let sha256 = digest(), let tree = digest(), Int64(bitPattern: byteCount) >= 0
      else { return nil }
      let target = TargetFile(
        byteCount: Int64(bitPattern: byteCount), hashes: FileHashes(sha256: sha256), fsverity: FSVerityDigest(sha256: tree))
      let summary = ModelSummary(
        format: ModelFormat.allCases[format], content: FileContent.allCases[content],
        quantisation: quantisation.isEmpty ? nil : String(decoding: quantisation, as: UTF8.self))
      return Entry(
        path: path, device: device, inode: inode, modifiedNanoseconds: Int64(bitPattern: modified),
        changedNanoseconds: Int64(bitPattern: changed), target: target, summary: summary)
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
      guard count <= end - position else { return nil }
      defer { position += count }
      return bytes[position..<position + count]
    }

    private mutating func number() -> UInt64? {
      guard let taken = take(8) else { return nil }
      var number: UInt64 = 0
      for index in taken.indices.reversed() { number = number << 8 | UInt64(bytes[index]) }
      return number
    }

    mutating func digest() -> SHA256Digest? {
      guard let taken = take(32) else { return nil }
      return try? SHA256Digest(bytes: bytes.span.extracting(taken.indices))
    }
  }
}
