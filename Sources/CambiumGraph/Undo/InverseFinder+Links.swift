import CambiumModel

extension InverseFinder {
    /// A link, identified by the serials of the objects at its two ends. An event at either end has the same key.
    struct LinkKey: Hashable {
        let link: Int
        let first: UInt64
        let second: UInt64

        init(_ relationship: Relationship, _ id: ObjectID, _ target: ObjectID, isSymmetric: Bool) {
            link = relationship.link
            let ends = relationship.end == 0 ? (id.serial, target.serial) : (target.serial, id.serial)
            (first, second) = isSymmetric && ends.0 > ends.1 ? (ends.1, ends.0) : ends
        }
    }

    /// Finds the inverse of the link changes that an object reports: an object that exists before and after the transactions, or that they
    /// deleted. The links of an inserted object go with the object.
    mutating func restoreLinks(of change: ObjectChange) {
        let relationships = change.relationships
        if relationships.isEmpty { return }
        // The object itself is reported if it cannot come back, or no longer exists.
        guard revived.contains(change.id) || (now.contains(change.id) && (change.kind == .changed || forces)) else { return }
        for links in relationships {
            guard let own = now.schema.relationship(links.relationship.number, ofRoot: links.relationship.root) else {
                trackMembers(change.id, links.relationship)
                continue
            }
            for target in links.removed where isNew(links.relationship, change.id, target) { restore(change.id, own, target) }
            if change.kind == .changed {
                for target in links.added where !dying.contains(target) && isNew(links.relationship, change.id, target) {
                    remove(change.id, own, target)
                }
            }
            if own.isOrdered { restoreOrder(own, links, of: change) }
        }
    }

    private mutating func isNew(_ relationship: Relationship, _ id: ObjectID, _ target: ObjectID) -> Bool {
        let isSymmetric = after.schema.links[relationship.link].isSymmetric
        return seenLinks.insert(LinkKey(relationship, id, target, isSymmetric: isSymmetric)).inserted
    }

    /// Plans to link two objects again. An object that exists again, and is reported for it, keeps its present links.
    private mutating func restore(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) {
        let exists = revived.contains(target) || now.contains(target)
        if !exists { track(.object(target), left: .present, now: .absent) }
        if !exists || (returned.contains(target) && !forces) {
            if !relationship.isToMany, !revived.contains(id) { trackOtherTarget(of: id, relationship) }
            return
        }
        if !isAsLeft(id, relationship, target, isLinked: false), !forces { return }
        inverse.linked.append(.init(id: id, property: relationship.number, target: target))
    }

    /// Plans to unlink two objects. An inserted object that the undo keeps, because it was changed, keeps its links, too.
    private mutating func remove(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) {
        if !changes.before.contains(target) {
            if !relationship.isToMany { trackOtherTarget(of: id, relationship) }
            return
        }
        guard now.contains(target) else { return trackMembers(id, relationship) }
        if !isAsLeft(id, relationship, target, isLinked: true), !forces { return }
        if now.isLinked(id, relationship, target) {
            inverse.unlinked.append(.init(id: id, property: relationship.number, target: target))
        }
    }

    /// Returns whether a link, and the to-one relationships that contain it, are as the transactions left them. Records a conflict if not.
    private mutating func isAsLeft(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, isLinked: Bool) -> Bool {
        var isAsLeft = true
        let inverse = relationship.inverse.flatMap { now.schema.relationship($0, ofRoot: relationship.destinationRoot) }
        for (end, own) in [(id, relationship), (target, inverse)] {
            // An object that comes back has no links yet.
            guard let own, !own.isToMany, !revived.contains(end) else { continue }
            if trackOtherTarget(of: end, own) { isAsLeft = false }
        }
        let hasOnlyLists = relationship.isToMany && inverse?.isToMany ?? true
        if !hasOnlyLists || revived.contains(id) || revived.contains(target) || now.isLinked(id, relationship, target) == isLinked {
            return isAsLeft
        }
        // Both ends contain the link. The first one reports it.
        let isFirst = inverse.map { $0 === relationship ? id <= target : relationship.end == 0 } ?? true
        if let inverse, !isFirst { trackMembers(target, inverse) } else { trackMembers(id, relationship) }
        return false
    }

    /// Records a conflict if a to-one relationship leads to another object than the transactions left. Returns whether it does.
    @discardableResult
    private mutating func trackOtherTarget(of id: ObjectID, _ relationship: Relationship) -> Bool {
        if members(relationship, of: id, in: after) == members(relationship, of: id, in: now) { return false }
        trackMembers(id, relationship)
        return true
    }

    private func members(_ relationship: Relationship, of id: ObjectID, in graph: Graph) -> [ObjectID] {
        graph.schema.relationship(relationship.number, ofRoot: relationship.root).flatMap { graph.members($0, of: id) } ?? []
    }

    // MARK: Orders

    private mutating func restoreOrder(_ relationship: Relationship, _ links: RelationshipChange, of change: ObjectChange) {
        let former = links.before
        let left = change.kind == .deleted ? [] : links.after
        let (formerIDs, leftIDs) = (Set(former), Set(left))
        let isMoved = former.filter(leftIDs.contains) != left.filter(formerIDs.contains)
        let returning = formerIDs.subtracting(leftIDs)
        if !isMoved, returning.isEmpty { return }
        if isMoved {
            let present = members(relationship, of: change.id, in: now)
            let presentIDs = Set(present)
            if left.filter(presentIDs.contains) != present.filter(leftIDs.contains) {
                trackMembers(change.id, relationship)
                if !forces { return }
            }
        }
        inverse.orders.append(
            MemberArrangement(id: change.id, relationship: relationship, former: former, returning: returning, isMoved: isMoved))
    }

    // MARK: Deletions

    /// Plans to unlink the members of deleted objects that existed before the transactions, so that no delete rule reaches them.
    mutating func unlinkMembers() {
        let reaches = { (relationship: Relationship) in relationship.deleteRule == .cascade || relationship.deleteRule == .deny }
        if !now.schema.entities.contains(where: { $0.relationships.contains(where: reaches) }) { return }
        var rules: [EntityNumber: [Relationship]] = [:]
        for id in inverse.deleted {
            guard let entity = now.entity(of: id) else { continue }
            let reaching = rules[entity.number] ?? entity.relationships.filter(reaches)
            rules[entity.number] = reaching
            for relationship in reaching {
                for member in now.members(relationship, of: id) ?? [] where !dying.contains(member) && isLeft(id, relationship, member) {
                    inverse.unlinked.append(.init(id: id, property: relationship.number, target: member))
                }
            }
        }
    }

    /// Returns whether the transactions left two objects linked.
    private func isLeft(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) -> Bool {
        guard let own = after.schema.relationship(relationship.number, ofRoot: relationship.root) else { return false }
        return after.isLinked(id, own, target)
    }
}
