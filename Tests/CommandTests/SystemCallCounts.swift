import TestSupport
import Testing

/// How often a command makes each system call, on all of its threads, as strace sees it from outside. What it hands to the calls can't be told:
/// `manifest-sign` lets nobody but root look into its memory.
struct SystemCallCounts {
  private var counts: [String: Int] = [:]

  /// Runs the command, which has to succeed.
  init(of command: String, _ arguments: [String]) throws {
    let folder = try TemporaryFolder()
    _ = try runChild("strace", ["-f", "-qq", "-o", folder("calls"), builtCommand(command)] + arguments).successful()
    // One call a line, behind the number of its thread. The rest of one that another thread interrupted begins with "<".
    for line in try folder.text(of: "calls").split(separator: "\n") {
      guard let call = line.drop(while: { $0.isNumber || $0 == " " }).firstMatch(of: /^([a-z][a-z0-9_]*)\(/)?.1 else { continue }
      counts[String(call), default: 0] += 1
    }
    try #require(counts["execve"] == 1, "strace told nothing of \(command)")
  }

  private func sum(_ names: String...) -> Int { names.reduce(0) { $0 + counts[$1, default: 0] } }

  /// Looks at the status of a file, be it open or not.
  var statuses: Int { sum("stat", "lstat", "fstat", "newfstatat", "fstatat64", "statx") }
  var openings: Int { sum("open", "openat", "openat2") }
  var newThreads: Int { sum("clone", "clone3") }
}
