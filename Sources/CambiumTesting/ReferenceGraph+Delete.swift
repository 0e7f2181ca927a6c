package import CambiumModel

extension ReferenceGraph {
    /// Deletes objects, and every object that a cascade reaches from them. Also removes all links of the deleted objects.
    mutating func delete(_ ids: [ObjectID]) throws(CambiumError) {
        for id in ids { _ = try live(id) }
        let dying = closure(of: ids)
        let before = losses
        for id in dying { reportDenials(of: id) }
        for id in dying { unlinkAll(id) }
        for id in dying {
            objects[id] = nil
            sources[id] = nil
        }
        losses = before
    }

    /// Returns the objects that a transaction must delete at its end: they lost an owner, and no object owns them in this relationship.
    package func orphans() -> [ObjectID] {
        let found = losses.filter { loss in
            let owners = end(opposite(loss.side))
            let rule = owners.property.flatMap { schema.relationship($0, ofRoot: owners.root) }?.orphanRule
            return rule == .delete && objects[loss.object] != nil && list(loss.side, loss.object).isEmpty
        }
        return Set(found.map(\.object)).sorted()
    }

    private func closure(of ids: [ObjectID]) -> Set<ObjectID> {
        var found = Set(ids)
        var pending = ids
        while let id = pending.popLast() {
            for relationship in objects[id]?.entity.relationships ?? [] where relationship.deleteRule == .cascade {
                for member in list(side(relationship), id) where found.insert(member).inserted { pending.append(member) }
            }
        }
        return found
    }

    private mutating func reportDenials(of id: ObjectID) {
        for relationship in objects[id]?.entity.relationships ?? [] where relationship.deleteRule == .deny {
            let members = list(side(relationship), id)
            if members.isEmpty { continue }
            denials.append(Denial(object: text(id), relationship: relationship.name, members: members))
        }
    }

    private mutating func unlinkAll(_ id: ObjectID) {
        for link in schema.links.indices {
            for end in 0...1 where self.end(Side(link: link, end: end)).root == id.root {
                let side = Side(link: link, end: end)
                let relationship = self.end(side).property.flatMap { objects[id]?.entity.relationship($0) }
                let isNoted = relationship?.deleteRule != .noAction
                for member in list(side, id) { disconnect(side, id, member, isNoted: isNoted) }
            }
        }
    }
}
