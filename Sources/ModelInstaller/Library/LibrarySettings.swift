internal import FileIO

/// What a `ModelLibrary` works with.
public struct LibrarySettings: Sendable {
  /// The root file that the app was shipped with: everything is trusted from there, whatever stands on the disk.
  public var root: [UInt8]
  /// Where published metadata is, in order of preference.
  public var metadata: [Mirror]
  /// Where published files are, in order of preference.
  public var targets: [Mirror]
  /// The folder for what this device trusts.
  public var state: String
  /// The folder for installed models. An app on an Apple platform leaves it out of backups.
  public var store: String
  /// Where files are fetched to, if not in the store.
  public var staging: String?
  /// What variants are chosen for.
  public var device = Device.current
  /// Parts of a file that are fetched at once.
  public var connections = 4
  public var retry = RetryPolicy()
  public var hub: HuggingFaceHub
  /// The clock, in seconds since 1970: what expiry is held against.
  public var clock: @Sendable () -> Int64 = { SystemClock.secondsSince1970 }

  /// - Parameters:
  ///   - root: the bytes of the root file.
  ///   - folder: of the app's own data; `standardFolder` is one.
  /// - Throws: `unusableURL`.
  public init(root: [UInt8], metadata: [Mirror], targets: [Mirror], folder: String) throws(InstallationError) {
    (self.root, self.metadata, self.targets) = (root, metadata, targets)
    (state, store) = ("\(folder)/trust", "\(folder)/models")
    hub = try .standard()
  }

  /// The folder for an app's data where this platform has such: below Application Support on Apple's, below `XDG_DATA_HOME` elsewhere.
  /// - Parameter app: a name of the app's own, such as its bundle identifier.
  /// - Returns: nil where the home folder is not known.
  public static func standardFolder(for app: String) -> String? { StandardFolder.applicationData(app) }
}
