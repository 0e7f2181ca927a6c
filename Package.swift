// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "cambium",
    products: [
        .library(name: "Cambium", targets: ["Cambium"]),
        .library(name: "CambiumTesting", targets: ["CambiumTesting"]),
        .executable(name: "cambium", targets: ["CambiumCommand"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        .target(name: "CMachine"),
        .target(name: "CSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),
        .target(name: "CRE2", linkerSettings: [.linkedLibrary("re2")]),
        .target(name: "CambiumBytes", dependencies: ["CLZ4", "CXXHash", "CMachine"]),
        .target(name: "CambiumJSON", dependencies: ["CSimdJSON"]),
        .target(name: "CambiumModel", dependencies: ["CambiumJSON", "CRE2"]),
        .target(name: "CambiumCoreData", dependencies: ["CambiumModel", "CambiumJSON"]),
        .target(name: "CambiumGraph", dependencies: ["CMachine", "CambiumModel", "CambiumBytes"]),
        .target(
            name: "CambiumLog",
            dependencies: [
                "CambiumModel", "CambiumBytes", .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .target(name: "Cambium", dependencies: ["CambiumModel", "CambiumJSON", "CambiumBytes", "CambiumGraph", "CambiumLog"]),
        .target(name: "CambiumTesting", dependencies: ["CambiumModel", "CambiumGraph", "CambiumJSON", "CambiumLog"]),
        .executableTarget(
            name: "CambiumCommand",
            dependencies: [
                "Cambium", "CambiumCoreData", "CambiumJSON", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .testTarget(name: "CambiumTests", dependencies: ["Cambium", "CambiumJSON", "CambiumLog", "CambiumTesting"]),
        .testTarget(name: "CambiumBytesTests", dependencies: ["CambiumBytes"]),
        .testTarget(name: "CambiumJSONTests", dependencies: ["CambiumJSON"]),
        .testTarget(name: "CambiumModelTests", dependencies: ["CambiumModel", "CambiumJSON"]),
        .testTarget(name: "CambiumGraphTests", dependencies: ["CambiumModel", "CambiumGraph", "CambiumTesting"]),
        .testTarget(
            name: "CambiumLogTests",
            dependencies: ["CambiumLog", "CambiumModel", "CambiumBytes", .product(name: "Crypto", package: "swift-crypto")]),
        .testTarget(name: "CommandTests", dependencies: ["CambiumCommand"]),
        .testTarget(name: "CambiumCoreDataTests", dependencies: ["CambiumCoreData", "CambiumModel", "CambiumJSON"]),
        .executableTarget(name: "KilledWriter", dependencies: ["Cambium", "CambiumLog"], path: "Tests/KilledWriter"),
        .testTarget(name: "KillTests", dependencies: ["Cambium", "KilledWriter"]),
        .testTarget(name: "RepositoryTests"),
    ],
    cxxLanguageStandard: .cxx17
)

// Tests run with small pages too: nothing that a graph holds may depend on how it lies in pages.
let smallPages: [SwiftSetting] = Context.environment["CAMBIUM_SMALL_PAGES"] == nil ? [] : [.define("CAMBIUM_SMALL_PAGES")]

for target in package.targets where [.regular, .executable, .test].contains(target.type) {
    if target.name.hasPrefix("C"), !target.name.hasPrefix("Cambium") { continue }
    target.swiftSettings =
        [
            .swiftLanguageMode(.v6),
            .enableUpcomingFeature("ExistentialAny"),
            .treatAllWarnings(as: .error),
        ] + smallPages
}
