internal import CambiumBytes

/// What the keys of an entity's objects lead to. Rows mostly have the same keys in the same order, so the search goes on
/// behind the key that was found last.
struct KeyTable {
    enum Target: Hashable {
        case attribute(Int)
        case relationship(Int)
        /// A key of a mapping.
        case mapped(Int)
    }

    /// The names, one behind the other.
    private let bytes: [UInt8]
    /// Where each name begins, and where the last one ends.
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

    /// Nil for a key that is none of the entity's.
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
