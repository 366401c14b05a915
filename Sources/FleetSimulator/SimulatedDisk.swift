/// A disk in memory that forgets what was not synced when the power is cut.
///
/// Every change is made as `TrustStore` makes it: a temporary file is written and synced, renamed over the old one, and the folder is synced.
/// The power may be cut before each of these points.
package struct SimulatedDisk: Equatable, Sendable {
  /// What a running process sees.
  package private(set) var files: [String: [UInt8]] = [:]
  /// What is left when the power is cut and nothing else had reached the disk by itself.
  package private(set) var durable: [String: [UInt8]] = [:]
  /// The changes that were made, in order, such as `replace root.json`.
  package private(set) var log: [String] = []
  /// How many points were passed since the last start.
  package private(set) var pointCount = 0
  /// The point before which the power is cut; nil for never.
  package var powerCutPoint: Int?

  package init() {}

  package subscript(_ name: String) -> [UInt8]? { files[name] }

  package mutating func replace(_ name: String, with bytes: [UInt8]) throws(SimulationError) {
    // Nobody reads the temporary file: until it is renamed there is nothing to see and nothing to lose.
    try pass(3)
    files[name] = bytes
    try pass(1)
    durable[name] = bytes
    log.append("replace \(name)")
  }

  /// Removes a file; nothing happens where there is none.
  package mutating func remove(_ name: String) throws(SimulationError) {
    guard files[name] != nil else { return }
    try pass(1)
    files[name] = nil
    try pass(1)
    durable[name] = nil
    log.append("remove \(name)")
  }

  /// Starts again after the power was cut.
  /// - Parameter keepsUnsynced: whether what was not synced had reached the disk all the same, as it may.
  package mutating func restart(keepsUnsynced: Bool) {
    if keepsUnsynced { durable = files } else { files = durable }
    (pointCount, powerCutPoint, log) = (0, nil, [])
  }

  private mutating func pass(_ points: Int) throws(SimulationError) {
    for _ in 0..<points {
      guard pointCount != powerCutPoint else { throw .powerCut }
      pointCount += 1
    }
  }
}
