internal import ModelCatalog
internal import TUFMetadata

/// Which variant of which version a request comes to, on one device.
enum VariantChoice: Equatable {
  /// `passedOver` are the newer versions that have nothing for the device.
  case chosen(ModelDescription.Version, ModelDescription.Variant, passedOver: [ModelDescription.Version])
  case nothing(NothingForDevice)

  /// Chooses: the version that was asked for, else the newest that is not withdrawn and has something for the device; the variant that was
  /// asked for, as named and of the newest version, else the first of those for the device's architecture, else the first of the platform's
  /// general ones.
  /// - Throws: `unknownVersion`, `unknownVariant`, `withdrawn`, `allWithdrawn`.
  init(_ request: ModelRequest, from description: ModelDescription, for device: Device) throws(InstallationError) {
    let model = request.model.description
    let usable = description.versions.filter { $0.withdrawal == nil }
    var candidates = usable
    if let name = request.version {
      guard let named = description.versions.first(where: { $0.name == name }) else {
        throw .model(
          .unknownVersion(model: model, version: name.description, known: description.versions.map(\.name.description)))
      }
      if let withdrawal = named.withdrawal {
        throw .model(.withdrawn(model: model, version: name.description, reason: withdrawal.reason))
      }
      candidates = [named]
    }
    guard let newest = candidates.first else { throw .model(.allWithdrawn(model: model)) }
    if let name = request.variant {
      guard let variant = newest.variants.first(where: { $0.name == name }) else {
        throw .model(
          .unknownVariant(
            model: model, version: newest.name.description, variant: name.description, known: newest.variants.map(\.name.description)))
      }
      self = .chosen(newest, variant, passedOver: [])
      return
    }
    for (index, version) in candidates.enumerated() {
      guard let best = Self.best(of: version, on: device) else { continue }
      self = .chosen(version, best, passedOver: Array(candidates[..<index]))
      return
    }
    let offers = candidates.flatMap { version in version.variants.map { Self.offer($0, of: version) } }
    let fitting = usable.filter { Self.best(of: $0, on: device) != nil }.map(\.name.description)
    self = .nothing(NothingForDevice(model: model, device: device, offers: offers, fittingVersions: fitting))
  }

  /// Whether a device could have been given a version's variant. Variants of one name may be for other devices in each version.
  /// - Returns: nil where the description does not have it.
  static func suits(_ key: StoreKey, in description: ModelDescription?, _ device: Device) -> Bool? {
    let version = description?.versions.first { $0.name == key.version }
    return version?.variants.first { $0.name == key.variant }.map { rank($0, on: device) != nil }
  }

  /// The variant of a version that a device is given; nil where there is none for it.
  static func best(of version: ModelDescription.Version, on device: Device) -> ModelDescription.Variant? {
    let ranked = version.variants.enumerated().compactMap { index, variant in
      rank(variant, on: device).map { (rank: $0, index: index, variant: variant) }
    }
    return ranked.min { ($0.rank, $0.index) < ($1.rank, $1.index) }?.variant
  }

  /// - Returns: 0 for the best; nil where the device can't use the variant.
  private static func rank(_ variant: ModelDescription.Variant, on device: Device) -> Int? {
    guard fits(variant.platforms, device.platform), fits(variant.architectures, device.architecture), isLoadable(variant, by: device) else {
      return nil
    }
    return (variant.architectures.isEmpty ? 2 : 0) + (variant.platforms.isEmpty ? 1 : 0)
  }

  private static func fits(_ names: [String], _ own: String) -> Bool { names.isEmpty || names.contains { Device.common($0) == own } }

  private static func isLoadable(_ variant: ModelDescription.Variant, by device: Device) -> Bool {
    guard !variant.minimumRuntime.isEmpty, !device.runtimes.isEmpty else { return true }
    return variant.minimumRuntime.contains { name, least in
      device.runtimes.contains { own, version in
        own.lowercased() == name.description.lowercased() && VersionOrder.order(Array(version.utf8), Array(least.utf8)) >= 0
      }
    }
  }

  private static func offer(_ variant: ModelDescription.Variant, of version: ModelDescription.Version) -> NothingForDevice.Offer {
    .init(
      version: version.name.description, variant: variant.name.description, platforms: variant.platforms,
      architectures: variant.architectures, runtimes: variant.minimumRuntime.map { "\($0.key) \($0.value)" }.sorted())
  }
}
