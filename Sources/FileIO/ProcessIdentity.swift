/// One running process, told apart from a later one of the same number.
package struct ProcessIdentity: Equatable, Sendable {
  package let number: Int32
  /// When it started, in the system's own words; empty where the system does not tell.
  package let start: String

  package static var current: ProcessIdentity { ProcessIdentity(number: SystemCalls.processID) }

  package init(number: Int32, start: String) {
    self.number = number
    self.start = start
  }

  /// The process that has a number now.
  private init(number: Int32) { self.init(number: number, start: Self.start(of: number)) }

  package var isRunning: Bool {
    guard number > 0, SystemCalls.isRunning(number) else { return false }
    let now = Self.start(of: number)
    return start.isEmpty || now.isEmpty || now == start
  }

  /// Field 22 of /proc/PID/stat, in ticks since the machine started, and which start of the machine that was.
  private static func start(of number: Int32) -> String {
    guard let bytes = try? readFile("/proc/\(number)/stat", limit: 4096) else { return "" }
    // The second field is the program's name in parentheses, which may hold anything.
    let nameEnd = bytes.lastIndex(of: UInt8(ascii: ")")) ?? bytes.startIndex
    let fields = bytes[nameEnd...].split(separator: UInt8(ascii: " "))
    guard fields.count > 20, let boot = try? readFile("/proc/sys/kernel/random/boot_id", limit: 64) else { return "" }
    return String(decoding: fields[20], as: UTF8.self) + "-" + String(decoding: boot.prefix(36), as: UTF8.self)
  }
}

/// Waits, without burning anything.
package enum Pause {
  package static func milliseconds(_ count: UInt32) { SystemCalls.sleep(milliseconds: count) }
}
