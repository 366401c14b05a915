internal import FileIO

/// Makes a process that will hold secrets hard to look into.
public enum ProcessHardening {
  /// Turns core files, the runtime's reports of crashes, and tracing off, for good. `manifest-sign` calls it before it reads anything.
  ///
  /// Programs started afterwards inherit the ban on core files and can be traced again.
  /// - Throws: `SigningError.system` where the operating system refuses.
  public static func apply() throws(SigningError) {
    ProcessAccess.forbidCrashReports()
    do throws(Errno) {
      try ProcessAccess.forbidCoreFiles()
    } catch { throw .system(error, operation: "turn core files off", path: "this process") }
    do throws(Errno) {
      try ProcessAccess.forbidTracing()
    } catch { throw .system(error, operation: "turn tracing off", path: "this process") }
  }
}
