import CambiumModel

/// One end of a link, from which the link is followed to the objects at the other end.
final class EndLayout: Sendable {
    let link: Int
    let end: Int
    let layout: LinkLayout

    init(link: Int, end: Int, layout: LinkLayout) {
        self.link = link
        self.end = end
        self.layout = layout
    }

    /// The column of a to-one end that contains the row of the target, and the table of the targets; `nil` for a to-many end.
    var target: (slot: Int, table: Int)? {
        switch layout {
        case .pair(let tables, let slots): (slots[end], tables[1 - end])
        case .list(let list, childEnd: end): (list.ownerSlot, list.ownerTable)
        default: nil
        }
    }

    /// Returns the rows of two linked objects in the order of the link's ends. If the relationship is its own inverse, the lower row comes
    /// first.
    static func pair(_ end: Int, _ isSymmetric: Bool, _ owner: UInt32, _ target: UInt32) -> (UInt32, UInt32) {
        if isSymmetric { return (min(owner, target), max(owner, target)) }
        return end == 0 ? (owner, target) : (target, owner)
    }
}

/// The facts about one end of a link, for the method `trackChange`. The facts are plain values, so a copy changes no reference count,
/// unlike a copy of an `EndLayout`.
struct EndMark: Sendable {
    /// The table of the objects at this end, the owners.
    let table: Int
    let isVisible: Bool
    /// Whether the number of members has a minimum or a maximum.
    let isCounted: Bool
    /// Whether the number of members has a minimum.
    let hasMinimum: Bool
    /// Whether derived attributes of the owners are computed from the members.
    let isDerivedFrom: Bool
}

extension GraphLayout {
    @inline(__always) func end(_ relationship: Relationship) -> EndLayout { end(relationship.link, relationship.end) }
    @inline(__always) func end(_ link: Int, _ end: Int) -> EndLayout { ends[2 &* link &+ end] }

    /// Returns whether a unique set contains the to-one relationship at an end.
    func isIndexed(_ end: EndLayout) -> Bool {
        guard let slot = end.target?.slot else { return false }
        return !tables[startTable(end)].indexesOfSlot[slot].isEmpty
    }

    /// Returns the table of the objects at an end of a link.
    @inline(__always) func startTable(_ end: EndLayout) -> Int {
        let link = schema.links[end.link]
        return tableIndex(ofKnown: end.end == 0 ? link.first.root : link.second.root)
    }

    /// Returns the ends that a walk follows for a relationship. A many-to-many relationship that is its own inverse has two ends, because
    /// an object may be at either end of an edge.
    func walkedEnds(_ relationship: Relationship) -> [EndLayout] {
        let end = self.end(relationship)
        if case .edges(_, _, isSymmetric: true) = end.layout { return [end, opposite(end)] }
        return [end]
    }

    /// Returns the other end of a link. The other end exists even if the schema does not name an inverse relationship.
    func opposite(_ end: EndLayout) -> EndLayout { self.end(end.link, 1 - end.end) }
}
