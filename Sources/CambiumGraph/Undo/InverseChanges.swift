package import CambiumModel

/// The changes that lead back from the state after some transactions to the state before them.
package struct InverseChanges: Sendable {
    /// An object that comes back under its own id.
    package struct Revival: Sendable {
        package let id: ObjectID
        package let entity: EntityNumber
        package let values: [Assignment]
        /// The serial of the object that a clone copied, or 0.
        package let source: UInt64
        package let isStub: Bool
    }

    package struct Link: Sendable {
        package let id: ObjectID
        package let property: PropertyNumber
        package let target: ObjectID
    }

    package struct Mark: Sendable {
        package let id: ObjectID
        package let source: UInt64
        package let isStub: Bool
    }

    package var revivals: [Revival] = []
    package var values: [(id: ObjectID, assignments: [Assignment])] = []
    package var marks: [Mark] = []
    package var unlinked: [Link] = []
    package var linked: [Link] = []
    package var deleted: [ObjectID] = []
    package var orders: [MemberArrangement] = []
    /// The labels with the transactions that they name again; `.none` removes a label.
    package var labels: [(name: String, transaction: TransactionNumber)] = []

    package init() {}
}

/// The order that the members of an ordered relationship had, and that they get again.
package struct MemberArrangement: Sendable {
    package let id: ObjectID
    package let relationship: Relationship
    /// The members in their former order.
    let former: [ObjectID]
    /// The members that come back. The others keep their present order unless `isMoved`.
    let returning: Set<ObjectID>
    /// Whether the members that were present all along have to change their order, too.
    let isMoved: Bool

    /// Returns the order that the present members get. A member that was linked since then stays after the member that precedes it now.
    /// Complexity: O(members).
    package func arranged(_ present: [ObjectID]) -> [ObjectID] {
        let known = Set(present)
        let own = former.filter(known.contains)
        let fixed = isMoved ? own : present.filter { !returning.contains($0) }
        // The members to insert, by the fixed member that they follow; `nil` for those in front of all fixed members.
        var following: [ObjectID?: [ObjectID]] = [:]
        let isFixed = Set(fixed)
        var last: ObjectID?
        for member in isMoved ? present : own {
            if isFixed.contains(member) { last = member } else { following[last, default: []].append(member) }
        }
        return following[nil, default: []] + fixed.flatMap { [$0] + following[$0, default: []] }
    }
}
