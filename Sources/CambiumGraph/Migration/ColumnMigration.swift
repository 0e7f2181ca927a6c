import CambiumModel

/// The old column from which a column of a new layout gets its values, and the changes of these values.
struct ColumnMigration {
    struct Conversion {
        let slot: Int
        let from: AttributeType
        let to: AttributeType
    }

    /// The old column whose pages become the pages of the new column.
    let keptSlot: Int?
    /// The old column whose values are converted.
    let conversion: Conversion?
    /// The value that replaces null in objects of `filledEntities`. Stubs keep null.
    let filler: StoredCell?
    let filledEntities: Set<EntityNumber>
    /// The entities whose objects no longer have the attribute.
    let clearedEntities: Set<EntityNumber>
    /// The entity to store for all objects if the new table has a column for entities and the old table had none. Before the migration, all
    /// objects of the table had this entity.
    let onlyEntity: EntityNumber?

    init(
        _ role: ColumnRole, _ slot: Int?, _ table: TableLayout, from old: Schema, to new: Schema
    ) throws(CambiumError) {
        guard case .attribute(let number) = role else {
            keptSlot = slot
            conversion = nil
            filler = nil
            (filledEntities, clearedEntities) = ([], [])
            onlyEntity = role == .entity && slot == nil ? table.root?.number : nil
            return
        }
        onlyEntity = nil
        let root = table.root?.number ?? EntityNumber(rawValue: 0)
        let attribute = new.attribute(number, ofRoot: root)
        let before = old.attribute(number, ofRoot: root)
        if let slot, let attribute, let before, before.type != attribute.type {
            guard before.type.widens(to: attribute.type) else {
                throw CambiumError(
                    .invalidInput,
                    "'\(attribute.name)' cannot change its type from \(before.type.rawValue) to \(attribute.type.rawValue). Declare a new "
                        + "attribute, and copy the values.")
            }
            keptSlot = nil
            conversion = Conversion(slot: slot, from: before.type, to: attribute.type)
        } else {
            keptSlot = slot
            conversion = nil
        }
        var (filled, cleared): (Set<EntityNumber>, Set<EntityNumber>) = ([], [])
        for number in table.entities {
            guard let entity = new.entity(number), let oldEntity = old.entity(number), let attribute else { continue }
            let had = oldEntity.attribute(attribute.number)
            let has = entity.attribute(attribute.number)
            if had != nil, has == nil { cleared.insert(number) }
            let isTightened = had.map { $0.isOptional && !attribute.isOptional } ?? true
            if has != nil, isTightened { filled.insert(number) }
        }
        clearedEntities = cleared
        if let attribute, !attribute.defaultValue.isNull, !filled.isEmpty {
            filler = try StoredCell(attribute.defaultValue, attribute)
            filledEntities = filled
        } else {
            filler = nil
            filledEntities = []
        }
    }

    /// Whether the values stay unchanged.
    var isUntouched: Bool { keptSlot != nil && filler == nil && clearedEntities.isEmpty }
}

extension Schema {
    /// Returns the attribute with a number in the hierarchy of a root entity.
    func attribute(_ number: PropertyNumber, ofRoot root: EntityNumber) -> Attribute? {
        for entity in entities where entity.root == root {
            if let found = entity.attribute(number) { return found }
        }
        return nil
    }
}
