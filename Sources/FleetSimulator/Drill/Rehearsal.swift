internal import ManifestSigning
internal import ManifestVerifier
internal import TUFMetadata

/// What is published, told again with throw-away keys: the same chain of roots, and in it the same roles, thresholds, numbers of keys and
/// delegations. Every scenario begins from this value and changes its own copy.
struct Rehearsal: Sendable {
  /// The publisher who has just published.
  let publisher: SimulatedPublisher
  /// What was served when each root was the newest, the oldest first.
  private let ages: [Age]
  /// Devices of every age, as they are before anything happens.
  let devices: [DrillDevice]
  /// All roles that have keys of their own: the top-level ones, then the delegated ones, those with the same keys together.
  let roles: [RehearsedRole]
  /// The bins of the top-level targets. Their keys are those of targets, so that whoever exchanges, loses or steals those has theirs; nil for none.
  let bins: RehearsedRole?
  let now: UTCTime
  let lifetimes: [TopLevelRole: Int]
  let faults: Set<DrillFault>
  /// Where copies are laid out for a moment.
  let temporaryFolder: String
  /// The names of the keys by the ids of their stand-ins.
  private let names: [KeyID: String]

  /// A time at which a root was the newest.
  private struct Age: Sendable {
    let root: Version
    let time: UTCTime
    let files: [String: [UInt8]]
  }

  /// How many targets a role lists at most, and how many roles with the same keys there are: more would show nothing else.
  private static let listedCount = 20
  private static let sameRoleCount = 3
  /// The longest time between two roots of the past.
  private static let longestAge = 365

  init(
    _ material: DrillMaterial, seed: UInt64, now: UTCTime, faults: Set<DrillFault>, temporaryFolder: String
  ) throws(SimulationError) {
    var stand = StandIns(seed: seed, material: material)
    let delegation = try DelegatedStructure(material, &stand)
    let lifetimes = material.lifetimes
    let roots = material.chain.map(\.payload)
    guard let first = roots.first else { throw .refused(.unavailable(role: "root", urlPath: "1.root.json")) }
    let age = min(lifetimes[.root] ?? 1, Self.longestAge)
    func time(_ index: Int) -> UTCTime { now.adding(days: (index + 1 - roots.count) * age) }
    func configure(_ publisher: inout SimulatedPublisher, _ root: Root, _ time: UTCTime) throws(SimulationError) {
      for role in TopLevelRole.allCases {
        publisher[role].keys = try stand.keys(root[role].keyIDs, of: root.keys)
        publisher[role].threshold = root[role].threshold
      }
      Self.setExpiries(&publisher, lifetimes, time)
    }
    var publisher = try SimulatedPublisher(seed: seed, expires: now) { (publisher) throws(SimulationError) in
      try configure(&publisher, first, time(0))
      publisher.targets.targets = Self.listed(material.targets)
      publisher.targets.delegations = delegation.delegations["targets"] ?? []
      publisher.delegated = delegation.roles
      for name in publisher.delegated.keys { publisher.delegated[name]?.expires = time(0).adding(days: lifetimes[.targets] ?? 1) }
    }
    var ages = [Age(root: .first, time: time(0), files: publisher.files)]
    for (index, root) in roots.enumerated().dropFirst() {
      try publisher.rotate { (publisher) throws(SimulationError) in try configure(&publisher, root, time(index)) }
      try publisher.publishNext()
      ages.append(Age(root: root.version, time: time(index), files: publisher.files))
    }
    self.publisher = publisher
    self.ages = ages
    devices = try Self.devices(publisher, ages, now)
    self.now = now
    self.lifetimes = lifetimes
    self.faults = faults
    self.temporaryFolder = temporaryFolder
    roles = TopLevelRole.allCases.map(RehearsedRole.init) + delegation.groups
    bins = delegation.bins
    names = stand.names
  }

  /// What a person calls a key of the rehearsal.
  func name(of key: SimulatedKey) -> String { names[key.key.id] ?? key.name }

  /// Signs everything but root for as long as it lives from a time on.
  static func setExpiries(_ publisher: inout SimulatedPublisher, _ lifetimes: [TopLevelRole: Int], _ time: UTCTime) {
    for role in TopLevelRole.allCases { publisher[role].expires = time.adding(days: lifetimes[role] ?? 1) }
    for name in publisher.delegated.keys { publisher.delegated[name]?.expires = time.adding(days: lifetimes[.targets] ?? 1) }
  }

  /// New keys for a role, as many as it has.
  func newKeys(for role: RehearsedRole, _ purpose: String = "new") throws(SimulationError) -> [SimulatedKey] {
    var keys: [SimulatedKey] = []
    for index in publisher.keys(of: role).indices { keys.append(try publisher.key("\(purpose) \(role.words) \(index)")) }
    return keys
  }

  // MARK: Devices

  /// Devices of every age: shipped with the oldest root and the newest, each fresh, offline since then, and up to date.
  private static func devices(_ publisher: SimulatedPublisher, _ ages: [Age], _ now: UTCTime) throws(SimulationError) -> [DrillDevice] {
    var devices: [DrillDevice] = []
    for index in Set([0, ages.count - 1]).sorted() {
      let age = ages[index]
      let anchor = publisher.root(age.root)
      devices.append(DrillDevice("shipped root \(age.root), fresh", SimulatedDevice(anchor: anchor)))
      var device = SimulatedDevice(anchor: anchor)
      try device.refresh(from: [SimulatedMirror(publisher.files)], at: now)
      devices.append(DrillDevice("shipped root \(age.root), up to date", device))
      guard index < ages.count - 1 else { continue }
      device = SimulatedDevice(anchor: anchor)
      try device.refresh(from: [SimulatedMirror(age.files)], at: age.time)
      devices.append(DrillDevice("shipped root \(age.root), offline since", device))
    }
    return devices
  }

  /// What the devices of a row are called.
  func words(_ devices: [DrillDevice]) -> String {
    let versions = Set([0, ages.count - 1]).sorted().map { "\(ages[$0].root)" }
    let states = ages.count > 1 ? "fresh, up to date, offline for years" : "fresh, up to date"
    return "\(devices.count) devices: shipped root \(versions.joined(separator: " or ")); \(states)"
  }

  private static func listed(_ targets: Targets?) -> [TargetPath: TargetFile] {
    var listed: [TargetPath: TargetFile] = [:]
    guard let targets else { return listed }
    for (path, file) in targets.all.prefix(listedCount) { listed[path] = file }
    return listed
  }

  // MARK: Structure

  /// The throw-away key of each published one.
  private struct StandIns {
    let seed: UInt64
    let material: DrillMaterial
    private(set) var names: [KeyID: String] = [:]
    private var made: [KeyID: SimulatedKey] = [:]

    init(seed: UInt64, material: DrillMaterial) {
      self.seed = seed
      self.material = material
    }

    /// Keys that can't verify Ed25519 never count, and have no stand-in.
    mutating func keys(_ ids: [KeyID], of listed: [KeyID: Key]) throws(SimulationError) -> [SimulatedKey] {
      var keys: [SimulatedKey] = []
      for id in ids where listed[id]?.ed25519 != nil {
        let key: SimulatedKey
        if let known = made[id] { key = known } else { key = try SimulatedKey("in place of \(id)", seed: seed) }
        made[id] = key
        names[key.key.id] = material.name(of: id)
        keys.append(key)
      }
      return keys
    }
  }

  /// The delegated roles, those that nothing distinguishes cut down to a few.
  private struct DelegatedStructure {
    private(set) var delegations: [ByteString: [SimulatedDelegation]] = [:]
    private(set) var roles: [ByteString: SimulatedRole] = [:]
    private(set) var groups: [RehearsedRole] = []
    private(set) var bins: RehearsedRole?

    init(_ material: DrillMaterial, _ stand: inout StandIns) throws(SimulationError) {
      var waiting: [(ByteString, Targets)] = material.targets.map { [(TopLevelRole.targets.name, $0)] } ?? []
      var seen: Set<ByteString> = []
      while let (delegator, targets) = waiting.popLast() {
        guard let listed = targets.delegations, seen.insert(delegator).inserted else { continue }
        var alike: [RoleKeys: [ByteString]] = [:]
        var order: [RoleKeys] = []
        var ownBins: [ByteString] = []
        let ownKeys = delegator == TopLevelRole.targets.name ? material.chain.last?.payload[.targets] : nil
        for role in listed.roles {
          let isOwnBin = role.keys == ownKeys && role.scope.sharesOutByHashes
          let same = isOwnBin ? ownBins.count : alike[role.keys]?.count ?? 0
          guard same < sameRoleCount else { continue }
          if isOwnBin {
            ownBins.append(role.name)
          } else {
            if same == 0 { order.append(role.keys) }
            alike[role.keys, default: []].append(role.name)
          }
          var delegation = SimulatedDelegation(
            role.name, keys: try stand.keys(role.keys.keyIDs, of: listed.keys), scope: role.scope, isTerminating: role.isTerminating)
          delegation.threshold = role.keys.threshold
          delegations[delegator, default: []].append(delegation)
          let isNew = roles[role.name] == nil
          let signers = (roles[role.name]?.keys ?? []).merging(delegation.keys)
          var state = roles[role.name] ?? SimulatedRole(keys: signers, expires: targets.expires)
          state.keys = signers
          let published = material.delegated[role.name]
          state.targets = Rehearsal.listed(published)
          roles[role.name] = state
          if isNew, let published { waiting.append((role.name, published)) }
        }
        groups += order.map { RehearsedRole(delegated: alike[$0] ?? []) }
        if !ownBins.isEmpty { bins = RehearsedRole(delegated: ownBins) }
      }
      for (name, list) in delegations where name != TopLevelRole.targets.name { roles[name]?.delegations = list }
    }
  }
}

extension [SimulatedKey] {
  /// These keys and those of another list that are not among them.
  func merging(_ others: [SimulatedKey]) -> [SimulatedKey] {
    self + others.filter { other in !contains { $0.key.id == other.key.id } }
  }
}
