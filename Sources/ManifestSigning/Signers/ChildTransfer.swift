internal import FileIO

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A moment on the clock that only goes forward.
struct Deadline {
  private let end: Int64

  init(seconds: Int) { end = Self.now() + Int64(clamping: seconds) * 1000 }

  init(milliseconds: Int64) { end = Self.now() + milliseconds }

  /// What is left, at most a second, so that nothing is waited for longer without a look around.
  var milliseconds: CInt { CInt(clamping: min(max(end - Self.now(), 0), 1000)) }

  private static func now() -> Int64 {
    var time = timespec()
    // The call fills exactly this structure.
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

/// Both ends of a pipe, neither inherited by a program, closed when they go out of scope.
final class PipeEnds {
  private(set) var readEnd: CInt = -1
  private(set) var writeEnd: CInt = -1

  init() throws(SignerFault) {
    var ends: [CInt] = [-1, -1]
    // The array has room for the two numbers.
    guard unsafe pipe(&ends) == 0 else { throw .notStarted(Errno(errno)) }
    (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  deinit {
    closeReadEnd()
    closeWriteEnd()
  }

  /// Writes bytes for whoever gets the reading end, and closes the other. So few that the pipe holds them.
  func fill(with bytes: borrowing SecureBytes) throws(SignerFault) {
    var offset = 0
    while offset < bytes.count {
      // The rest of the bytes, whose count goes with it.
      let written = unsafe bytes.withUnsafeBytes { base, count in unsafe write(writeEnd, base + offset, count - offset) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw .notStarted(Errno(errno)) }
      offset += written
    }
    closeWriteEnd()
  }

  func closeReadEnd() {
    if readEnd >= 0 { _ = close(readEnd) }
    readEnd = -1
  }

  func closeWriteEnd() {
    if writeEnd >= 0 { _ = close(writeEnd) }
    writeEnd = -1
  }
}

/// Feeds a child and collects what it says, each as far as it is ready.
struct Transfer {
  let input: [UInt8]
  let outputLimit: Int
  private(set) var output: [UInt8] = []
  private(set) var outputByteCount = 0
  private(set) var messages: [UInt8] = []
  private var offset = 0

  init(input: [UInt8], outputLimit: Int) {
    self.input = input
    self.outputLimit = outputLimit
  }

  /// How long what a child has left behind may still write, in milliseconds: the end of a pipeline, say, and not a daemon that never closes what it
  /// got from the child.
  static let grace: Int64 = 500
  /// How long nothing is looked at while nothing is written, in milliseconds.
  private static let pause: CInt = 20

  /// - Parameter hasEnded: whether the child has, whose pipes others may still hold.
  /// - Returns: false where the time is up, the child never stops talking, or the person wants to end it all.
  mutating func run(
    _ standardInput: PipeEnds, _ standardOutput: PipeEnds, _ standardError: PipeEnds, _ deadline: Deadline, _ isCancelled: () -> Bool,
    hasEnded: () -> Bool
  ) -> Bool {
    var graceEnd: Deadline?
    for end in [standardInput.writeEnd, standardOutput.readEnd, standardError.readEnd] {
      _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
    }
    while standardOutput.readEnd >= 0 || standardError.readEnd >= 0 {
      guard deadline.milliseconds > 0, !isCancelled() else { return false }
      if let graceEnd, graceEnd.milliseconds == 0 { return true }
      if graceEnd == nil, hasEnded() { graceEnd = Deadline(milliseconds: Self.grace) }
      if offset >= input.count { standardInput.closeWriteEnd() }
      var requests = [
        pollfd(fd: standardInput.writeEnd, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: standardOutput.readEnd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: standardError.readEnd, events: Int16(POLLIN), revents: 0),
      ]
      // Three structures; a number below 0 is passed over by the system.
      guard unsafe poll(&requests, 3, min(deadline.milliseconds, Self.pause)) > 0 else { continue }
      if requests[0].revents != 0 { feed(standardInput) }
      if requests[1].revents != 0 {
        if let bytes = receive(standardOutput) {
          outputByteCount += bytes.count
          output += bytes.prefix(max(outputLimit + 1 - output.count, 0))
        }
      }
      if requests[2].revents != 0, let bytes = receive(standardError) {
        messages += bytes
        messages.removeFirst(max(messages.count - ChildProcess.messageByteLimit, 0))
      }
    }
    return true
  }

  private mutating func feed(_ pipe: PipeEnds) {
    // The rest of the array, whose count goes with it.
    let written = unsafe input.withUnsafeBytes { bytes in
      unsafe write(pipe.writeEnd, bytes.baseAddress.map { unsafe $0 + offset }, bytes.count - offset)
    }
    if written >= 0 {
      offset += written
    } else if errno != EAGAIN && errno != EINTR {
      // A program that does not read what it should sign will be found out by its signature.
      pipe.closeWriteEnd()
      offset = input.count
    }
  }

  private func receive(_ pipe: PipeEnds) -> ArraySlice<UInt8>? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    // The array has as many bytes as its count says.
    let count = unsafe read(pipe.readEnd, &buffer, buffer.count)
    if count > 0 { return buffer[..<count] }
    if count < 0, errno == EAGAIN || errno == EINTR { return nil }
    pipe.closeReadEnd()
    return nil
  }
}
