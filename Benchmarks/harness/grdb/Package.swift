// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "bench-grdb",
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")],
    targets: [
        .executableTarget(name: "bench-grdb", dependencies: [.product(name: "GRDB", package: "GRDB.swift")])
    ]
)
