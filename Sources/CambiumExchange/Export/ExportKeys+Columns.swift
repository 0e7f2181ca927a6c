import CambiumGraph
import CambiumModel

extension ExportKeys.Key {
    /// Throws `.invalidInput` if the columns of another entity's key cannot contain what this key contains. Both keys have the same name,
    /// and the export includes the relationships with this name. An included to-one relationship has a column for each property of its
    /// destination.
    ///
    /// - Parameters:
    ///   - first: the key that determines the columns.
    ///   - member: the entity of this key.
    func checkColumns(of first: ExportKeys.Key, _ member: Entity, _ schema: Schema) throws(CambiumError) {
        let (one, other) = (first.toOne, toOne)
        if one == nil, other == nil { return }
        if let one, let other, schema.entity(one.destination)?.family.contains(other.destination) == true { return }
        throw CambiumError(
            .invalidInput,
            "CSV cannot include '\(name)', because '\(member.name)' and another sub-entity have different properties with this name. "
                + "Do not include '\(name)', export the sub-entities one by one, or write JSON.")
    }

    /// The to-one relationship of the key, or `nil` if the key is an attribute or a to-many relationship.
    private var toOne: Relationship? {
        guard case .end(let relationship, _) = content, !relationship.isToMany else { return nil }
        return relationship
    }
}
