import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Lets tests make system calls fail, stop short or kill the process. Only code in this process can ask for that; without a hook
/// it costs one relaxed load a call.
///
/// A hook sees the calls of the whole process, all threads, that concern one folder: so tests can run side by side.
package enum FaultInjection {
  package struct Call: Sendable {
    package let name: SystemCall
    /// Absolute, found through the descriptor where the call has one; for a rename or a link the new name.
    package let path: String
    /// Counted from 0 for each hook.
    package let ordinal: Int
  }

  package enum Action: Equatable, Sendable {
    case proceed
    /// The call is not made; `interrupted` is then tried again, as a real one is.
    case fail(Errno)
    /// A read or write moves at most so many bytes; other calls proceed.
    case short(Int)
    /// The process ends at once, before the call, as by SIGKILL.
    case kill
  }

  package typealias Hook = @Sendable (Call) -> Action

  /// Runs `body` with a hook on every call that concerns `folder` or something below it.
  @discardableResult
  package static func withHook<Result: ~Copyable, Failure: Error>(
    below folder: String, _ hook: @escaping Hook, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let id = install(below: folder, hook)
    defer { remove(id) }
    return try body()
  }

  /// Sets a hook until `remove` is given the number returned.
  package static func install(below folder: String, _ hook: @escaping Hook) -> Int {
    let id = registrations.withLock { state in
      state.lastID += 1
      state.hooks.append(Registration(id: state.lastID, folders: spellings(of: folder), hook: hook, count: 0))
      return state.lastID
    }
    hookCount.add(1, ordering: .sequentiallyConsistent)
    return id
  }

  package static func remove(_ id: Int) {
    let removed = registrations.withLock { state in
      let before = state.hooks.count
      state.hooks.removeAll { $0.id == id }
      return before - state.hooks.count
    }
    hookCount.subtract(removed, ordering: .sequentiallyConsistent)
  }

  // MARK: For the calls

  enum Location {
    case descriptor(CInt)
    /// A path, relative to the folder where it is not absolute.
    case name(CInt, CPath)
  }

  @inline(__always) static var isActive: Bool { hookCount.load(ordering: .relaxed) != 0 }

  /// What the first hook that cares says.
  static func action(_ call: SystemCall, _ location: Location) -> Action? {
    let path = path(of: location)
    let matching = registrations.withLock { state -> [(Hook, Int)] in
      var matching: [(Hook, Int)] = []
      for index in state.hooks.indices where state.hooks[index].concerns(path) {
        matching.append((state.hooks[index].hook, state.hooks[index].count))
        state.hooks[index].count += 1
      }
      return matching
    }
    // Hooks run outside the lock, so that one may itself use files.
    for (hook, ordinal) in matching {
      let action = hook(Call(name: call, path: path, ordinal: ordinal))
      if action != .proceed { return action }
    }
    return nil
  }

  static func killProcess() -> Never {
    kill(getpid(), SIGKILL)
    while true { pause() }
  }

  // MARK: State

  private struct Registration {
    let id: Int
    let folders: [String]
    let hook: Hook
    var count: Int

    func concerns(_ path: String) -> Bool { folders.contains { path == $0 || path.utf8.starts(with: ($0 + "/").utf8) } }
  }

  private struct State {
    var lastID = 0
    var hooks: [Registration] = []
  }

  private static let hookCount = Atomic<Int>(0)
  private static let registrations = Mutex(State())

  // MARK: Paths, by calls that are never injected into

  private static func path(of location: Location) -> String {
    switch location {
    case .descriptor(let descriptor):
      return path(of: descriptor)
    case .name(let folder, let name):
      let text = name.text
      if text.utf8.first == UInt8(ascii: "/") { return text }
      return (folder == AT_FDCWD ? currentFolder() : path(of: folder)) + "/" + text
    }
  }

  private static func path(of descriptor: CInt) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    #if canImport(Darwin)
      // F_GETPATH writes at most PATH_MAX bytes.
      _ = unsafe fcntl(descriptor, F_GETPATH, &buffer)
    #else
      // Writes at most as many bytes as it is told, one fewer than there are.
      _ = unsafe readlink("/proc/self/fd/\(descriptor)", &buffer, Int(PATH_MAX))
    #endif
    return text(buffer)
  }

  private static func currentFolder() -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    // Writes at most as many bytes as it is told, all inside the buffer.
    return unsafe getcwd(&buffer, Int(PATH_MAX)) == nil ? "" : text(buffer)
  }

  /// The folder as written and as the system resolves it, since a descriptor's path is resolved.
  private static func spellings(of folder: String) -> [String] {
    let absolute = folder.utf8.first == UInt8(ascii: "/") ? folder : currentFolder() + "/" + folder
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    // Writes at most PATH_MAX bytes, all inside the buffer.
    guard unsafe realpath(folder, &buffer) != nil else { return [absolute] }
    return [absolute, text(buffer)]
  }

  private static func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
