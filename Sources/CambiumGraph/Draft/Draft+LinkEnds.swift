package import CambiumModel

/// The checks that every link, unlink and move shares, whichever call they come by.
extension Draft {
    /// The ends of a link that an op names. Throws as `linkEnds`.
    func resolve(
        _ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID
    ) throws(CambiumError) -> (EndLayout, ObjectPlace, ObjectPlace) {
        let owner = try livePlace(id)
        let row = try livePlace(target)
        guard let entity = entity(at: owner), let relationship = entity.relationship(property) else {
            throw CambiumError(.invalidInput, "\(text(of: id)) has no relationship with the number \(property.rawValue).")
        }
        try check(row, target, for: relationship, of: id)
        return (layout.end(relationship), owner, row)
    }

    /// Throws `.invalidInput` if a relationship cannot hold an object.
    private func check(
        _ place: ObjectPlace, _ target: ObjectID, for relationship: Relationship, of id: ObjectID
    ) throws(CambiumError) {
        let number = entity(at: place)?.number
        if number == relationship.destination { return }
        if let number, let family = schema.entity(relationship.destination)?.family, family.contains(number) { return }
        let wanted = schema.entity(relationship.destination)?.name ?? ""
        throw CambiumError(
            .invalidInput, "'\(relationship.name)' of \(text(of: id)) holds objects of '\(wanted)', and \(text(of: target)) is not one.")
    }

    /// The ends of a link that a caller names: the relationship as this schema has it, and where both objects are.
    ///
    /// Throws `.notFound` for a missing object, `.invalidInput` for a relationship that the object's entity does not have
    /// and for a target that the relationship cannot hold.
    package func linkEnds(
        _ id: ObjectID, _ relationship: Relationship, _ target: ObjectID
    ) throws(CambiumError) -> LinkEnds {
        let owner = try livePlace(id)
        let row = try livePlace(target)
        // The handle may be of an equal schema, such as the one that the store was made with.
        guard let own = entity(at: owner)?.relationship(relationship.number), own === relationship || own.isNamed(as: relationship) else {
            throw CambiumError(.invalidInput, "\(text(of: id)) has no relationship '\(relationship.name)'.")
        }
        try check(row, target, for: own, of: id)
        return LinkEnds(relationship: own, owner: owner, target: row)
    }

    /// Whether two objects are linked.
    package func isLinked(_ ends: LinkEnds) -> Bool {
        reader.isLinked(layout.end(ends.relationship), owner: ends.owner.row, target: ends.target.row)
    }

    package func memberCount(_ ends: LinkEnds) -> Int {
        reader.memberCount(layout.end(ends.relationship), owner: ends.owner.row)
    }
}

/// What a caller wants to link or to take apart, with both ends checked.
package struct LinkEnds {
    package let relationship: Relationship
    let owner: ObjectPlace
    let target: ObjectPlace
}

extension Relationship {
    /// Whether a relationship of another schema is this one.
    fileprivate func isNamed(as other: Relationship) -> Bool { name == other.name && number == other.number && root == other.root }
}
