internal import FileIO

/// How often, and after what time, a request is made again that failed for something that may pass.
public struct RetryPolicy: Sendable {
  /// Attempts at one source that bring nothing, before the next source is asked.
  public var attempts = 4
  /// Milliseconds before the second attempt; twice as long before each further one, and a random part of up to a half less, so that a fleet
  /// does not ask again all at once.
  public var firstDelay: UInt32 = 500
  /// Milliseconds.
  public var longestDelay: UInt32 = 30_000
  /// The most seconds that a server may ask to be left alone for; where it asks for more, the next source is asked.
  public var longestRetryAfter = 120

  public init() {}

  /// The milliseconds before the next attempt; nil where there is none.
  /// - Parameter failures: how many attempts in a row brought nothing.
  func delay(after failures: Int, _ error: TransportError) -> UInt32? {
    guard error.mayPass, failures < attempts else { return nil }
    if case .overloaded(_, _, _, let seconds) = error {
      guard seconds <= longestRetryAfter else { return nil }
      let (milliseconds, overflow) = max(seconds, 0).multipliedReportingOverflow(by: 1000)
      return overflow ? .max : UInt32(clamping: milliseconds)
    }
    let factor = UInt32(1) << UInt32(min(max(failures - 1, 0), 16))
    let (delay, overflow) = firstDelay.multipliedReportingOverflow(by: factor)
    let longest = overflow ? longestDelay : min(delay, longestDelay)
    return longest - UInt32.random(in: 0...longest / 2)
  }

  /// Waits, as long as nobody cancels.
  static func wait(_ milliseconds: UInt32, isCancelled: () -> Bool) throws(InstallationError) {
    var left = milliseconds
    while left > 0 {
      guard !isCancelled() else { throw .cancelled }
      let step = min(left, 50)
      Pause.milliseconds(step)
      left -= step
    }
  }
}
