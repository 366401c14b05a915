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

  /// The variant of a version that a device is given; nil where there is none for it.
  static func best(of version: ModelDescription.Version, on device: Device) -> ModelDescription.Variant? {
    let ranked = version.variants.enumerated().compactMap { index, variant in
      Audience(of: variant).rank(on: device).map { (rank: $0, index: index, variant: variant) }
    }
    return ranked.min { ($0.rank, $0.index) < ($1.rank, $1.index) }?.variant
  }

  private static func offer(_ variant: ModelDescription.Variant, of version: ModelDescription.Version) -> NothingForDevice.Offer {
    .init(
      version: version.name.description, variant: variant.name.description, platforms: variant.platforms,
      architectures: variant.architectures, runtimes: variant.minimumRuntime.map { "\($0.key) \($0.value)" }.sorted())
  }
}
