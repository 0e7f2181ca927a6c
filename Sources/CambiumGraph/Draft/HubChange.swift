/// The changes to a hub's members at one end of a link. A hub is an object with many members, only a few of which the draft touched. All
/// other members stay, in the same order.
struct HubChange {
    struct Member {
        /// The row that is in the list: the member itself, or its edge.
        let row: UInt32
        /// The object at the other end of the link.
        let target: UInt32
    }

    /// A member and its index in the whole list.
    struct Place: Equatable {
        let index: Int
        let target: UInt32
    }

    var before: [Member] = []
    var after: [Member] = []

    var touchedCount: Int { before.count + after.count }
    private var targetsBefore: Set<UInt32> { Set(before.map(\.target)) }
    private var targetsAfter: Set<UInt32> { Set(after.map(\.target)) }

    var removed: Set<UInt32> { targetsBefore.subtracting(targetsAfter) }
    var added: Set<UInt32> { targetsAfter.subtracting(targetsBefore) }
    /// The touched members that were members before the change and still are, possibly at other positions.
    var staying: Set<UInt32> { targetsBefore.intersection(targetsAfter) }
    var changesMembers: Bool { targetsBefore != targetsAfter }
}

extension HubChange {
    /// Returns the touched members, with their positions before and after the change. Both lists are in ascending order of the positions.
    func places(
        _ list: ListLayout, _ reader: Reader, before: Reader
    ) -> (before: [Place], after: [Place]) {
        let places = { (members: [Member], reader: Reader) in
            members.map { Place(index: reader.index(list, of: $0.row), target: $0.target) }.sorted { $0.index < $1.index }
        }
        return (places(self.before, before), places(after, reader))
    }
}

extension EndLayout {
    /// The ordered list of the members at this end, or `nil` if the members have no order.
    var orderedList: ListLayout? {
        switch layout {
        case .pair: nil
        case .list(let list, let childEnd): end != childEnd && list.isOrdered ? list : nil
        case .edges(_, let lists, _): lists[end].isOrdered ? lists[end] : nil
        }
    }
}

/// The limits that make an object a hub: an object with many members, only a few of which the draft touched. The ops for a hub are derived
/// from the touched members only. For any other object, all old members are compared with all new members.
package struct HubLimits: Sendable {
    /// The minimum number of members of a hub: the number before the change plus the number after the change.
    package var memberCountMin = 64
    /// An object is a hub only if it has at least this many members for each touched member.
    package var memberRatio = 8
    /// A block states the new order of a hub by listing the new members from the first changed position on. The block is used only if the
    /// old and new orders together have at most `suffixRatio` members from this position on for each touched member. Otherwise, single ops
    /// state the order.
    package var suffixRatio = 16
    /// The maximum number of members in one list of a block. This maximum applies to hubs and to all other objects.
    package var blockMemberCountMax = LinkBlockBuilder.memberCountMax

    package init() {}
}
