internal import Digests
package import TUFMetadata

/// Somebody who controls mirrors or the network, has kept everything that was ever published, and may hold some of the keys.
package struct SimulatedAttacker: Sendable {
  /// What was served at each time that the attacker looked, the oldest first.
  package private(set) var recordings: [[String: [UInt8]]] = []
  /// The stolen keys.
  package var keys: [SimulatedKey] = []

  package init() {}

  /// Keeps what is served now.
  package mutating func record(_ publisher: SimulatedPublisher) { recordings.append(publisher.files) }

  /// A mirror that stays at an earlier time: an indefinite freeze, or for a device that is further a rollback.
  package func freeze(_ recording: Int) -> SimulatedMirror { SimulatedMirror(recordings[recording]) }

  /// A mirror whose given files are of another time than the rest.
  package func mix(_ paths: [String], of recording: Int, into other: Int) -> SimulatedMirror {
    var mirror = freeze(other)
    for path in paths { mirror.files[path] = recordings[recording][path] }
    return mirror
  }

  /// A mirror that holds the roots from a version on back, so that rotations go unnoticed.
  package func dropRoots(from version: Int64, of recording: Int) -> SimulatedMirror {
    var mirror = freeze(recording)
    for path in mirror.files.keys {
      let parts = path.split(separator: ".")
      if parts.count == 3, parts[1] == "root", let number = Int64(parts[0]), number >= version { mirror.files[path] = nil }
    }
    return mirror
  }

  /// A mirror that sends bytes without end in place of a file.
  package func endlessData(_ path: String, of recording: Int) -> SimulatedMirror {
    var mirror = freeze(recording)
    mirror.answers[path] = .endless
    return mirror
  }

  /// A mirror that changes one bit of a file.
  package func damage(_ path: String, atByte index: Int, of recording: Int) -> SimulatedMirror {
    var mirror = freeze(recording)
    if let bytes = mirror.files[path], bytes.indices.contains(index) { mirror.files[path]?[index] = bytes[index] ^ 1 }
    return mirror
  }

  /// What the publisher's next files would be if they were signed with the stolen keys alone, in place of each role's own.
  package func forge(
    _ publisher: SimulatedPublisher, _ change: (inout SimulatedPublisher) throws(SimulationError) -> Void
  ) throws(SimulationError) -> SimulatedMirror {
    var forger = publisher
    try change(&forger)
    let (timestamp, snapshot, targets) = (forger.timestamp, forger.snapshot, forger.targets)
    forger.timestamp.signers = stolen(timestamp.keys)
    forger.snapshot.signers = stolen(snapshot.keys)
    forger.targets.signers = stolen(targets.keys)
    for (name, role) in forger.delegated { forger.delegated[name]?.signers = stolen(role.keys) }
    try forger.publish()
    return SimulatedMirror(forger.files)
  }

  /// The same with version numbers that no honest file will ever pass.
  package func fastForward(_ publisher: SimulatedPublisher, to version: Version) throws(SimulationError) -> SimulatedMirror {
    try forge(publisher) {
      $0.timestamp.version = version
      $0.snapshot.version = version
      $0.targets.version = version
    }
  }

  private func stolen(_ keys: [SimulatedKey]) -> [SimulatedKey] {
    keys.filter { key in self.keys.contains { $0.key.id == key.key.id } }
  }
}
