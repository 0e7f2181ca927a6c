import CambiumModel

/// The old columns from which a column of a new layout gets its values, and the way in which these values are changed.
struct ColumnMigration {
    struct Conversion {
        let slot: Int
        let from: AttributeType
        let to: AttributeType
        /// The entities of the objects whose values are moved from another attribute; `nil` if the attribute is the same.
        var entities: Set<EntityNumber>?
    }

    /// The old column whose pages become the pages of the new column.
    let keptSlot: Int?
    /// The old columns whose values are converted, or moved to this column. An object has at most one of these values.
    let conversions: [Conversion]
    /// The value that replaces null in objects of `filledEntities`. Stubs keep null, because only their identity is known.
    let filler: StoredCell?
    let filledEntities: Set<EntityNumber>
    /// The entities whose objects no longer have the attribute.
    let clearedEntities: Set<EntityNumber>
    /// If the new table has a column for entities and the old table had none: the entity that is stored for all objects. If the new schema
    /// has a parent above an old root: the entities that get another number.
    let entities: Entities?

    enum Entities {
        case only(EntityNumber)
        case renumbered([EntityNumber: EntityNumber])
    }

    /// - Parameter slots: The columns of the old table by their roles.
    init(
        _ role: ColumnRole, _ oldRole: ColumnRole?, _ slots: [ColumnRole: Int], _ table: TableLayout, _ succession: SchemaSuccession
    ) throws(CambiumError) {
        let slot = oldRole.flatMap { slots[$0] }
        let root = table.root?.number ?? EntityNumber(rawValue: 0)
        guard case .attribute(let number) = role, let attribute = succession.new.attribute(number, ofRoot: root) else {
            keptSlot = slot
            conversions = []
            filler = nil
            (filledEntities, clearedEntities) = ([], [])
            let renumbered = succession.renumbered.filter { $0.key == root }
            if role != .entity {
                entities = nil
            } else if slot == nil {
                entities = .only(renumbered[root] ?? root)
            } else {
                entities = renumbered.isEmpty ? nil : .renumbered(renumbered)
            }
            return
        }
        entities = nil
        let before = succession.old.attribute(number, ofRoot: root)
        let isConverted = before.map { $0.type != attribute.type } ?? false
        if let before, isConverted {
            guard before.type.converts(to: attribute.type) else {
                throw CambiumError(
                    .invalidInput,
                    "'\(attribute.name)' cannot change its type from \(before.type.rawValue) to \(attribute.type.rawValue). Declare a new "
                        + "attribute, and copy the values.")
            }
        }
        var moves: [Conversion] = []
        var (filled, cleared): (Set<EntityNumber>, Set<EntityNumber>) = ([], [])
        // Only entities that have or had the attribute are examined, because the hierarchy may have many more entities.
        for entity in succession.new.entity(attribute.entity)?.family ?? [] {
            guard let entity = succession.new.entity(entity), succession.entity(before: entity.number) != nil else { continue }
            let source = succession.source(of: attribute, in: entity)
            if source.map({ $0.isOptional && !attribute.isOptional }) ?? true { filled.insert(entity.number) }
            guard let source, source.number != number, let slot = slots[.attribute(source.number)] else { continue }
            if let place = moves.firstIndex(where: { $0.slot == slot }) {
                moves[place].entities?.insert(entity.number)
            } else {
                moves.append(Conversion(slot: slot, from: source.type, to: attribute.type, entities: [entity.number]))
            }
        }
        for entity in before.flatMap({ succession.old.entity($0.entity)?.family }) ?? [] {
            guard let after = succession.entity(after: entity), after.attribute(number) == nil else { continue }
            cleared.insert(after.number)
        }
        if let slot, let before, isConverted || !moves.isEmpty {
            // Values of other columns are added, so that the pages of the old column cannot stay as they are.
            conversions = [Conversion(slot: slot, from: before.type, to: attribute.type)] + moves
            keptSlot = nil
        } else {
            conversions = moves
            keptSlot = slot
        }
        clearedEntities = cleared
        if !attribute.defaultValue.isNull, !filled.isEmpty {
            filler = try StoredCell(attribute.defaultValue, attribute)
            filledEntities = filled
        } else {
            filler = nil
            filledEntities = []
        }
    }

    /// Whether the values stay unchanged.
    var isUntouched: Bool {
        keptSlot != nil && conversions.isEmpty && filler == nil && clearedEntities.isEmpty && entities == nil
    }
}
