package import CambiumModel

/// What a migration would touch.
extension Graph {
    /// Of the objects of some entities of a hierarchy: how many have a value, and how many have none and are no stubs.
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

    /// Of the objects of some entities of a hierarchy: how many there are that are no stubs.
    package func fullCount(of root: EntityNumber, in entities: Set<EntityNumber>) -> Int {
        guard let table = layout.table(of: root) else { return 0 }
        let rows = reader.rows(table.index)
        var count = 0
        reader.forEachRow(of: table) { row in
            if entities.contains(rows.entity(row, table)), !rows.isStub(row) { count += 1 }
        }
        return count
    }

    /// How many members the objects of some entities have in a relationship, all together.
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

    /// How many objects are of just this entity, and none below it. Complexity: O(1).
    package func exactCount(of entity: Entity) -> Int {
        layout.table(of: entity.root).map { reader.count(of: entity.number, in: $0) } ?? 0
    }
}
