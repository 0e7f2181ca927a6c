/// The objects that lost an owner in a transaction. At the end of the transaction, those without any owner are deleted.
struct OrphanNotes {
    struct Loss: Hashable {
        /// The number of the object's end of the link, in the order of `GraphLayout.ends`.
        let end: Int
        let serial: UInt64
    }

    /// For each end: whether an object at this end is deleted if it loses its last owner.
    let ownedEnds: [Bool]
    private(set) var losses: [Loss] = []

    /// Returns `nil` if no objects are deleted in this way.
    init?(_ ownedEnds: [Bool]) {
        if ownedEnds.isEmpty { return nil }
        self.ownedEnds = ownedEnds
    }

    var count: Int { losses.count }

    mutating func add(_ end: Int, serial: UInt64) { losses.append(Loss(end: end, serial: serial)) }

    mutating func forget(after count: Int) { losses.removeLast(losses.count - count) }

    mutating func take() -> [Loss] {
        defer { losses = [] }
        return losses
    }
}
