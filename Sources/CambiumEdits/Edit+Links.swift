import CambiumGraph
public import CambiumModel

/// Linking objects by the names of relationships. The methods mirror the methods of `WriteTransaction`, and throw the same errors.
extension Edit {
    package mutating func link(
        _ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, at index: Int? = nil
    ) throws(CambiumError) {
        let relationship = try linkable(id, relationship, target)
        // The result depends on the places of the members, and on whether the target is one of them.
        if relationship.isOrdered { trackRead(relationship, of: id) }
        if let index { try check(index, relationship, of: id) }
        let isLinked = isRawLinked(id, relationship, target)
        group { edit in
            if isLinked, let index {
                edit.relocate(target, in: relationship, of: id, to: index)
            } else if isLinked {
                edit.state(id, relationship, target, isMember: true)
            } else {
                edit.connect(id, relationship, target, at: index)
            }
        }
    }

    /// Links two objects. A to-one relationship loses its previous target. In an ordered relationship, the target is inserted at `index`,
    /// or at the end if `index` is `nil`. If the objects are already linked, the target moves to `index`; without an `index`, nothing
    /// changes.
    ///
    /// Throws `.notFound` for a missing object, and `.unknownName` for a relationship that the object's entity does not have. Throws
    /// `.invalidInput` for a target that the relationship cannot hold, and for an index that is negative or greater than the number of
    /// members. After an error, nothing is changed. Complexity: O(1) expected, O(members) for an ordered relationship.
    public mutating func link(_ id: ObjectID, _ relationship: String, _ target: ObjectID, at index: Int? = nil) throws(CambiumError) {
        try link(id, try requiredEntity(of: id).requiredRelationship(relationship), target, at: index)
    }

    package mutating func unlink(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) throws(CambiumError) {
        let relationship = try linkable(id, relationship, target)
        if relationship.isOrdered { trackRead(relationship, of: id) }
        let isLinked = isRawLinked(id, relationship, target)
        group { edit in
            if isLinked { edit.disconnect(id, relationship, target) } else { edit.state(id, relationship, target, isMember: false) }
        }
    }

    /// Removes a link. Unlinking objects that are not linked does not count as a change. Throws as `link(_:_:_:at:)` does.
    public mutating func unlink(_ id: ObjectID, _ relationship: String, _ target: ObjectID) throws(CambiumError) {
        try unlink(id, try requiredEntity(of: id).requiredRelationship(relationship), target)
    }

    package mutating func move(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, to index: Int) throws(CambiumError) {
        let relationship = try linkable(id, relationship, target)
        trackRead(relationship, of: id)
        let members = currentMembers(relationship, of: id)
        try relationship.checkMove(to: index, count: members.count)
        guard members.contains(target) else {
            throw CambiumError(
                .notFound, "\(text(of: target)) is not a member of '\(relationship.name)'. Link the object before you move it.")
        }
        group { $0.relocate(target, in: relationship, of: id, to: index) }
    }

    /// Moves a member of an ordered relationship. `index` is the member's index after the move.
    ///
    /// Throws as `link(_:_:_:at:)` does. Also throws `.notFound` for a target that is not a member.
    public mutating func move(_ id: ObjectID, _ relationship: String, _ target: ObjectID, to index: Int) throws(CambiumError) {
        try move(id, try requiredEntity(of: id).requiredRelationship(relationship), target, to: index)
    }

    // MARK: Checks

    /// Returns the relationship in this edit's schema. Throws if the object does not have the relationship, or if the relationship cannot
    /// hold the target.
    private func linkable(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) throws(CambiumError) -> Relationship {
        let entity = try requiredEntity(of: id)
        _ = try requiredEntity(of: target)
        guard let own = entity.relationship(relationship.number), own == relationship else {
            throw CambiumError(
                .invalidInput,
                "\(text(of: id)) has no relationship '\(relationship.name)'. Look the relationship up in the edit's schema.")
        }
        try check(target, for: own, of: text(of: id))
        return own
    }

    /// Throws `.notFound` for a missing target, and `.invalidInput` for a target that the relationship cannot hold.
    func check(_ target: ObjectID, for relationship: Relationship, of owner: @autoclosure () -> String) throws(CambiumError) {
        let entity = try requiredEntity(of: target)
        try schema.check(entity.number, text(of: target), for: relationship, of: owner())
    }

    private func check(_ index: Int, _ relationship: Relationship, of id: ObjectID) throws(CambiumError) {
        try relationship.checkOrder()
        let count = currentMembers(relationship, of: id).count
        guard index >= 0, index <= count else {
            throw CambiumError(.invalidInput, "Index \(index) is out of range for '\(relationship.name)'. Use 0 to \(count).")
        }
    }

    // MARK: Both ends

    /// Records that two objects are linked, or not linked, as the caller requests and as the edit shows already. An ordered relationship
    /// cannot record one member, so its inverse records the link.
    private mutating func state(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, isMember: Bool) {
        let inverse = inverse(relationship)
        let ends = [(id, relationship, target)] + (inverse.map { [(target, $0, id)] } ?? [])
        if isMember, let end = ends.first(where: { !$0.1.isToMany }) { return setTarget(end.2, end.1, of: end.0) }
        if let end = ends.first(where: { $0.1.isToMany && !$0.1.isOrdered }) {
            return setMember(end.2, isMember: isMember, end.1, of: end.0)
        }
        for (id, relationship, _) in ends { trackRead(relationship, of: id) }
    }

    /// Links two objects that are not linked yet. A to-one relationship loses its previous object, and so does a to-one inverse. Call this
    /// method only inside `group`, which combines these changes into one step of undo.
    mutating func connect(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, at index: Int?) {
        let inverse = inverse(relationship)
        if !relationship.isToMany { clear(relationship, of: id) }
        if let inverse, !inverse.isToMany { clear(inverse, of: target) }
        addEnd(id, relationship, target, at: index)
        if let inverse, !(relationship.isOwnInverse && id == target) { addEnd(target, inverse, id, at: nil) }
    }

    /// Removes the target of a to-one relationship. Does nothing if the edit has deleted the target, so that the delete rules of the target
    /// still apply to the link at the commit.
    private mutating func clear(_ relationship: Relationship, of id: ObjectID) {
        guard let target = rawMembers(relationship, of: id).first, !isDeleted(target) else { return }
        disconnect(id, relationship, target)
    }

    private mutating func disconnect(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) {
        removeEnd(id, relationship, target)
        if let inverse = inverse(relationship), !(relationship.isOwnInverse && id == target) { removeEnd(target, inverse, id) }
    }

    private mutating func addEnd(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, at index: Int?) {
        if !relationship.isToMany { return setTarget(target, relationship, of: id) }
        if !relationship.isOrdered { return setMember(target, isMember: true, relationship, of: id) }
        if index == nil, let place = collectedPlace(relationship, of: id) {
            listChanges?.append(target, to: place)
            return
        }
        var list = currentMembers(relationship, of: id)
        list.insert(target, at: min(index ?? list.count, list.count))
        setList(list, relationship, of: id)
    }

    private mutating func removeEnd(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) {
        if !relationship.isToMany { return setTarget(nil, relationship, of: id) }
        if !relationship.isOrdered { return setMember(target, isMember: false, relationship, of: id) }
        if let place = collectedPlace(relationship, of: id) {
            listChanges?.remove(target, from: place)
            return
        }
        setList(currentMembers(relationship, of: id).filter { $0 != target }, relationship, of: id)
    }

    private mutating func relocate(_ target: ObjectID, in relationship: Relationship, of id: ObjectID, to index: Int) {
        let present = currentMembers(relationship, of: id)
        var list = present.filter { $0 != target }
        list.insert(target, at: min(index, list.count))
        // `present` omits the members that the edit deletes. If no member moves, the list keeps them, so that the write is not a change.
        setList(list == present ? rawMembers(relationship, of: id) : list, relationship, of: id)
    }

    /// Puts the members of an ordered relationship into the order of `members`. Complexity: O(members).
    package mutating func reorder(_ id: ObjectID, _ relationship: Relationship, _ members: [ObjectID]) {
        group { $0.setList(members, relationship, of: id) }
    }

    // MARK: Batches

    /// Returns the key of an ordered relationship in `listChanges`, and begins to collect the changes of the relationship there. Returns
    /// `nil` outside of a batch.
    private mutating func collectedPlace(_ relationship: Relationship, of id: ObjectID) -> EditPlace? {
        let place = EditPlace(id, relationship.number)
        guard let isCollected = listChanges?.contains(place) else { return nil }
        if !isCollected {
            let members = currentMembers(relationship, of: id)
            listChanges?.begin(place, relationship, members)
        }
        return place
    }

    /// Writes the changes of ordered relationships that a batch has collected in `listChanges`, and stops collecting.
    mutating func writeLists() {
        let collected = listChanges?.all ?? []
        listChanges = nil
        for (place, change) in collected { setList(change.members, change.relationship, of: place.id) }
    }

    // MARK: One end

    private mutating func setTarget(_ target: ObjectID?, _ relationship: Relationship, of id: ObjectID) {
        let before = overlay[id]?.targets[relationship.number]
        let original = originalMembers(relationship, of: id).first
        // An inserted object has no links in any graph, so the lack of one need not be stated.
        let after = id.isProvisional && target == nil ? nil : EditTargetID(target)
        if before == after { return }
        let isChange = (before.map(\.id) ?? original) != target
        write(.target(EditPlace(id, relationship.number), before: before, after: after), isChange: isChange)
    }

    private mutating func setList(_ list: [ObjectID], _ relationship: Relationship, of id: ObjectID) {
        // `list` already includes the changes that the batch has collected for this relationship.
        listChanges?.forget(EditPlace(id, relationship.number))
        trackRead(relationship, of: id)
        let before = overlay[id]?.lists[relationship.number]
        let after = id.isProvisional && list.isEmpty ? nil : list
        if before == after { return }
        let isChange = (before ?? originalMembers(relationship, of: id)) != list
        write(.list(EditPlace(id, relationship.number), before: before, after: after), isChange: isChange)
    }

    private mutating func setMember(_ target: ObjectID, isMember: Bool, _ relationship: Relationship, of id: ObjectID) {
        let before = overlay[id]?.differences[relationship.number]?[target]
        let wasLinked = isOriginallyLinked(id, relationship, target)
        // No graph has a link of an inserted object, so the lack of one need not be stated.
        let after: Bool? = !isMember && (id.isProvisional || target.isProvisional) ? nil : isMember
        if before == after { return }
        let isChange = (before ?? wasLinked) != isMember
        write(.member(EditPlace(id, relationship.number), target, before: before, after: after), isChange: isChange)
    }
}

extension Relationship {
    /// Whether the relationship is its own inverse, such as `friends`.
    fileprivate var isOwnInverse: Bool { inverse == number && destinationRoot == root }
}
