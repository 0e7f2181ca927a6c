internal import CambiumModel

extension ReferenceGraph {
    /// Returns the key under which `members` stores the members of a relationship.
    func side(_ relationship: Relationship) -> Side { Side(link: relationship.link, end: relationship.end) }

    /// Returns the side of the inverse relationship. A relationship that is its own inverse has only one side, so that side is its own
    /// opposite.
    func opposite(_ side: Side) -> Side {
        schema.links[side.link].isSymmetric ? side : Side(link: side.link, end: 1 - side.end)
    }

    func end(_ side: Side) -> Link.End {
        let link = schema.links[side.link]
        return side.end == 0 ? link.first : link.second
    }

    func list(_ side: Side, _ owner: ObjectID) -> [ObjectID] { members[side]?[owner] ?? [] }

    // MARK: Ops

    mutating func link(_ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID, _ index: Int?) throws(CambiumError) {
        let relationship = try resolve(id, property, target)
        if let index, index < 0 || index > list(side(relationship), id).count {
            throw CambiumError(.invalidInput, "Index \(index) is out of range for the relationship.")
        }
        connect(relationship, id, target, at: index)
    }

    mutating func unlink(_ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID) throws(CambiumError) {
        disconnect(side(try resolve(id, property, target)), id, target)
    }

    mutating func move(_ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID, _ index: Int) throws(CambiumError) {
        let relationship = try resolve(id, property, target)
        guard index >= 0 else { throw CambiumError(.invalidInput, "Index \(index) is negative. An index must be 0 or more.") }
        guard relationship.isOrdered, list(side(relationship), id).contains(target) else {
            throw CambiumError(.notFound, "\(text(target)) is not a member of the ordered relationship.")
        }
        place(relationship, id, target, at: index)
    }

    private func resolve(
        _ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID
    ) throws(CambiumError) -> Relationship {
        let owner = try live(id)
        let other = try live(target)
        guard let relationship = owner.entity.relationship(property),
            schema.entity(relationship.destination)?.family.contains(other.entity.number) == true
        else { throw CambiumError(.invalidInput, "\(text(id)) has no such relationship to \(text(target)).") }
        return relationship
    }

    // MARK: Both sides of a link

    /// Links two objects. A to-one relationship at either end loses its previous member.
    mutating func connect(_ relationship: Relationship, _ owner: ObjectID, _ target: ObjectID, at index: Int? = nil) {
        let here = side(relationship)
        let there = opposite(here)
        if list(here, owner).contains(target) {
            if let index, relationship.isOrdered { place(relationship, owner, target, at: index) }
            return
        }
        if !end(here).isToMany { for old in list(here, owner) { disconnect(here, owner, old) } }
        if !end(there).isToMany { for old in list(there, target) { disconnect(there, target, old) } }
        members[here, default: [:]][owner, default: []].insert(
            target, at: relationship.isOrdered ? index ?? list(here, owner).count : list(here, owner).count)
        if here != there || owner != target { members[there, default: [:]][target, default: []].append(owner) }
        track(here, owner)
        track(there, target)
    }

    /// Removes a link if it exists.
    ///
    /// - Parameter isNoted: Whether a commit must check the rules of the two objects because of this change.
    mutating func disconnect(_ here: Side, _ owner: ObjectID, _ target: ObjectID, isNoted: Bool = true) {
        guard list(here, owner).contains(target) else { return }
        let there = opposite(here)
        members[here]?[owner]?.removeAll { $0 == target }
        members[there]?[target]?.removeAll { $0 == owner }
        if members[here]?[owner]?.isEmpty == true { members[here]?[owner] = nil }
        if members[there]?[target]?.isEmpty == true { members[there]?[target] = nil }
        losses.formUnion([Loss(side: here, object: owner), Loss(side: there, object: target)])
        guard isNoted else { return }
        track(here, owner)
        track(there, target)
    }

    /// Moves a member. After the move, the index of the member is `index`, or the last index if `index` is greater.
    private mutating func place(_ relationship: Relationship, _ owner: ObjectID, _ target: ObjectID, at index: Int) {
        var all = list(side(relationship), owner)
        all.removeAll { $0 == target }
        all.insert(target, at: min(index, all.count))
        members[side(relationship)]?[owner] = all
        track(side(relationship), owner)
    }

    /// Records that the number of an object's members has changed. If the schema limits this number, a commit checks the object.
    mutating func track(_ side: Side, _ id: ObjectID) {
        guard let property = end(side).property else { return }
        let isBounded = schema.entities.contains { entity in
            guard entity.root == id.root, let relationship = entity.relationship(property) else { return false }
            return relationship.minCount > 0 || (relationship.isToMany && relationship.maxCount != nil)
        }
        if isBounded { noted.insert(id) }
    }
}
