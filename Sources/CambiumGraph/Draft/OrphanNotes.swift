import CambiumModel

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

    /// Returns, for each end of each link, whether the objects at this end are owned by the objects at the other end. Returns an empty
    /// array if no end is owned.
    ///
    /// - Parameter claim: Returns the strength with which a relationship makes its objects the owners of its members; 0 if it does not. Of
    ///   a relationship and its inverse, the stronger one decides. If both are equally strong, neither object owns the other.
    static func ownedEnds(of schema: Schema, _ claim: (Relationship) -> Int) -> [Bool] {
        var owned = [Bool](repeating: false, count: 2 * schema.links.count)
        for (number, link) in schema.links.enumerated() {
            let claims = [link.first, link.second].map { end in
                end.property.flatMap { schema.relationship($0, ofRoot: end.root) }.map(claim) ?? 0
            }
            owned[2 * number] = claims[1] > claims[0]
            owned[2 * number + 1] = claims[0] > claims[1]
        }
        return owned.contains(true) ? owned : []
    }
}
