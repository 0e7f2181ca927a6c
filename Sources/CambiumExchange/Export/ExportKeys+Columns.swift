import CambiumGraph
import CambiumModel

extension ExportKeys.Key {
    /// Throws `.invalidInput` if the columns of the key `first` cannot contain the values of this key. The keys have the same name, but
    /// belong to different entities of a hierarchy. The columns of an included to-one relationship are the properties of its destination.
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
