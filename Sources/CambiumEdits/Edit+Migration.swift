import CambiumGraph
import CambiumModel

/// Finds the parts of an edit that a newer graph cannot hold, because a migration removed an entity or a property.
extension Edit {
    /// Returns the entity that an object of the edit has in a newer graph, or that an inserted object would have there. Returns `nil` if
    /// the graph does not have the object or the entity.
    func entity(of id: ObjectID, in theirs: Graph) -> Entity? {
        if !id.isProvisional { return theirs.entity(of: id) }
        return knownEntity(of: id).flatMap { theirs.schema.successor(of: $0) }
    }

    /// Returns whether a newer graph cannot hold a link, because a migration removed the relationship. Returns `false` if the newer graph
    /// lacks one of the two objects.
    func isLost(_ link: EditLink, in theirs: Graph) -> Bool {
        guard let entity = self.entity(of: link.id, in: theirs), let other = self.entity(of: link.target, in: theirs) else { return false }
        let kept = entity.relationship(link.relationship.number)
        let keptInverse = link.inverse.flatMap { other.relationship($0.number) }
        // If the migration only narrowed the destination of the relationship, the link counts as kept, although adding it to the newer
        // graph throws an error.
        if kept != nil, link.inverse == nil || keptInverse != nil { return false }
        func canLead(_ relationship: Relationship?, to entity: Entity) -> Bool {
            relationship.flatMap { theirs.schema.entity($0.destination) }?.family.contains(entity.number) == true
        }
        return !canLead(kept, to: other) && !canLead(keptInverse, to: entity)
    }
}
