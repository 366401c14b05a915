// swift-tools-version: 6.2
import PackageDescription

// An app of its own: it knows the toolkit by its products alone.
let package = Package(
  name: "installer-example",
  platforms: [.macOS(.v26)],
  dependencies: [.package(name: "signed-manifest", path: "../..")],
  targets: [
    .executableTarget(name: "Installer", dependencies: [.product(name: "ModelInstaller", package: "signed-manifest")])
  ]
)
