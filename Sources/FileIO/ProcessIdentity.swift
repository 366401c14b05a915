/// One running process, told apart from a later one of the same number, and from one elsewhere that has it.
package struct ProcessIdentity: Equatable, Sendable {
  package let number: Int32
  /// When it started, in the system's own words; empty where the system does not tell.
  package let start: String
  /// Where its number means something: one run of one machine, and there one namespace of process numbers, of a container say. Empty where the
  /// system does not tell.
  package let place: String

  package static var current: ProcessIdentity {
    let number = SystemCalls.processID
    let place = currentPlace(number)
    return ProcessIdentity(number: number, start: place == nil ? "" : start(of: number), place: place ?? "")
  }

  package init(number: Int32, start: String, place: String) {
    self.number = number
    self.start = start
    self.place = place
  }

  /// Whether it runs; nil where that can't be seen from here, because it is, or may be, on another machine or in another container.
  package var isRunning: Bool? {
    let own = Self.current
    #if !canImport(Darwin)
      // There, a system that tells nothing is one without containers.
      guard !own.place.isEmpty else { return nil }
    #endif
    guard place == own.place else { return nil }
    guard number > 0, SystemCalls.isRunning(number) else { return false }
    let now = Self.start(of: number)
    return start.isEmpty || now.isEmpty || now == start
  }

  /// - Returns: nil where `/proc` is missing, or counts processes in another way than the system does for this one.
  private static func currentPlace(_ number: Int32) -> String? {
    guard let own = try? readFile("/proc/self/stat", limit: 4096), own.starts(with: "\(number) ".utf8),
      let namespace = try? FileSystem.status(of: "/proc/self/ns/pid", followingLinks: true),
      let boot = try? readFile("/proc/sys/kernel/random/boot_id", limit: 64), boot.count >= 36
    else { return nil }
    return "\(String(decoding: boot.prefix(36), as: UTF8.self))/\(namespace.inode)"
  }

  /// Field 22 of /proc/PID/stat, in ticks since the machine started.
  private static func start(of number: Int32) -> String {
    guard let bytes = try? readFile("/proc/\(number)/stat", limit: 4096) else { return "" }
    // The second field is the program's name in parentheses, which may hold anything.
    let nameEnd = bytes.lastIndex(of: UInt8(ascii: ")")) ?? bytes.startIndex
    let fields = bytes[nameEnd...].split(separator: UInt8(ascii: " "))
    return fields.count > 20 ? String(decoding: fields[20], as: UTF8.self) : ""
  }
}

/// Waits, without burning anything.
package enum Pause {
  package static func milliseconds(_ count: UInt32) { SystemCalls.sleep(milliseconds: count) }
}
