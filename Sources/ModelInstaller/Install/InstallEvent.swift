/// What an installation tells on its way. No text holds a secret or a URL's query.
public enum InstallEvent: Equatable, Sendable {
  /// What is done now; each state ends the one before.
  public enum State: String, Equatable, Sendable {
    case refreshing = "refreshing trust"
    case checking = "checking what is here"
    case downloading = "downloading"
    case verifying = "verifying"
    case ready = "ready"
    case activating = "activating"
    case active = "active"
  }

  case state(State)
  /// What is going to happen.
  case planned(InstallPlan)
  /// A file is begun: of so many bytes so many are here already and verified.
  case file(path: String, byteCount: Int64, present: Int64)
  /// So many more bytes of a file have come.
  case received(path: String, byteCount: Int64)
  /// So many bytes of a file were given up, because they were not what is signed.
  case discarded(path: String, byteCount: Int64)
  /// A file is whole and verified.
  case verified(path: String)
  /// A source failed, and is asked again after so many milliseconds.
  case retrying(path: String, source: String, milliseconds: Int, reason: String)
  /// A source failed, and the next one is asked.
  case sourceFailed(path: String, source: String, reason: String)
  /// Something that a person may want to know.
  case warning(String)
}

/// What installing a variant takes, here and now.
public struct InstallPlan: Equatable, Sendable {
  public struct File: Equatable, Sendable {
    public let path: String
    public let byteCount: Int64
    /// How many of its bytes are on this disk already, in the store or fetched by an earlier attempt.
    public let present: Int64
  }

  /// What a disk has to have free, and what it has.
  public struct Space: Equatable, Sendable {
    /// The folder on it that is written to.
    public let path: String
    public let neededByteCount: Int64
    public let freeByteCount: Int64
    /// Files and folders that are made.
    public let neededFileCount: Int64
    /// How many more it takes; nil where it sets no number.
    public let freeFileCount: Int64?
  }

  public let model: String
  public let version: String
  public let variant: String
  public let quantisation: String?
  public let format: String?
  public let licence: String
  public let files: [File]
  /// Whether the variant is installed, and active, already.
  public let isInstalled: Bool
  public let isActive: Bool
  /// Bytes to fetch.
  public let downloadByteCount: Int64
  /// Bytes that will be taken beside what is on the disk now, in whole blocks, the version that is kept as the way back included in that.
  public let diskByteCount: Int64
  /// The disks that are written to: the one of the store, and before it that of the staging folder where it is another.
  public let space: [Space]
  /// Bytes of all files of the variant.
  public let byteCount: Int64
}
