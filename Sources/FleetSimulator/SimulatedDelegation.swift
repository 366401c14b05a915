package import TUFMetadata

/// One delegation, as its delegator writes it.
package struct SimulatedDelegation: Sendable {
  package var name: ByteString
  package var keys: [SimulatedKey]
  package var threshold = 1
  package var isTerminating = false
  package var scope: DelegatedRole.Scope

  package init(_ name: ByteString, keys: [SimulatedKey], scope: DelegatedRole.Scope, isTerminating: Bool = false) {
    self.name = name
    self.keys = keys
    self.scope = scope
    self.isTerminating = isTerminating
  }

  package init(_ name: ByteString, keys: [SimulatedKey], paths: [String], isTerminating: Bool = false) {
    self.init(name, keys: keys, scope: .paths(paths.map { PathPattern(ByteString($0)) }), isTerminating: isTerminating)
  }

  var tree: JSONTree {
    var members: [ByteString: JSONTree] = [
      .name: .string(name), .terminating: .boolean(isTerminating),
      .keyids: .array(keys.map(\.idText)), .threshold: .integer(Int64(threshold)),
    ]
    switch scope {
    case .paths(let patterns): members[.paths] = .array(patterns.map { .string($0.text) })
    case .pathHashPrefixes(let prefixes): members[.pathHashPrefixes] = .array(prefixes.map { .string($0) })
    }
    return .object(members)
  }
}
