internal import ManifestSigning
internal import ManifestVerifier
internal import TUFMetadata

/// What the published files say of one another, without a device.
struct PublishedChecks {
  let material: DrillMaterial
  let now: UTCTime
  /// For how many days everything has to last; nil for as long as each role's renewal window leaves.
  let days: Int?

  var findings: [DrillFinding] { [rootChain, keyIDs, keyMembers] + cascade + renewal + [catalog] }

  // MARK: Roots

  private var rootChain: DrillFinding {
    var faults: [String] = []
    var expected: Version? = .first
    for file in material.roots {
      while let version = expected, version < file.version {
        faults.append("\(version).root.json is missing")
        expected = version.next
        // Of a long gap the first ones say enough.
        if faults.count > 5 { expected = file.version }
      }
      expected = file.version.next
    }
    if faults.isEmpty, let fault = brokenLink { faults.append(fault) }
    return DrillFinding(
      .rootChain, role: "root", device: DrillFinding.noDevice,
      expected: "every version from 1 on, each signed by the one before and by itself",
      good: "\(Words.count(material.roots.count, "root")), each follows the one before", faults: faults)
  }

  /// Where a root does not follow the one before. A wrong key id is told elsewhere.
  private var brokenLink: String? {
    guard material.chain.count < material.roots.count else { return nil }
    let broken = material.roots[material.chain.count]
    do throws(VerificationError) {
      if let last = material.chain.last { _ = try last.successor(broken.bytes) } else { _ = try Trusted<Root>(selfSigned: broken.bytes) }
      return nil
    } catch {
      if case .malformed(_, let cause) = error, cause.isKeyIDMismatch { return nil }
      return "\(broken.version).root.json: \(error)"
    }
  }

  // MARK: Keys

  /// One key object as a file lists it.
  private struct ListedKey {
    let file: String
    let id: ByteString
    let value: JSONValue
  }

  private var listedKeys: [ListedKey] {
    var listed: [ListedKey] = []
    func collect(_ file: String, _ container: (JSONValue) -> JSONValue?) {
      guard let bytes = material.files[file], let document = try? JSONDocument(parsing: bytes),
        let keys = document.root["signed"].flatMap(container)?["keys"]
      else { return }
      for (id, value) in keys.members { listed.append(ListedKey(file: file, id: id, value: value)) }
    }
    for root in material.roots { collect("\(root.version).root.json") { $0 } }
    let others = material.files.keys.filter { !$0.hasSuffix(".root.json") }.sorted()
    for file in others { collect(file) { $0["delegations"] } }
    return listed
  }

  private var keyIDs: DrillFinding {
    var faults: [String] = []
    let listed = listedKeys
    for key in listed {
      guard let computed = try? Key(key.value) else { continue }
      if key.id != ByteString(computed.id.description) { faults.append("\(key.file) lists the key \(computed.id) as \(key.id)") }
    }
    return DrillFinding(
      .keyIDs, role: "root", device: DrillFinding.noDevice, expected: "each the SHA-256 of its key, as every client computes it",
      good: "\(Words.count(listed.count, "key id")) computed anew", faults: faults)
  }

  private var keyMembers: DrillFinding {
    var faults: [String] = []
    var first: [ByteString: (file: String, shape: String)] = [:]
    for key in listedKeys {
      guard let publicHalf = key.value["keyval"]?["public"]?.string else { continue }
      let shape = Self.shape(of: key.value)
      if let known = first[publicHalf], known.shape != shape {
        faults.append("\(key.file) describes a key as \(shape), \(known.file) as \(known.shape)")
      } else {
        first[publicHalf] = (key.file, shape)
      }
    }
    return DrillFinding(
      .keyMembers, role: "root", device: DrillFinding.noDevice,
      expected: "one key has the same type, scheme and members wherever it is listed",
      good: "\(Words.count(first.count, "key")), each described in one way", faults: faults)
  }

  private static func shape(of key: JSONValue) -> String {
    let text = { (name: ByteString) in key.member(name)?.string?.description ?? "none" }
    let names = key.members.map(\.name.description) + (key["keyval"]?.members.map { "keyval.\($0.name)" } ?? [])
    return "\(text(.keytype))/\(text(.scheme)) with \(names.joined(separator: ", "))"
  }

  // MARK: Models

  private var catalog: DrillFinding {
    let delegated = material.delegated
    var lost: [TargetPath] = []
    if let bytes = material.catalog, let targets = material.targets { lost = Catalog.lostModels(bytes, targets) { delegated[$0] } }
    return DrillFinding(
      .catalog, role: "targets", device: DrillFinding.noDevice, expected: "devices find every model that the list of models names",
      good: material.catalog == nil ? "there is no list here" : "all are found",
      faults: lost.map { "no role that devices come to lists \($0): publish the models again" })
  }

  // MARK: Versions and expiries

  private var cascade: [DrillFinding] {
    func finding(_ namer: String, _ named: [(file: String, version: Version)]) -> DrillFinding {
      let faults = named.compactMap { file, version in
        material.newestVersion(of: file).flatMap { newest in
          newest > version ? "it names version \(version) of \(file), and \(newest).\(file) lies beside it: publish again" : nil
        }
      }
      return DrillFinding(
        .cascade, role: namer, device: DrillFinding.noDevice, expected: "it names the newest version of each file",
        good: "\(Words.count(named.count, "file")), the newest of each", faults: faults)
    }
    var findings: [DrillFinding] = []
    if let timestamp = material.timestamp {
      findings.append(finding("timestamp", [(TopLevelRole.snapshot.fileName, timestamp.snapshot.version)]))
    }
    if let snapshot = material.snapshot {
      let named = snapshot.files.sorted { $0.key < $1.key }.map { name, file in
        (
          name == .targetsFile ? TopLevelRole.targets.fileName : MetadataRole.delegated(ByteString(Array(name.bytes.dropLast(5)))).fileName,
          file.version
        )
      }
      findings.append(finding("snapshot", named))
    }
    return findings
  }

  private var renewal: [DrillFinding] {
    var roles: [(String, TopLevelRole, UTCTime)] = []
    // Of the newest that lies there, whatever else is wrong with it: that is told elsewhere.
    let text = material.roots.last.flatMap { try? JSONDocument(parsing: $0.bytes).root["signed"]?.member(.expires)?.string }
    if let expires = text.flatMap({ try? UTCTime(text: $0.bytes.span) }) ?? material.chain.last?.payload.expires {
      roles.append(("root", .root, expires))
    }
    if let timestamp = material.timestamp { roles.append(("timestamp", .timestamp, timestamp.expires)) }
    if let snapshot = material.snapshot { roles.append(("snapshot", .snapshot, snapshot.expires)) }
    if let targets = material.targets { roles.append(("targets", .targets, targets.expires)) }
    for (name, role) in material.delegated.sorted(by: { $0.key < $1.key }) { roles.append((name.description, .targets, role.expires)) }
    return roles.map { name, role, expires in
      let window = Int64(material.lifetimes[role] ?? 1) * 86_400 / 3
      let horizon = days.map { Int64($0) * 86_400 } ?? window / 2
      let left = expires.secondsSince1970 - now.secondsSince1970
      let isGood = left > horizon
      let state = left <= 0 ? "it expired on \(expires)" : "it expires on \(expires), in \(Words.duration(left))"
      return DrillFinding(
        .renewal, role: name, device: DrillFinding.noDevice, expected: "still valid in \(Words.duration(horizon))",
        good: state, faults: isGood ? [] : [state + ": renew it now"],
        outage: .none)
    }
  }
}

extension MetadataError {
  fileprivate var isKeyIDMismatch: Bool {
    if case .keyIDMismatch = self { true } else { false }
  }
}
