import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import Testing

@Suite struct `A threshold counts distinct public keys with valid signatures` {
  static let (a, b, c) = (FixtureKey(10), FixtureKey(11), FixtureKey(12))

  /// A root whose own keys are `keys`, signed by `signers`.
  static func root(
    _ keys: [FixtureKey], threshold: Int64, signers: [FixtureKey]? = nil, edit: @escaping FixtureRepository.Edit = { _ in }
  ) -> [UInt8] {
    FixtureRepository { repository in
      repository.root.keys = keys
      repository.root.threshold = threshold
      repository.root.signers = signers
      repository.root.editFile = edit
    }.anchor
  }

  static func error(_ root: [UInt8]) -> VerificationError? {
    do {
      _ = try Trusted<Root>(selfSigned: root)
      return nil
    } catch {
      return error
    }
  }

  static func tooFew(_ signed: Int, of threshold: Int, keys: Int) -> VerificationError {
    .thresholdNotMet(role: "root", signed: signed, threshold: threshold, keyCount: keys, delegator: "root version 1")
  }

  @Test func `exactly as many signatures as the threshold are enough, and they are named`() throws {
    let root = try Trusted<Root>(selfSigned: Self.root([Self.a, Self.b, Self.c], threshold: 2, signers: [Self.c, Self.a]))
    #expect(root.signers == [Self.c.id, Self.a.id])
    #expect(root.keys.threshold == 2)
    #expect(Self.error(Self.root([Self.a, Self.b, Self.c], threshold: 2, signers: [Self.c])) == Self.tooFew(1, of: 2, keys: 3))
    #expect(Self.error(Self.root([Self.a], threshold: 1, signers: [])) == Self.tooFew(0, of: 1, keys: 1))
  }

  @Test func `one public key under two ids counts once`() {
    let twin = FixtureKey(10, note: "the same key again")
    #expect(Self.error(Self.root([Self.a, twin], threshold: 2)) == Self.tooFew(1, of: 2, keys: 2))
    #expect(Self.error(Self.root([Self.a, twin], threshold: 1)) == nil)
    #expect(Self.error(Self.root([Self.a, twin, Self.b], threshold: 2)) == nil)
  }

  @Test func `the second id of a key counts where its first has an invalid signature`() {
    let twin = FixtureKey(10, note: "the same key again")
    let root = Self.root([Self.a, twin], threshold: 1) { file in
      file["signatures"]?.elements[0]["sig"] = .text(String(repeating: "0", count: 128))
    }
    #expect(Self.error(root) == nil)
  }

  @Test func `a key id that stands twice makes the file invalid, even where the threshold is met`() {
    let root = Self.root([Self.a, Self.b], threshold: 1) { file in
      let first = file["signatures"]?.elements[0]
      file["signatures"]?.elements.append(first ?? .null)
    }
    let found = MetadataError.invalidValue(path: "signatures", expected: "each key id once", found: "key id \(Self.a.id) twice")
    #expect(Self.error(root) == .malformed(role: "root", found))
  }

  @Test(arguments: ["", "00", "zz", String(repeating: "0", count: 128), String(repeating: "f", count: 130)])
  func `a signature that is none beside a met threshold is no error and does not count`(text: String) {
    let edit: FixtureRepository.Edit = { file in file["signatures"]?.elements[0]["sig"] = .text(text) }
    #expect(Self.error(Self.root([Self.a, Self.b], threshold: 1, edit: edit)) == nil)
    #expect(Self.error(Self.root([Self.a, Self.b], threshold: 2, edit: edit)) == Self.tooFew(1, of: 2, keys: 2))
  }

  @Test func `a signature in upper case does not count`() {
    let root = Self.root([Self.a], threshold: 1) { file in
      guard case .string(let text) = file["signatures"]?.elements[0]["sig"] else { return }
      file["signatures"]?.elements[0]["sig"] = .text(text.description.uppercased())
    }
    #expect(Self.error(root) == Self.tooFew(0, of: 1, keys: 1))
  }

  @Test func `a key that is listed and not the role's does not count`() {
    // The timestamp's key is among the root's keys.
    #expect(Self.error(Self.root([Self.a], threshold: 1, signers: [FixtureKey(2)])) == Self.tooFew(0, of: 1, keys: 1))
    #expect(Self.error(Self.root([Self.a], threshold: 1, signers: [FixtureKey(2), Self.a])) == nil)
  }

  @Test func `a role's key that is not listed does not count`() {
    let root = FixtureRepository { repository in
      repository.root.keys = [Self.a]
      repository.root.editSigned = { $0["keys", ByteString(Self.a.id.description)] = nil }
    }.anchor
    #expect(Self.error(root) == Self.tooFew(0, of: 1, keys: 1))
  }

  @Test func `a signature of one key under the id of another does not count`() {
    let root = Self.root([Self.a, Self.b], threshold: 1, signers: [Self.b]) { file in
      file["signatures"]?.elements[0]["keyid"] = .text(Self.a.id.description)
    }
    #expect(Self.error(root) == Self.tooFew(0, of: 1, keys: 2))
  }

  @Test(arguments: ["keytype", "scheme"] as [ByteString]) func `a key of another type or scheme never counts`(member: ByteString) throws {
    var key = Self.a.tree
    key[member] = .text("other")
    let id = key.canonicalDigest
    let root = FixtureRepository { repository in
      repository.root.editSigned = { [key] in
        $0["keys", ByteString(id)] = key
        $0["roles", "root", "keyids"] = .array([.text(id)])
      }
      repository.root.signers = [Self.a]
      repository.root.editFile = { $0["signatures"]?.elements[0]["keyid"] = .text(id) }
    }.anchor
    #expect(Self.error(root) == Self.tooFew(0, of: 1, keys: 1))
  }

  @Test func `a root is accepted in which another role's threshold exceeds its keys, and that role never verifies`() throws {
    let repository = FixtureRepository { $0.timestamp.threshold = 2 }
    #expect(Self.error(repository.anchor) == nil)
    var device = Device(repository)
    #expect(
      device.refusal(repository)
        == .thresholdNotMet(role: "timestamp", signed: 1, threshold: 2, keyCount: 1, delegator: "root version 1"))
  }

  @Test func `a root whose own threshold exceeds its keys is not signed`() {
    #expect(Self.error(Self.root([Self.a], threshold: 2)) == Self.tooFew(1, of: 2, keys: 1))
  }

  @Test func `a signature over anything but the canonical bytes does not count`() throws {
    var signed = try JSONTree(JSONDocument(parsing: FixtureRepository().anchor).root)
    signed["signed", "expires"] = .text("2032-01-01T00:00:00Z")
    #expect(Self.error(signed.canonicalBytes) == Self.tooFew(0, of: 1, keys: 1))
  }

  @Test func `how the file is written does not matter, what is signed does`() throws {
    let file = String(decoding: FixtureRepository().anchor, as: UTF8.self)
    let spaced = file.replacing(",", with: " ,\n  ").replacing("{", with: "{\t").replacing("_type", with: "\\u005ftype")
    #expect(spaced != file)
    #expect(Self.error(Array(spaced.utf8)) == nil)
  }

  @Test func `a threshold that no number of the listed keys can meet is told as such`() {
    let error = VerificationError.thresholdNotMet(role: "targets", signed: 1, threshold: 5, keyCount: 1, delegator: "root version 1")
    #expect(error.description.contains("valid signatures of 5 keys, more than the 1 that root version 1 lists, found 1"))
  }
}
