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

/// A command holds the parts of Swift's library that it uses, which halves its start-up time; system libraries stay shared, C++'s aside where
/// scripts/link-static-libraries has laid it ready. No test target
/// may depend on one, or it would be linked so too: the tests run the commands, which `swift test` builds as well.
func command(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, swiftSettings: strict,
    linkerSettings: [.unsafeFlags(["-static-stdlib", "-L\(Context.packageDirectory)/.build/static-libraries"], .when(platforms: [.linux]))])
}

func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(name: name + "Tests", dependencies: [.init(stringLiteral: name), "TestSupport"] + dependencies, swiftSettings: strict)
}

let package = Package(
  name: "signed-manifest",
  platforms: [.macOS(.v26), .iOS(.v26)],
  products: [
    .library(name: "ManifestVerifier", targets: ["ManifestVerifier", "TrustStore", "LocalizedVerifierErrors"]),
    .library(
      name: "ModelInstaller", targets: ["ModelInstaller", "HTTPTransport", "LocalizedInstallerErrors", "LocalizedVerifierErrors"]),
    .library(name: "ManifestSigning", targets: ["ManifestSigning"]),
    .executable(name: "manifest-sign", targets: ["manifest-sign"]),
    .executable(name: "manifest-verify", targets: ["manifest-verify"]),
    .executable(name: "manifest-install", targets: ["manifest-install"]),
  ],
  targets: [
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
    .systemLibrary(name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CFileCalls"),
    .systemLibrary(name: "CPKCS11"),
    .target(name: "CHashLanes"),

    library("Digests", ["CLibcrypto", "CHashLanes"]),
    library("TUFMetadata", ["Digests"]),
    library("ModelFormats", []),
    library("ModelCatalog", ["TUFMetadata"]),
    library("FileIO", ["CFileCalls"]),
    library("ManifestVerifier", ["TUFMetadata", "Digests", "FileIO", "CSodium"]),
    library("TrustStore", ["ManifestVerifier", "TUFMetadata", "Digests", "FileIO"]),
    library(
      "ModelInstaller", ["ModelCatalog", "ModelFormats", "TrustStore", "ManifestVerifier", "TUFMetadata", "Digests", "FileIO"]),
    library("HTTPTransport", ["ModelInstaller", "TUFMetadata", "CCurl"]),
    library("LocalizedVerifierErrors", ["TrustStore", "ManifestVerifier", "TUFMetadata", "Digests", "FileIO"]),
    library("LocalizedInstallerErrors", ["ModelInstaller", "ModelFormats"]),
    library(
      "ManifestSigning",
      [
        "ModelCatalog", "ManifestVerifier", "TUFMetadata", "Digests", "ModelFormats", "FileIO", "CSodium", "CLibcrypto", "CFileCalls",
        "CPKCS11",
      ]),
    library("FleetSimulator", ["ManifestSigning", "ManifestVerifier", "TUFMetadata", "Digests", "FileIO"]),
    library("CommandLineSupport", []),
    library("CommandFailures", ["CommandLineSupport", "ManifestVerifier", "TUFMetadata", "FileIO"]),
    library("DeviceCommands", ["TrustStore", "ManifestVerifier", "TUFMetadata", "FileIO", "CommandLineSupport", "CommandFailures"]),
    command(
      "manifest-sign",
      [
        "FleetSimulator", "ManifestSigning", "ManifestVerifier", "TUFMetadata", "ModelFormats", "Digests", "FileIO", "CommandLineSupport",
        "CommandFailures",
      ]),
    command(
      "manifest-verify",
      ["DeviceCommands", "TrustStore", "ManifestVerifier", "TUFMetadata", "Digests", "FileIO", "CommandLineSupport", "CommandFailures"]),
    command(
      "manifest-install",
      [
        "DeviceCommands", "HTTPTransport", "ModelInstaller", "ModelCatalog", "ModelFormats", "TrustStore", "ManifestVerifier",
        "TUFMetadata",
        "FileIO", "CommandLineSupport", "CommandFailures",
      ]),

    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
    .target(
      name: "RepositoryFixtures", dependencies: ["TUFMetadata", "Digests", "CSodium"], path: "Tests/RepositoryFixtures",
      swiftSettings: strict),
    .executableTarget(
      name: "CommandLineProbe", dependencies: ["CommandLineSupport"], path: "Tests/CommandLineProbe", swiftSettings: strict),
    tests(of: "Digests"),
    tests(of: "TUFMetadata", ["RepositoryFixtures", "Digests"]),
    tests(of: "ModelFormats"),
    tests(of: "FileIO"),
    tests(of: "ManifestVerifier", ["RepositoryFixtures", "TUFMetadata", "Digests", "FileIO"]),
    tests(of: "TrustStore", ["RepositoryFixtures", "ManifestVerifier", "TUFMetadata", "Digests", "FileIO"]),
    tests(
      of: "ModelInstaller",
      [
        "LocalizedInstallerErrors", "RepositoryFixtures", "ModelCatalog", "TrustStore", "ManifestVerifier", "TUFMetadata", "Digests",
        "FileIO",
      ]),
    tests(of: "HTTPTransport", ["ModelInstaller"]),
    tests(of: "ManifestSigning", ["ModelCatalog", "TUFMetadata", "Digests", "ModelFormats", "FileIO", "CSodium"]),
    tests(of: "FleetSimulator", ["TrustStore", "ManifestVerifier", "TUFMetadata", "Digests", "FileIO"]),
    tests(of: "CommandLineSupport", ["CommandLineProbe"]),
    .testTarget(name: "CommandTests", dependencies: ["TestSupport"], swiftSettings: strict),
    .testTarget(name: "KeyCommandTests", dependencies: ["TestSupport"], swiftSettings: strict),
    .testTarget(name: "InstallCommandTests", dependencies: ["TestSupport"], swiftSettings: strict),
  ]
)

// What scripts/test-sanitized names, and nothing else: a sanitizer's build of everything takes long.
if let only = Context.environment["SIGNED_MANIFEST_ONLY_TARGETS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { !only.contains($0.name) }
  package.products = []
}
