// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target: Swift 6 mode, every import and every unsafe use spelt out, no warning left standing.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func command(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(name: name + "Tests", dependencies: [.init(stringLiteral: name)] + dependencies, swiftSettings: strict)
}

let package = Package(
  name: "signed-manifest",
  platforms: [.macOS(.v26), .iOS(.v26)],
  products: [
    .library(name: "ManifestVerifier", targets: ["ManifestVerifier", "TrustStore"]),
    .library(name: "ManifestSigning", targets: ["ManifestSigning"]),
    .executable(name: "manifest-sign", targets: ["manifest-sign"]),
    .executable(name: "manifest-verify", targets: ["manifest-verify"]),
  ],
  targets: [
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
    .systemLibrary(name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CFileCalls"),
    .systemLibrary(name: "CPKCS11"),

    library("Digests", ["CLibcrypto"]),
    library("TUFMetadata", ["Digests"]),
    library("ModelFormats", []),
    library("FileIO", ["CFileCalls"]),
    library("ManifestVerifier", ["TUFMetadata", "Digests", "FileIO", "CSodium"]),
    library("TrustStore", ["ManifestVerifier", "TUFMetadata", "Digests", "FileIO"]),
    library(
      "ManifestSigning",
      ["ManifestVerifier", "TUFMetadata", "Digests", "ModelFormats", "FileIO", "CSodium", "CLibcrypto", "CFileCalls", "CPKCS11"]),
    library("CommandLineSupport", []),
    library("CommandFailures", ["CommandLineSupport", "ManifestVerifier", "TUFMetadata", "FileIO"]),
    command(
      "manifest-sign", ["ManifestSigning", "ManifestVerifier", "TUFMetadata", "Digests", "FileIO", "CommandLineSupport", "CommandFailures"]),
    command("manifest-verify", ["TrustStore", "ManifestVerifier", "TUFMetadata", "FileIO", "CommandLineSupport", "CommandFailures"]),

    tests(of: "Digests"),
    tests(of: "TUFMetadata"),
    tests(of: "ModelFormats"),
    tests(of: "FileIO"),
    tests(of: "ManifestSigning", ["TUFMetadata", "Digests", "ModelFormats", "FileIO", "CSodium"]),
    tests(of: "CommandLineSupport", ["CommandLineProbe"]),
    .testTarget(name: "KeyCommandTests", dependencies: ["manifest-sign"], swiftSettings: strict),
    .executableTarget(
      name: "CommandLineProbe", dependencies: ["CommandLineSupport"], path: "Tests/CommandLineProbe", swiftSettings: strict),
  ]
)
