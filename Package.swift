// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// Only packages that enable the trait fetch and build swift-syntax.
let macros = TargetDependencyCondition.when(traits: ["Macros"])
func syntaxModules(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "swift-syntax", condition: macros) }
}

// The modules that `import Cambium` shows.
let exported = [
    "CambiumStore", "CambiumEdits", "CambiumRecords", "CambiumOperations", "CambiumExchange", "CambiumModel", "CambiumGraph",
    "CambiumProofs",
]

// What tests that open a store import, besides the exported modules.
let storeParts: [Target.Dependency] = [
    "Cambium", "CambiumModel", "CambiumBytes", "CambiumJSON", "CambiumLog", "CambiumTesting", "TestFixtures",
]

let package = Package(
    name: "cambium",
    products: [
        .library(name: "Cambium", targets: ["Cambium"] + exported),
        // The parts of Cambium, for programs that want only some of them.
        .library(name: "CambiumStore", targets: ["CambiumStore"]),
        .library(name: "CambiumEdits", targets: ["CambiumEdits"]),
        .library(name: "CambiumRecords", targets: ["CambiumRecords"]),
        .library(name: "CambiumExchange", targets: ["CambiumExchange"]),
        .library(name: "CambiumOperations", targets: ["CambiumOperations"]),
        .library(name: "CambiumProofs", targets: ["CambiumProofs"]),
        .library(name: "CambiumCoreData", targets: ["CambiumCoreData"]),
        .library(name: "CambiumTesting", targets: ["CambiumTesting"]),
        .executable(name: "cambium", targets: ["CambiumCommand"]),
    ],
    traits: [
        .trait(name: "Macros", description: "Adds the macro @Entity, which makes a struct an entity of a schema. Builds swift-syntax.")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    ],
    targets: [
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .systemLibrary(name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"])]),
        .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CMachine"),
        .target(name: "CSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),
        .target(name: "CRE2", linkerSettings: [.linkedLibrary("re2")]),
        .target(name: "CLineEditor", linkerSettings: [.linkedLibrary("edit")]),
        .target(name: "CambiumBytes", dependencies: ["CLZ4", "CXXHash", "CZlib", "CMachine"]),
        .target(name: "CambiumJSON", dependencies: ["CSimdJSON"]),
        .target(name: "CambiumModel", dependencies: ["CambiumBytes", "CambiumJSON", "CRE2"]),
        .target(name: "CambiumCoreData", dependencies: ["CambiumModel", "CambiumJSON"]),
        .target(name: "CambiumGraph", dependencies: ["CMachine", "CambiumModel", "CambiumBytes"]),
        .target(name: "CambiumProofs", dependencies: ["CNettle", "CambiumModel", "CambiumBytes"]),
        .target(name: "CambiumLog", dependencies: ["CMachine", "CambiumProofs", "CambiumModel", "CambiumBytes"]),
        .target(name: "CambiumExchange", dependencies: ["CambiumModel", "CambiumJSON", "CambiumBytes", "CambiumGraph"]),
        .macro(
            name: "CambiumMacros",
            dependencies: syntaxModules(
                "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftDiagnostics", "SwiftCompilerPlugin")),
        .target(
            name: "CambiumStore",
            dependencies: [
                "CambiumModel", "CambiumJSON", "CambiumBytes", "CambiumGraph", "CambiumProofs", "CambiumLog", "CambiumExchange",
            ]),
        .target(name: "CambiumEdits", dependencies: ["CambiumStore", "CambiumModel", "CambiumBytes", "CambiumGraph"]),
        .target(
            name: "CambiumRecords",
            dependencies: [
                "CambiumStore", "CambiumEdits", "CambiumModel", "CambiumJSON", "CambiumBytes", "CambiumGraph", "CambiumExchange",
                .target(name: "CambiumMacros", condition: macros),
            ]),
        .target(
            name: "CambiumOperations",
            dependencies: ["CambiumStore", "CambiumModel", "CambiumJSON", "CambiumBytes", "CambiumGraph", "CambiumProofs", "CambiumLog"]),
        .target(
            name: "Cambium",
            dependencies: [
                "CambiumStore", "CambiumEdits", "CambiumRecords", "CambiumOperations", "CambiumExchange", "CambiumModel", "CambiumJSON",
                "CambiumGraph", "CambiumProofs",
            ]),
        .target(
            name: "CambiumTesting", dependencies: ["Cambium", "CambiumModel", "CambiumBytes", "CambiumGraph", "CambiumJSON", "CambiumLog"]),
        .executableTarget(
            name: "CambiumCommand",
            dependencies: [
                "Cambium", "CambiumCoreData", "CambiumJSON", "CLineEditor",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // The example that script/demo builds and runs.
        .executableTarget(name: "Demo", dependencies: ["Cambium"], path: "Docs/Demo"),
        // Counts allocations, by replacing the functions that allocate in the program of the tests.
        .target(name: "CAllocations", path: "Tests/CAllocations"),
        // What the tests of several modules use. It sees package declarations only, because release builds compile it, too.
        .target(
            name: "TestFixtures",
            dependencies: ["Cambium", "CambiumModel", "CambiumBytes", "CambiumJSON", "CambiumLog", "CambiumTesting"],
            path: "Tests/TestFixtures"),
        .testTarget(name: "CambiumBytesTests", dependencies: ["CambiumBytes", "CambiumTesting"]),
        .testTarget(name: "CambiumJSONTests", dependencies: ["CambiumJSON", "CambiumTesting"]),
        .testTarget(name: "CambiumModelTests", dependencies: ["CambiumModel", "CambiumJSON", "CambiumTesting"]),
        .testTarget(name: "CambiumGraphTests", dependencies: ["CMachine"] + storeParts),
        .testTarget(name: "CambiumProofsTests", dependencies: ["CambiumProofs", "CambiumModel", "CambiumBytes"]),
        .testTarget(name: "CambiumLogTests", dependencies: storeParts),
        .testTarget(name: "CambiumExchangeTests", dependencies: storeParts),
        .testTarget(name: "CambiumStoreTests", dependencies: storeParts),
        .testTarget(name: "CambiumEditsTests", dependencies: storeParts),
        .testTarget(name: "CambiumRecordsTests", dependencies: storeParts + ["CAllocations"]),
        .testTarget(name: "CambiumOperationsTests", dependencies: storeParts),
        // Random programs and failures that concern all modules.
        .testTarget(name: "CambiumTests", dependencies: storeParts),
        .testTarget(name: "CommandTests", dependencies: ["CambiumCommand", "CambiumJSON", "CambiumTesting", "QueryRunner"]),
        .testTarget(name: "CambiumCoreDataTests", dependencies: ["CambiumCoreData", "CambiumModel", "CambiumJSON", "CambiumTesting"]),
        .executableTarget(name: "KilledWriter", dependencies: ["Cambium", "CambiumLog"], path: "Tests/KilledWriter"),
        .testTarget(name: "KillTests", dependencies: ["Cambium", "CambiumTesting", "KilledWriter"]),
        .executableTarget(name: "QueryRunner", dependencies: ["Cambium", "CambiumJSON"], path: "Tests/QueryRunner"),
        .target(
            name: "FuzzTargets",
            dependencies: ["Cambium", "CambiumCoreData", "CambiumModel", "CambiumJSON", "CambiumBytes", "CambiumGraph", "CambiumLog"],
            path: "Tests/FuzzTargets"),
        .executableTarget(
            name: "ForgedReader", dependencies: ["Cambium", "CambiumLog", "CambiumModel", "FuzzTargets"], path: "Tests/ForgedReader"),
        .testTarget(name: "FuzzCorpusTests", dependencies: ["FuzzTargets", "ForgedReader", "CambiumTesting"]),
        // Without access to package declarations, the code of the documents compiles as it does for users.
        .testTarget(name: "DocumentationTests", dependencies: ["Cambium", "CambiumCoreData", "CambiumTesting"], packageAccess: false),
        .testTarget(name: "RepositoryTests"),
    ],
    cxxLanguageStandard: .cxx17
)

// The tests of the macros need swift-syntax, which takes minutes to build. Only the library and its macros are built with them.
if Context.environment["CAMBIUM_MACROS"] != nil {
    let library = package.targets.filter { [.regular, .system, .macro].contains($0.type) }
    package.products.removeAll { $0.name != "Cambium" }
    package.targets = library.filter { !["CambiumCoreData", "CambiumTesting", "TestFixtures", "FuzzTargets"].contains($0.name) }
    // The program of the package for users, so that script/check runs it without a second build of swift-syntax.
    package.targets.append(.executableTarget(name: "Shop", dependencies: ["Cambium"], path: "Docs/Template/Sources/Shop"))
    package.targets.append(
        .testTarget(
            name: "CambiumMacrosTests",
            dependencies: ["Cambium", "CambiumMacros"] + syntaxModules("SwiftSyntaxMacroExpansion", "SwiftParser"),
            exclude: ["Diagnostics.txt"]))
}

// Benchmarks/run builds the benchmarks, which measure parts of the package that programs cannot see.
if Context.environment["CAMBIUM_BENCHMARKS"] != nil {
    package.products.append(.executable(name: "bench", targets: ["Bench"]))
    package.targets.append(
        .executableTarget(name: "Bench", dependencies: ["Cambium", "CambiumGraph", "CambiumLog"], path: "Benchmarks/Sources/Bench"))
}

// script/fuzz builds with coverage counters in our own modules, and with pages poisoned as in debug builds.
let isFuzzed = Context.environment["CAMBIUM_FUZZ"] != nil
let counted: [SwiftSetting] = isFuzzed ? [.unsafeFlags(["-sanitize=fuzzer,address"]), .define("DEBUG")] : []
if isFuzzed {
    package.targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/CLibFuzzer"),
        .executableTarget(
            name: "Fuzz", dependencies: ["CLibFuzzer", "FuzzTargets"], path: "Tests/Fuzz",
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
    ]
}

// script/check optimizes most of the library in a debug build: assertions stay, and released pages are overwritten. Its builds can choose
// the size of pages at run time. The linker of a debug build expects an object file for each source file. The compiler writes these files
// only if it has several threads. See decision 0026.
let isCheck = Context.environment["CAMBIUM_CHECKS"] != nil
let checks: [SwiftSetting] = isCheck ? [.define("CAMBIUM_CHECKS")] : []
if isCheck {
    package.targets.append(
        .executableTarget(
            name: "Attacks",
            dependencies: ["Cambium", "CambiumBytes", "CambiumJSON", "CambiumLog", "CambiumModel", "CambiumTesting", "FuzzTargets"],
            path: "Tests/Attacks"))
}
let optimizedTargets = [
    "CambiumBytes", "CambiumJSON", "CambiumModel", "CambiumGraph", "CambiumProofs", "CambiumLog", "CambiumExchange", "CambiumStore",
    "CambiumEdits", "CambiumRecords", "CambiumOperations", "Cambium",
]
func optimized(_ target: String) -> [SwiftSetting] {
    let flags = ["-O", "-assert-config", "Debug"]
    // The reference model of the tests is optimized file by file, on all cores.
    if isCheck, target == "CambiumTesting" { return [.unsafeFlags(flags)] }
    return isCheck && optimizedTargets.contains(target) ? [.unsafeFlags(flags + ["-whole-module-optimization", "-num-threads", "2"])] : []
}

// The module file of Cambium stays the same if a module that it exports changes. So SwiftPM would not compile the targets again that depend
// only on Cambium. They depend on the exported modules, too.
for target in package.targets {
    let names = target.dependencies.compactMap { if case .byNameItem(let name, _) = $0 { name } else { nil } }
    if names.contains("Cambium") { target.dependencies += exported.filter { !names.contains($0) }.map { .target(name: $0) } }
}

for target in package.targets where [.regular, .executable, .test, .macro].contains(target.type) {
    if ["CMachine", "CSimdJSON", "CRE2", "CLineEditor"].contains(target.name) {
        if isCheck { target.cSettings = [.define("CAMBIUM_CHECKS"), .unsafeFlags(["-O2"])] }
        if isCheck { target.cxxSettings = [.unsafeFlags(["-O2"])] }
        if isFuzzed { target.cSettings = [.unsafeFlags(["-fsanitize=fuzzer-no-link,address"])] }
        if isFuzzed { target.cxxSettings = [.unsafeFlags(["-fsanitize=fuzzer-no-link,address"])] }
        continue
    }
    target.swiftSettings =
        [
            .swiftLanguageMode(.v6),
            .enableUpcomingFeature("ExistentialAny"),
            .treatAllWarnings(as: .error),
        ] + checks + (target.type == .macro ? [] : counted) + optimized(target.name)
}
