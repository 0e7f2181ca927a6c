// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Shop",
    // In your own package, name the folder or the URL of your copy of Cambium here.
    dependencies: [.package(name: "cambium", path: "../..", traits: ["Macros"])],
    targets: [
        .executableTarget(
            name: "Shop", dependencies: [.product(name: "Cambium", package: "cambium")], swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
