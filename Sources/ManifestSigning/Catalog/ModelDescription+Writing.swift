package import ModelCatalog
internal import TUFMetadata

extension ModelDescription {
  /// The file that stands for it: the same bytes for the same description.
  package var bytes: [UInt8] { PrettyJSON.bytes(tree, order: .descriptionMembers) }

  var tree: JSONTree {
    var members = additional
    members[.schema] = .string(Self.schema)
    members[.title] = .string(ByteString(title))
    members[.licence] = .string(ByteString(licence))
    members[.versions] = .array(versions.map(\.tree))
    return .object(members)
  }
}

extension ModelDescription.Version {
  var tree: JSONTree {
    var members = additional
    members[.version] = .string(name)
    members[.withdrawn] = withdrawal?.tree
    members[.variants] = .array(variants.map(\.tree))
    return .object(members)
  }
}

extension ModelDescription.Variant {
  fileprivate var tree: JSONTree {
    var members = additional
    members[.name] = .string(name)
    if !platforms.isEmpty { members[.platforms] = .texts(platforms) }
    if !architectures.isEmpty { members[.architectures] = .texts(architectures) }
    if !minimumRuntime.isEmpty { members[.minimumRuntime] = .object(minimumRuntime.mapValues { .string(ByteString($0)) }) }
    members[.quantisation] = quantisation.map { .string(ByteString($0)) }
    members[.format] = format.map { .string(ByteString($0)) }
    members[.files] = .array(files.map(\.tree))
    return .object(members)
  }
}

extension ModelDescription.File {
  fileprivate var tree: JSONTree {
    var members = additional
    members[.path] = .string(path.name)
    if !sources.isEmpty { members[.sources] = .array(sources.map { .string($0.text) }) }
    return .object(members)
  }
}

extension ModelDescription.Withdrawal {
  fileprivate var tree: JSONTree {
    var members = additional
    members[.reason] = .string(ByteString(reason))
    return .object(members)
  }
}

extension JSONTree {
  fileprivate static func texts(_ texts: [String]) -> JSONTree { .array(texts.map { .string(ByteString($0)) }) }
}
