package import CambiumModel

/// Counts the objects and values that a migration would affect.
extension Graph {
    /// Counts objects of some entities of a hierarchy. `present` is the number of objects with a value of the attribute. `missing` is the
    /// number of objects without a value, except stubs, of which only the identity is known.
    ///
    /// Complexity: O(objects of the hierarchy).
    package func valueCount(
        of attribute: Attribute, in entities: Set<EntityNumber>
    ) -> (present: Int, missing: Int) {
        guard let table = layout.table(of: attribute.root), table.hasSlot(for: attribute.number, attribute.schemaName) else {
            return (0, 0)
        }
        let rows = reader.rows(table.index)
        let slot = table.slot(of: attribute.number)
        let isWhole = table.entities.allSatisfy(entities.contains)
        var (present, missing) = (0, 0)
        reader.forEachRow(of: table) { row in
            guard isWhole || entities.contains(rows.entity(row, table)) else { return }
            if !rows.isNull(row, slot, table.columns[slot]) { present += 1 } else if !rows.isStub(row) { missing += 1 }
        }
        return (present, missing)
    }

    /// Returns the number of objects of some entities of a hierarchy, except stubs, of which only the identity is known.
    package func fullCount(of root: EntityNumber, in entities: Set<EntityNumber>) -> Int {
        guard let table = layout.table(of: root) else { return 0 }
        let rows = reader.rows(table.index)
        var count = 0
        reader.forEachRow(of: table) { row in
            if entities.contains(rows.entity(row, table)), !rows.isStub(row) { count += 1 }
        }
        return count
    }

    /// Returns the total number of members that the objects of some entities have in a relationship.
    package func memberCount(of relationship: Relationship, in entities: Set<EntityNumber>) -> Int {
        guard let table = layout.table(of: relationship.root) else { return 0 }
        let rows = reader.rows(table.index)
        let end = layout.end(relationship)
        var count = 0
        reader.forEachRow(of: table) { row in
            if entities.contains(rows.entity(row, table)) { count += reader.memberCount(end, owner: row) }
        }
        return count
    }

    /// Returns the number of objects of exactly this entity, without the objects of its sub-entities. Complexity: O(1).
    package func exactCount(of entity: Entity) -> Int {
        layout.table(of: entity.root).map { reader.count(of: entity.number, in: $0) } ?? 0
    }
}
