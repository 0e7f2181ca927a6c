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

    private let names: [[UInt8]]
    private let targets: [Target]
    private var expected = 0

    init(_ keys: [(name: String, target: Target)]) {
        names = keys.map { Array($0.name.utf8) }
        targets = keys.map(\.target)
    }

    /// Nil for a key that is none of the entity's.
    mutating func target(of key: UnsafeRawBufferPointer) -> Target? {
        var index = expected
        for _ in names.indices {
            if index >= names.count { index = 0 }
            if ByteSearch.equals(names[index], key) {
                expected = index + 1
                return targets[index]
            }
            index += 1
        }
        return nil
    }
}
