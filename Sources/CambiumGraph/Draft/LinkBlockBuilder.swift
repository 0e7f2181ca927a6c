import CambiumModel

/// Collects the changed members of one relationship until a block is full.
struct LinkBlockBuilder {
    enum Kind { case toOne, unordered, ordered }

    let relationship: Relationship
    let kind: Kind
    private var serials = SerialRuns()
    private var targets: [UInt64] = []
    private var removedCounts: [UInt32] = []
    private var removed: [UInt64] = []
    private var addedCounts: [UInt32] = []
    private var added: [UInt64] = []

    init(relationship: Relationship, kind: Kind) {
        self.relationship = relationship
        self.kind = kind
    }

    mutating func addToOne(_ serial: UInt64, _ target: UInt64) {
        serials.append(serial)
        targets.append(target)
    }

    mutating func addOrdered(_ serial: UInt64, kept: Int, suffix: ArraySlice<UInt64>) {
        serials.append(serial)
        removedCounts.append(UInt32(kept))
        addedCounts.append(UInt32(suffix.count))
        added.append(contentsOf: suffix)
    }

    mutating func addUnordered(_ serial: UInt64, _ removedSerials: [UInt64], _ addedSerials: [UInt64]) {
        serials.append(serial)
        removedCounts.append(UInt32(removedSerials.count))
        removed.append(contentsOf: removedSerials)
        addedCounts.append(UInt32(addedSerials.count))
        added.append(contentsOf: addedSerials)
    }

    /// Adds the members of an object that had no members before. Does nothing if it still has no members.
    ///
    /// - Parameter append: Appends the serials of the members.
    mutating func addUnordered(_ serial: UInt64, _ append: (inout [UInt64]) -> Void) {
        let start = added.count
        append(&added)
        if added.count == start { return }
        added.withUnsafeMutableBufferPointer { added in
            var members = UnsafeMutableBufferPointer(rebasing: added[start...])
            members.sort()
        }
        serials.append(serial)
        removedCounts.append(0)
        addedCounts.append(UInt32(added.count - start))
    }

    mutating func takeFull() -> LinkBlock? {
        serials.count >= BlockBuilder.objectCountMax || added.count >= 8 * BlockBuilder.objectCountMax ? take() : nil
    }

    mutating func take() -> LinkBlock? {
        guard serials.count > 0 else { return nil }
        let content: LinkBlock.Content =
            switch kind {
            case .toOne: .toOne(targets)
            case .ordered: .ordered(keptCounts: removedCounts, suffixCounts: addedCounts, suffixes: added)
            case .unordered:
                .unordered(removedCounts: removedCounts, removed: removed, addedCounts: addedCounts, added: added)
            }
        defer { self = LinkBlockBuilder(relationship: relationship, kind: kind) }
        return LinkBlock(root: relationship.root, property: relationship.number, serials: serials, content: content)
    }
}
