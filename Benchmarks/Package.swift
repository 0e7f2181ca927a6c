// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "cambium-benchmarks",
    products: [.executable(name: "bench", targets: ["Bench"])],
    dependencies: [.package(name: "cambium", path: "..")],
    targets: [
        .executableTarget(
            name: "Bench",
            dependencies: [.product(name: "Cambium", package: "cambium"), .product(name: "CambiumTesting", package: "cambium")],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .treatAllWarnings(as: .error),
            ])
    ],
    cxxLanguageStandard: .cxx17
)
