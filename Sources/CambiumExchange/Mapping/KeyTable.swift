internal import CambiumBytes

/// Finds the property for each key in a row. Most rows have the same keys in the same order, so the search begins after the last key that
/// was found.
struct KeyTable {
    enum Target: Hashable {
        case attribute(Int)
        case relationship(Int)
        /// A key of a mapping, as an index into `ResolvedMapping.keys`.
        case mapped(Int)
    }

    /// The names, concatenated.
    private let bytes: [UInt8]
    /// The offset of each name, and the end of the last name.
    private let bounds: [Int]
    private let targets: [Target]
    private var expected = 0

    init(_ keys: [(name: String, target: Target)]) {
        bytes = keys.flatMap { Array($0.name.utf8) }
        var bounds = [0]
        for key in keys { bounds.append(bounds[bounds.count - 1] + key.name.utf8.count) }
        self.bounds = bounds
        targets = keys.map(\.target)
    }

    /// Returns the target of a key; `nil` if the table does not contain the key.
    mutating func target(of key: UnsafeRawBufferPointer) -> Target? {
        var index = expected
        for _ in targets.indices {
            if index >= targets.count { index = 0 }
            let (start, end) = (bounds[index], bounds[index + 1])
            if end - start == key.count,
                bytes.withUnsafeBytes({ ByteSearch.equals(UnsafeRawBufferPointer(rebasing: $0[start..<end]), key) })
            {
                expected = index + 1
                return targets[index]
            }
            index += 1
        }
        return nil
    }
}
