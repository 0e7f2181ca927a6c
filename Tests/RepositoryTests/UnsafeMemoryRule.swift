/// Keeps pointers without bounds in the layers that wrap them. Buffer pointers know their bounds and are allowed everywhere.
struct UnsafeMemoryRule {
    /// The folders with such layers. A target without folders is one layer.
    static let places =
        ["CambiumBytes/", "CambiumJSON/", "CambiumProofs/Hashes/"].map { "Sources/" + $0 }
        + ["Checkpoint/", "Volume/"].map { "Sources/CambiumLog/" + $0 }
        + ["Pages/", "Layout/", "Rows/", "Graph/", "Writer/", "Draft/", "Changes/", "Ordered/", "Query/", "Clone/", "Proof/"]
        .map { "Sources/CambiumGraph/" + $0 }
        + ["Sources/CambiumStore/Sharing/WriterLock.swift", "Sources/CambiumCommand/Prompt/PromptTerminal.swift"]

    static let words = [
        "UnsafeMutableRawPointer", "UnsafeRawPointer", "UnsafePointer", "UnsafeMutablePointer", "withUnsafeTemporaryAllocation",
    ]

    func violations(in file: TextFile) -> [Violation] {
        Self.places.contains { file.path.hasPrefix($0) } ? [] : file.violations(ofWords: Self.words)
    }
}
