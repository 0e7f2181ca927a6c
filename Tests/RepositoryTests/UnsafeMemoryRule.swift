/// Keeps pointers without bounds in the layers that wrap them. Buffer pointers know their bounds and are allowed everywhere.
struct UnsafeMemoryRule {
    static let places = [
        "Sources/CambiumBytes/", "Sources/CambiumJSON/", "Sources/CambiumLog/", "Sources/CambiumGraph/", "Sources/CambiumModel/Regex/",
        "Sources/CambiumProofs/Hashes/",
        "Sources/Cambium/Support/WriterLock.swift",
    ]

    static let words = [
        "UnsafeMutableRawPointer", "UnsafeRawPointer", "UnsafePointer", "UnsafeMutablePointer", "withUnsafeTemporaryAllocation",
    ]

    func violations(in file: TextFile) -> [Violation] {
        Self.places.contains { file.path.hasPrefix($0) } ? [] : file.violations(ofWords: Self.words)
    }
}
