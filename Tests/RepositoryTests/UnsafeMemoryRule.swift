/// Pointers without bounds stay in the layers that are there to wrap them; a buffer pointer knows its end and may go anywhere.
struct UnsafeMemoryRule {
    static let places = [
        "Sources/CambiumBytes/", "Sources/CambiumJSON/", "Sources/CambiumLog/", "Sources/CambiumGraph/", "Sources/CambiumModel/Regex/",
        "Sources/Cambium/Store/WriterLock.swift",
    ]

    static let words = [
        "UnsafeMutableRawPointer", "UnsafeRawPointer", "UnsafePointer", "UnsafeMutablePointer", "withUnsafeTemporaryAllocation",
    ]

    func violations(in file: TextFile) -> [Violation] {
        Self.places.contains { file.path.hasPrefix($0) } ? [] : file.violations(ofWords: Self.words)
    }
}
