import Digests
import ManifestSigning
import TUFMetadata
import Testing

@Suite struct `Bins share all hashes out` {
  @Test(arguments: (1...14).map { 1 << $0 })
  func `each path falls into the one bin whose prefixes its hash begins with`(count: Int) throws {
    let bins = try #require(HashBins(count: count))
    let all = (0..<count).flatMap { number in bins.prefixes(number).map { ($0, number) } }
    let length = try #require(all.first).0.bytes.count
    // Every text of that many digits stands once, in ascending order.
    #expect(all.count == 1 << (4 * length) && all.allSatisfy { $0.0.bytes.count == length })
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.0.0 < $0.1.0 })
    let owners = Dictionary(uniqueKeysWithValues: all)
    for number in 0..<200 {
      let path = try TargetPath("org/model/1.0/\(number)")
      let digits = SHA256.hash(of: path.name.bytes).hexadecimal
      #expect(owners[ByteString(Array(digits.prefix(length)))] == bins.number(of: path))
    }
  }

  @Test(arguments: [-1, 0, 1, 3, 12, 1000, 1 << 15, Int.max])
  func `a number that is no power of two, or too great, is refused`(count: Int) { #expect(HashBins(count: count) == nil) }

  @Test func `a bin's name depends on its number alone`() throws {
    let (few, many) = (try #require(HashBins(count: 2)), try #require(HashBins(count: 4096)))
    #expect(few.name(1) == "bin-0001" && many.name(1) == "bin-0001" && many.name(4095) == "bin-0fff")
  }
}
