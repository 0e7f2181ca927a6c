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
    /// The blocks that are full.
    private var blocks: [LinkBlock] = []
    private let memberCountMax: Int

    /// The maximum number of members in one list of a block. This number is half of the limit that a reader of a log sets.
    static let memberCountMax = 1 << 23

    init(relationship: Relationship, kind: Kind, memberCountMax: Int = Self.memberCountMax) {
        self.relationship = relationship
        self.kind = kind
        self.memberCountMax = memberCountMax
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

    /// Adds a list that is too long for one block. The blocks put `members` at the end of an ordered list, in this order. A member that is
    /// already in the list moves to the end.
    ///
    /// Each block keeps all current members, so no block unlinks a member that a later block contains. Otherwise, a replay would record a
    /// change of this member, and the member would lose its position in the ordered list at the other end.
    mutating func addLast(_ serial: UInt64, _ members: ArraySlice<UInt64>) {
        addParts(members) { $0.addOrdered(serial, kept: Int(UInt32.max), suffix: $1) }
    }

    mutating func addUnordered(_ serial: UInt64, _ removedSerials: [UInt64], _ addedSerials: [UInt64]) {
        if max(removedSerials.count, addedSerials.count) > memberCountMax {
            addParts(removedSerials[...]) { $0.addUnordered(serial, Array($1), []) }
            return addParts(addedSerials[...]) { $0.addUnordered(serial, [], Array($1)) }
        }
        serials.append(serial)
        removedCounts.append(UInt32(removedSerials.count))
        removed.append(contentsOf: removedSerials)
        addedCounts.append(UInt32(addedSerials.count))
        added.append(contentsOf: addedSerials)
    }

    /// Adds the members of an object that had no members yet. Does nothing if the object still has no members.
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
        if added.count - start > memberCountMax {
            let members = Array(added[start...])
            added.removeSubrange(start...)
            return addUnordered(serial, [], members)
        }
        serials.append(serial)
        removedCounts.append(0)
        addedCounts.append(UInt32(added.count - start))
    }

    /// Divides a list that is too long for one block into parts. Adds each part to a separate block.
    private mutating func addParts(_ list: ArraySlice<UInt64>, _ add: (inout Self, ArraySlice<UInt64>) -> Void) {
        finishBlock()
        for start in stride(from: list.startIndex, to: list.endIndex, by: memberCountMax) {
            add(&self, list[start..<min(start + memberCountMax, list.endIndex)])
            finishBlock()
        }
    }

    /// Returns the blocks that are full, in order.
    mutating func takeFull() -> [LinkBlock] {
        let memberCount = max(removed.count, added.count)
        if serials.count >= BlockBuilder.objectCountMax || memberCount >= 8 * BlockBuilder.objectCountMax { finishBlock() }
        defer { blocks = [] }
        return blocks
    }

    /// Returns all remaining blocks, in order.
    mutating func take() -> [LinkBlock] {
        finishBlock()
        return takeFull()
    }

    private mutating func finishBlock() {
        guard serials.count > 0 else { return }
        let content: LinkBlock.Content =
            switch kind {
            case .toOne: .toOne(targets)
            case .ordered: .ordered(keptCounts: removedCounts, suffixCounts: addedCounts, suffixes: added)
            case .unordered:
                .unordered(removedCounts: removedCounts, removed: removed, addedCounts: addedCounts, added: added)
            }
        blocks.append(LinkBlock(root: relationship.root, property: relationship.number, serials: serials, content: content))
        serials = SerialRuns()
        (targets, removedCounts, removed, addedCounts, added) = ([], [], [], [], [])
    }
}
