import CambiumModel

/// The ends of links whose objects are owned by the objects at the other end.
extension GraphLayout {
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
