/// What a variant is chosen for.
public struct Device: Equatable, Sendable {
  /// The operating system as descriptions name it: `linux`, `macos`, `ios`, …
  public var platform: String
  /// The processor architecture: `x86_64`, `arm64`, …
  public var architecture: String
  /// The programs that can load a model here, with their versions. Empty where that is not known: then no variant is refused for it.
  public var runtimes: [String: String]

  public init(platform: String, architecture: String, runtimes: [String: String] = [:]) {
    self.platform = Self.common(platform)
    self.architecture = Self.common(architecture)
    self.runtimes = runtimes
  }

  /// This device.
  public static var current: Device { Device(platform: ownPlatform, architecture: ownArchitecture) }

  private static var ownPlatform: String {
    #if os(macOS)
      "macos"
    #elseif os(iOS)
      "ios"
    #elseif os(visionOS)
      "visionos"
    #elseif os(tvOS)
      "tvos"
    #elseif os(watchOS)
      "watchos"
    #elseif os(Android)
      "android"
    #elseif os(Windows)
      "windows"
    #else
      "linux"
    #endif
  }

  private static var ownArchitecture: String {
    #if arch(arm64)
      "arm64"
    #elseif arch(x86_64)
      "x86_64"
    #elseif arch(arm)
      "arm"
    #elseif arch(riscv64)
      "riscv64"
    #else
      "i386"
    #endif
  }

  /// One spelling for what has several.
  static func common(_ name: String) -> String {
    switch name.lowercased() {
    case "aarch64": "arm64"
    case "amd64", "x64", "x86-64": "x86_64"
    case "darwin", "osx", "mac": "macos"
    case "iphone", "iphoneos", "ipados": "ios"
    case let other: other
    }
  }
}

extension Device: CustomStringConvertible {
  public var description: String {
    let programs = runtimes.sorted { $0.key < $1.key }.map { " with \($0.key) \($0.value)" }.joined()
    return "\(platform) on \(architecture)\(programs)"
  }
}
