internal import ManifestSigning
internal import TUFMetadata

/// Roles as people read them: thousands of bins of which the same is to be said are one thing.
enum RoleGroups {
  /// Puts bins of which the same is to be said together, where the first of them stands; every other role stays by itself.
  static func of<Item>(_ items: [Item], role: (Item) -> MetadataRole, said: (Item) -> String = { _ in "" }) -> [[Item]] {
    var groups: [[Item]] = []
    var places: [String: Int] = [:]
    for item in items {
      guard case .delegated(let name) = role(item), HashBins.isBin(name) else {
        groups.append([item])
        continue
      }
      if let place = places[said(item)] {
        groups[place].append(item)
      } else {
        places[said(item)] = groups.count
        groups.append([item])
      }
    }
    return groups
  }

  /// What a group is called: `targets`, `bin-0003`, `16 bins, bin-0000 to bin-000f`.
  static func name(_ group: [MetadataRole]) -> String {
    guard let first = group.first, let last = group.last, group.count > 1 else { return "\(group.first?.name ?? "")" }
    return "\(group.count) bins (\(first.name) to \(last.name))"
  }

  /// All of them in a sentence.
  static func list(_ roles: [MetadataRole]) -> String { of(roles) { $0 }.map(name).joined(separator: ", ") }
}
