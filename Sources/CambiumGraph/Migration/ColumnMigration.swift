import CambiumModel

/// The old column from which a column of a new layout gets its values, and the way in which these values are changed.
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
    /// The value that replaces null in objects of `filledEntities`. Stubs keep null, because only their identity is known.
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
            guard before.type.converts(to: attribute.type) else {
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
        if let attribute {
            // Only entities that have or had the attribute are examined, because the hierarchy may have many more entities.
            let has = new.entity(attribute.entity)?.family ?? []
            let had = before.flatMap { old.entity($0.entity)?.family } ?? []
            let isTightened = before.map { $0.isOptional && !attribute.isOptional } ?? true
            cleared = had.subtracting(has).filter { new.entity($0) != nil }
            filled = has.filter { old.entity($0) != nil && (isTightened || !had.contains($0)) }
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
