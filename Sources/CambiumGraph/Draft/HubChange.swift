/// The members of one object that were touched, at one end of a link. All others stay, in the order that they had.
struct HubChange {
    struct Member {
        /// In the table of the list's members.
        let row: UInt32
        /// The object at the other end.
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
    /// The touched members that were there and are there: they may stand elsewhere.
    var staying: Set<UInt32> { targetsBefore.intersection(targetsAfter) }
    var changesMembers: Bool { targetsBefore != targetsAfter }
}

extension HubChange {
    /// Where the touched members stood and where they stand, both ascending.
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
    /// The list that keeps the order of this end; `nil` if the end is not ordered.
    var orderedList: ListLayout? {
        switch layout {
        case .pair: nil
        case .list(let list, let childEnd): end != childEnd && list.isOrdered ? list : nil
        case .edges(_, let lists, _): lists[end].isOrdered ? lists[end] : nil
        }
    }
}
