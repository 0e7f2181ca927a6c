extension PropertyForm {
    /// Whether two declarations of one property agree. They may differ in whether a relationship is ordered, because it is sufficient that
    /// one record type states the order.
    func isSame(as other: PropertyForm) -> Bool {
        switch (self, other) {
        case (.attribute(let left, let leftOptional, let leftAllowed), .attribute(let right, let rightOptional, let rightAllowed)):
            left == right && leftOptional == rightOptional && leftAllowed == rightAllowed
        case (.relationship(let left, let leftCount, let leftOptional), .relationship(let right, let rightCount, let rightOptional)):
            left.recordDescription.entity == right.recordDescription.entity && leftOptional == rightOptional
                && (leftCount == .toOne) == (rightCount == .toOne)
        default: false
        }
    }

    /// Whether a record of a sub-entity can read the property that has this name in an entity. As in any record, the declared type may be
    /// another whole-number type, may be optional or not, and may ignore the order of members. A relationship may lead to a sub-entity or
    /// an ancestor of the destination.
    ///
    /// - Parameter areRelated: Returns whether two entities are the same, or one is an ancestor of the other.
    func canRead(_ name: String, of entity: EntityDefinition, _ areRelated: (String, String) -> Bool) -> Bool {
        switch self {
        case .attribute(let type, _, _): return entity.attributes.contains { $0.name == name && type.canRead($0.type) }
        case .relationship(let target, let cardinality, _):
            guard let found = entity.relationships.first(where: { $0.name == name }),
                areRelated(target.recordDescription.entity, found.destination)
            else { return false }
            let stored = found.cardinality
            return (stored == .toOne) == (cardinality == .toOne) && (stored == .orderedToMany || cardinality != .orderedToMany)
        }
    }
}
