/// What every download of one installation shares.
package struct DownloadContext: Sendable {
  /// Makes a transport for one thread.
  let makeTransport: @Sendable () throws(InstallationError) -> any Transport
  let hub: HuggingFaceHub
  let retry: RetryPolicy
  let isCancelled: @Sendable () -> Bool
  package let report: @Sendable (InstallEvent) -> Void
  /// Requests at once where a file is fetched in parts.
  let connections: Int

  package init(
    makeTransport: @escaping @Sendable () throws(InstallationError) -> any Transport, hub: HuggingFaceHub, retry: RetryPolicy = .init(),
    connections: Int = 4, isCancelled: @escaping @Sendable () -> Bool, report: @escaping @Sendable (InstallEvent) -> Void
  ) {
    self.makeTransport = makeTransport
    self.hub = hub
    self.retry = retry
    self.connections = max(1, min(connections, 32))
    self.isCancelled = isCancelled
    self.report = report
  }
}
