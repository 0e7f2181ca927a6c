package import CambiumModel

/// The checks that linking, unlinking and moving have in common: the objects and the relationship must fit each other.
extension Draft {
    /// Returns the ends of a link that an op names. Throws the errors of `linkEnds`.
    func resolve(
        _ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID
    ) throws(CambiumError) -> (EndLayout, ObjectPlace, ObjectPlace) {
        let owner = try livePlace(id)
        let row = try livePlace(target)
        guard let entity = entity(at: owner), let relationship = entity.relationship(property) else {
            throw CambiumError(.invalidInput, "\(text(of: id)) has no relationship with the number \(property.rawValue).")
        }
        try check(row, target, for: relationship, of: text(of: id))
        return (layout.end(relationship), owner, row)
    }

    /// Throws `.invalidInput` if the relationship cannot hold the object at `place`, because of the object's entity.
    private func check(
        _ place: ObjectPlace, _ target: ObjectID, for relationship: Relationship, of owner: @autoclosure () -> String
    ) throws(CambiumError) {
        let number = entity(at: place)?.number
        if number == relationship.destination { return }
        if let number, let family = schema.entity(relationship.destination)?.family, family.contains(number) { return }
        let wanted = schema.entity(relationship.destination)?.name ?? ""
        throw CambiumError(
            .invalidInput,
            "'\(relationship.name)' of \(owner()) holds objects of '\(wanted)', but \(text(of: target)) has another entity. "
                + "Pass an object of '\(wanted)'.")
    }

    /// Returns the ends of a link that a caller requests: the relationship in this schema, and the places of both objects.
    ///
    /// - Throws: `.notFound` for a missing object. `.invalidInput` if the entity of the object does not have the relationship, or the
    ///   relationship cannot hold the target.
    package func linkEnds(
        _ id: ObjectID, _ relationship: Relationship, _ target: ObjectID
    ) throws(CambiumError) -> LinkEnds {
        let owner = try livePlace(id)
        let row = try livePlace(target)
        // The caller may have the relationship from another schema that equals the draft's schema, such as the schema with which the store
        // was made.
        guard let own = entity(at: owner)?.relationship(relationship.number), own === relationship || own.isNamed(as: relationship) else {
            let name = "\(text(of: id)) has no relationship '\(relationship.name)'"
            throw CambiumError(.invalidInput, "\(name). Look the relationship up in the store's schema.")
        }
        try check(row, target, for: own, of: text(of: id))
        return LinkEnds(relationship: own, owner: owner, target: row)
    }

    /// Checks the links that a caller requests for a new object, and returns them. Throws the errors of `linkEnds`. Also throws
    /// `.invalidInput` for several targets of a to-one relationship.
    package func linkTargets(
        _ links: KeyValuePairs<String, [ObjectID]>, of entity: Entity
    ) throws(CambiumError) -> [(Relationship, ObjectID)] {
        var found: [(Relationship, ObjectID)] = []
        for (name, targets) in links {
            let relationship = try entity.requiredRelationship(name)
            if !relationship.isToMany, targets.count > 1 {
                throw CambiumError(
                    .invalidInput, "'\(entity.name).\(name)' leads to one object, but \(targets.count) objects were given. Give one object."
                )
            }
            for target in targets {
                try check(try livePlace(target), target, for: relationship, of: "the new '\(entity.name)'")
                found.append((relationship, target))
            }
        }
        return found
    }

    /// Returns whether two objects are linked.
    package func isLinked(_ ends: LinkEnds) -> Bool {
        reader.isLinked(layout.end(ends.relationship), owner: ends.owner.row, target: ends.target.row)
    }

    package func memberCount(_ ends: LinkEnds) -> Int {
        reader.memberCount(layout.end(ends.relationship), owner: ends.owner.row)
    }
}

/// The two ends of a link that a caller wants to create or remove, both checked.
package struct LinkEnds {
    package let relationship: Relationship
    let owner: ObjectPlace
    let target: ObjectPlace
}

extension Relationship {
    /// Returns whether a relationship of another schema corresponds to this relationship.
    fileprivate func isNamed(as other: Relationship) -> Bool { name == other.name && number == other.number && root == other.root }
}
