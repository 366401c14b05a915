internal import ModelCatalog
internal import TUFMetadata

/// The devices that a variant is for.
package struct Audience: Equatable, Sendable {
  /// Operating systems; empty for any.
  let platforms: [String]
  /// Processor architectures; empty for any.
  let architectures: [String]
  /// Programs that load the files, with the lowest version of each that can; empty where nobody said.
  let minimumRuntime: [ByteString: String]

  /// - Returns: 0 for the best; nil where the device can't use the variant.
  func rank(on device: Device) -> Int? {
    guard Self.fits(platforms, device.platform), Self.fits(architectures, device.architecture), isLoadable(by: device) else { return nil }
    return (architectures.isEmpty ? 2 : 0) + (platforms.isEmpty ? 1 : 0)
  }

  package func includes(_ device: Device) -> Bool { rank(on: device) != nil }

  private static func fits(_ names: [String], _ own: String) -> Bool { names.isEmpty || names.contains { Device.common($0) == own } }

  private func isLoadable(by device: Device) -> Bool {
    guard !minimumRuntime.isEmpty, !device.runtimes.isEmpty else { return true }
    return minimumRuntime.contains { name, least in
      device.runtimes.contains { own, version in
        own.lowercased() == name.description.lowercased() && VersionOrder.order(Array(version.utf8), Array(least.utf8)) >= 0
      }
    }
  }
}

extension Audience {
  init(of variant: ModelDescription.Variant) {
    self.init(platforms: variant.platforms, architectures: variant.architectures, minimumRuntime: variant.minimumRuntime)
  }
}

extension ModelDescription {
  /// - Returns: nil where it does not have the variant.
  func audience(of key: StoreKey) -> Audience? {
    versions.first { $0.name == key.version }?.variants.first { $0.name == key.variant }.map { Audience(of: $0) }
  }
}

// MARK: In a record

extension Audience {
  /// What it takes in a record, about.
  var byteCount: Int { tree.canonicalBytes.count }

  var tree: JSONTree {
    .object([
      .platforms: .array(platforms.map { .string(ByteString($0)) }),
      .architectures: .array(architectures.map { .string(ByteString($0)) }),
      .minimumRuntime: .object(minimumRuntime.mapValues { .string(ByteString($0)) }),
    ])
  }

  init(_ json: JSONValue) throws(MetadataError) {
    let texts = { (name: ByteString) throws(MetadataError) in
      try json.read(name) { value throws(MetadataError) in
        try value.requireElements { value throws(MetadataError) in try value.requireString().description }
      }
    }
    platforms = try texts(.platforms)
    architectures = try texts(.architectures)
    minimumRuntime = try json.read(.minimumRuntime) { value throws(MetadataError) in
      try value.requireObject()
      var runtimes: [ByteString: String] = [:]
      for (name, version) in value.members { runtimes[name] = try version.requireString().description }
      return runtimes
    }
  }
}
