import Digests
import RepositoryFixtures
import TUFMetadata
import Testing

/// What the reader of a role says against what is signed.
func fault<Payload: ReadableRolePayload>(_: Payload.Type, in signed: JSONTree) -> MetadataError? {
  let file = FixtureRepository.file(signed, by: [FixtureKey(1)])
  do throws(MetadataError) {
    _ = try UnverifiedMetadata<Payload>(parsing: file)
    return nil
  } catch {
    return error
  }
}

/// What is signed in a file of a repository.
func signed(_ path: String, of repository: FixtureRepository = FixtureRepository()) throws -> JSONTree {
  try #require(JSONTree(JSONDocument(parsing: repository[path]).root)["signed"])
}

/// The root that lists some key objects.
func root(listing keys: [(id: String, key: JSONTree)]) throws -> JSONTree {
  var root = try signed("1.root.json")
  for (id, key) in keys { root["keys", ByteString(id)] = key }
  return root
}

func keyID(of key: JSONTree) -> String { SHA256.hash(of: key.canonicalBytes).description }

@Suite struct `A key id is computed and never believed` {
  static let other = JSONTree.object([
    "keytype": .text("rsa"), "scheme": .text("rsassa-pss-sha256"), "keyval": .object(["public": .text("-----BEGIN PUBLIC KEY-----")]),
  ])

  @Test func `a key under another id refuses the file`() throws {
    let key = FixtureKey(9)
    let declared = String(repeating: "0", count: 64)
    #expect(
      try fault(Root.self, in: root(listing: [(declared, key.tree)])) == .keyIDMismatch(declared: declared, computed: key.id.description))
  }

  @Test func `an id in upper case refuses the file`() throws {
    let key = FixtureKey(9)
    let declared = key.id.description.uppercased()
    #expect(
      try fault(Root.self, in: root(listing: [(declared, key.tree)])) == .keyIDMismatch(declared: declared, computed: key.id.description))
  }

  @Test func `unknown members of the key object count`() throws {
    let noted = FixtureKey(9, note: "spare")
    #expect(noted.id != FixtureKey(9).id)
    #expect(try fault(Root.self, in: root(listing: [(noted.id.description, noted.tree)])) == nil)
    let bare = FixtureKey(9).id.description
    #expect(try fault(Root.self, in: root(listing: [(bare, noted.tree)])) == .keyIDMismatch(declared: bare, computed: noted.id.description))
  }

  @Test func `the id of a key of our own is that of its object`() {
    #expect(Key(FixtureKey(9).publicKey).id == FixtureKey(9).id)
  }

  @Test func `a key of another type is kept, and its id is checked as well`() throws {
    let id = keyID(of: Self.other)
    let tree = try root(listing: [(id, Self.other)])
    let file = FixtureRepository.file(tree, by: [])
    let keys = try UnverifiedMetadata<Root>(parsing: file).payload.keys.values
    #expect(
      keys.contains { $0.kind == .unsupported(type: "rsa", scheme: "rsassa-pss-sha256") && $0.ed25519 == nil && $0.id.description == id })
    let wrong = String(repeating: "a", count: 64)
    #expect(try fault(Root.self, in: root(listing: [(wrong, Self.other)])) == .keyIDMismatch(declared: wrong, computed: id))
  }

  @Test func `a key of another scheme is kept and is no Ed25519 key`() throws {
    var key = FixtureKey(9).tree
    key["scheme"] = .text("ed25519ph")
    let file = FixtureRepository.file(try root(listing: [(keyID(of: key), key)]), by: [])
    let keys = try UnverifiedMetadata<Root>(parsing: file).payload.keys.values
    #expect(keys.contains { $0.kind == .unsupported(type: "ed25519", scheme: "ed25519ph") })
  }

  static let malformed: [(rule: String, member: ByteString, value: JSONTree?)] = [
    ("keytype is there", "keytype", nil), ("scheme is there", "scheme", nil), ("keyval is there", "keyval", nil),
    ("keytype is a string", "keytype", .integer(1)), ("scheme is a string", "scheme", .null), ("keyval is an object", "keyval", .text("x")),
    ("public is there", "keyval", .object([:])), ("public is a string", "keyval", .object(["public": .integer(1)])),
    ("63 digits are no key", "keyval", .object(["public": .text(String(repeating: "a", count: 63))])),
    ("65 digits are no key", "keyval", .object(["public": .text(String(repeating: "a", count: 65))])),
    ("upper case is no key", "keyval", .object(["public": .text(String(repeating: "A", count: 64))])),
    ("zz is no key", "keyval", .object(["public": .text(String(repeating: "z", count: 64))])),
  ]

  @Test(arguments: malformed) func `a malformed key refuses the file`(rule: String, member: ByteString, value: JSONTree?) throws {
    var key = FixtureKey(9).tree
    key[member] = value
    let error = try #require(try fault(Root.self, in: root(listing: [(keyID(of: key), key)])))
    switch error {
    case .missingMember(_, let path), .invalidValue(let path, _, _): #expect(path.hasPrefix("signed.keys.\(keyID(of: key))"))
    default: Issue.record("\(error)")
    }
  }
}

@Suite struct `A role has distinct key ids and a threshold of at least 1` {
  static let thresholds: [(rule: String, value: JSONTree)] = [
    ("0", .integer(0)), ("-1", .integer(-1)), ("true", .boolean(true)), ("text", .text("1")), ("null", .null),
    ("more than 32 bits", .integer(1 << 31)),
  ]

  @Test(arguments: thresholds) func `another threshold refuses the file`(rule: String, value: JSONTree) throws {
    var tree = try signed("1.root.json")
    tree["roles", "snapshot", "threshold"] = value
    guard case .invalidValue("signed.roles.snapshot.threshold", _, _) = fault(Root.self, in: tree) else {
      Issue.record("\(rule): \(String(describing: fault(Root.self, in: tree)))")
      return
    }
  }

  @Test func `a threshold above the number of keys does not refuse the root`() throws {
    var tree = try signed("1.root.json")
    tree["roles", "snapshot", "threshold"] = .integer(2)
    #expect(fault(Root.self, in: tree) == nil)
  }

  @Test func `a key id that stands twice in a role refuses the file`() throws {
    var tree = try signed("1.root.json")
    let id = JSONTree.text(FixtureKey(3).id.description)
    tree["roles", "snapshot", "keyids"] = .array([id, id])
    #expect(
      fault(Root.self, in: tree)
        == .invalidValue(path: "signed.roles.snapshot.keyids", expected: "each key id once", found: "a key id that stands twice"))
  }

  @Test func `a role may name a key that is not listed`() throws {
    var tree = try signed("1.root.json")
    tree["roles", "snapshot", "keyids"] = .array([.text(FixtureKey(77).id.description)])
    #expect(fault(Root.self, in: tree) == nil)
  }
}
