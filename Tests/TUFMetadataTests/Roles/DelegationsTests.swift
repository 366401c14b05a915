import RepositoryFixtures
import TUFMetadata
import Testing

@Suite struct `A delegation names a role, its keys and either paths or hash prefixes` {
  static func role(_ edit: (inout JSONTree) -> Void = { _ in }) -> JSONTree {
    var role: JSONTree = .object([
      "name": .text("team"), "keyids": .array([.text(FixtureKey(9).id.description)]), "threshold": .integer(1),
      "terminating": .boolean(false),
      "paths": .array([.text("team/*")]),
    ])
    edit(&role)
    return role
  }

  static func targets(_ roles: [JSONTree]) throws -> JSONTree {
    var tree = try signed("1.targets.json")
    tree["delegations"] = .object(["keys": .object([ByteString(FixtureKey(9).id.description): FixtureKey(9).tree]), "roles": .array(roles)])
    return tree
  }

  @Test func `a delegation is read`() throws {
    let tree = try Self.targets([
      Self.role(),
      Self.role {
        $0["name"] = .text("Root")
        $0["terminating"] = .boolean(true)
      },
    ])
    let delegations = try #require(try UnverifiedMetadata<Targets>(parsing: FixtureRepository.file(tree, by: [])).payload.delegations)
    #expect(delegations.roles.map(\.name) == ["team", "Root"])
    #expect(delegations.roles.map(\.isTerminating) == [false, true])
    #expect(delegations.roles[0].scope == .paths([PathPattern("team/*")]))
    #expect(
      delegations.roles[0].keys.keyIDs == [FixtureKey(9).id] && delegations.keys[FixtureKey(9).id]?.ed25519 == FixtureKey(9).publicKey)
  }

  @Test func `a delegation by hash prefixes is read`() throws {
    let prefixes = ["", "0", "ab", String(repeating: "f", count: 64)]
    let tree = try Self.targets([
      Self.role {
        $0["paths"] = nil
        $0["path_hash_prefixes"] = .array(prefixes.map { .text($0) })
      }
    ])
    let delegations = try #require(try UnverifiedMetadata<Targets>(parsing: FixtureRepository.file(tree, by: [])).payload.delegations)
    #expect(delegations.roles.map(\.scope) == [.pathHashPrefixes(prefixes.map { ByteString($0) })])
  }

  static let bad: [(rule: String, edit: @Sendable (inout JSONTree) -> Void)] = [
    ("not named root", { $0["name"] = .text("root") }), ("not named timestamp", { $0["name"] = .text("timestamp") }),
    ("not named snapshot", { $0["name"] = .text("snapshot") }), ("not named targets", { $0["name"] = .text("targets") }),
    ("not without a name", { $0["name"] = .text("") }), ("name is there", { $0["name"] = nil }),
    ("name is a string", { $0["name"] = .integer(1) }),
    ("not both paths and prefixes", { $0["path_hash_prefixes"] = .array([]) }), ("not neither paths nor prefixes", { $0["paths"] = nil }),
    ("paths is an array", { $0["paths"] = .text("*") }), ("a path is a string", { $0["paths"] = .array([.integer(1)]) }),
    ("terminating is there", { $0["terminating"] = nil }), ("terminating is a boolean", { $0["terminating"] = .integer(1) }),
    ("threshold is at least 1", { $0["threshold"] = .integer(0) }), ("keyids is there", { $0["keyids"] = nil }),
    ("each key id once", { $0["keyids"] = .array([.text(FixtureKey(9).id.description), .text(FixtureKey(9).id.description)]) }),
    (
      "a prefix has digits",
      {
        $0["paths"] = nil
        $0["path_hash_prefixes"] = .array([.text("xy")])
      }
    ),
    (
      "a prefix is in lower case",
      {
        $0["paths"] = nil
        $0["path_hash_prefixes"] = .array([.text("AB")])
      }
    ),
    (
      "a prefix has at most 64 digits",
      {
        $0["paths"] = nil
        $0["path_hash_prefixes"] = .array([.text(String(repeating: "a", count: 65))])
      }
    ),
  ]

  @Test(arguments: bad) func `a delegation that breaks a rule refuses the file`(rule: String, edit: @Sendable (inout JSONTree) -> Void)
    throws
  {
    let error = try #require(try fault(Targets.self, in: Self.targets([Self.role(edit)])))
    switch error {
    case .missingMember(_, let path), .invalidValue(let path, _, _): #expect(path.hasPrefix("signed.delegations.roles[0]"))
    default: Issue.record("\(error)")
    }
  }

  @Test func `a role that is delegated to twice refuses the file`() throws {
    #expect(
      try fault(Targets.self, in: Self.targets([Self.role(), Self.role()]))
        == .invalidValue(path: "signed.delegations.roles", expected: "each role once", found: "\"team\" twice"))
  }

  @Test func `the keys of delegations have computed ids too`() throws {
    var tree = try Self.targets([Self.role()])
    let wrong = String(repeating: "0", count: 64)
    tree["delegations", "keys"] = .object([ByteString(wrong): FixtureKey(9).tree])
    #expect(fault(Targets.self, in: tree) == .keyIDMismatch(declared: wrong, computed: FixtureKey(9).id.description))
  }
}
