internal import FileIO

/// Makes a process that may hold secrets hard to look into.
public enum ProcessHardening {
  /// Turns core files, the runtime's reports of crashes, and tracing off, for good, and takes the passphrases and PINs out of the environment, where
  /// they wait in locked memory for a `PassphraseSource`. `manifest-sign` calls it before anything else, whatever it was started for.
  ///
  /// Programs started afterwards inherit the ban on core files and can be traced again. To be called before any thread is started.
  /// - Parameter signers: the configuration that may name more variables that hold PINs. Where it can't be read, that is an error later, of what
  ///   needs it.
  /// - Throws: `SigningError.system` where the operating system refuses.
  public static func apply(signers: String? = nil) throws(SigningError) {
    ProcessAccess.forbidCrashReports()
    do throws(Errno) {
      try ProcessAccess.forbidCoreFiles()
    } catch { throw .system(error, operation: "turn core files off", path: "this process") }
    do throws(Errno) {
      try ProcessAccess.forbidTracing()
    } catch { throw .system(error, operation: "turn tracing off", path: "this process") }
    SecretVariables.takeAtStart()
    if let signers, let configuration = try? SignersConfiguration.read(path: signers) {
      SecretVariables.takeAtStart(configuration.pinVariables)
    }
  }
}
