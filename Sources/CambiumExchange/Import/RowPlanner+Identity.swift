import CambiumGraph
internal import CambiumJSON
import CambiumModel

/// Finds the objects that rows describe or refer to.
extension RowPlanner {
    /// Finds the object with the identity values in the row. Returns `.new` if there is no such object.
    ///
    /// - Parameter owners: The objects to which the relationships of the identity lead; `nil` if it has no relationships.
    func target(
        _ entity: ImportEntity, _ values: RowBatch.Span, _ owners: Owners?, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) -> RowPlan.Target {
        if let owners { return try ownedTarget(entity, values, owners, batch, draft) }
        if entity.keyAttribute != .max {
            return find(try part(Int(entity.keyAttribute), entity, values, batch), entity, batch, draft)
        }
        guard !entity.identity.isEmpty else { return .new }
        var parts: [RowBatch.Value] = []
        for index in entity.identity { parts.append(try part(index, entity, values, batch)) }
        return find(parts[...], [], entity, batch, draft)
    }

    /// Returns the entity of the object that a part of the row describes, if the reader assumed an ancestor of this entity. Returns `nil`
    /// if the reader assumed the right entity, or if there is no such object yet.
    func subEntity(of read: RowBatch.Object, _ batch: borrowing RowBatch, _ draft: borrowing Draft) -> EntityNumber? {
        let entity = entities[read.entity].counted
        // A missing identity finds no object. The caller then reports the failure of the reader.
        guard let target = knownTarget(read, entity, batch, draft),
            let number = self.entity(of: target, entity, draft), number != entity.number
        else { return nil }
        return entity.entity.family.contains(number) ? number : nil
    }

    /// Returns the entity of an object that an identity of `entity` finds. Returns `nil` for a new object.
    func entity(of target: RowPlan.Target, _ entity: ImportEntity, _ draft: borrowing Draft) -> EntityNumber? {
        switch target {
        case .existing(let row), .skipped(let row): ImportWriter.entity(draft, entity.table, row)
        case .alias(let other): plan.objects[other].entity
        case .new: nil
        }
    }

    /// Returns the message about an identity that an object of another entity has. It names the object and the values.
    func taken(
        _ target: RowPlan.Target, _ entity: ImportEntity, by number: EntityNumber, _ values: RowBatch.Span, _ batch: borrowing RowBatch,
        _ draft: borrowing Draft
    ) -> String {
        let name = entities[number].counted.entity.name
        var object = "an object of '\(name)' in the same row"
        if case .existing(let row) = target { object = "\(name)/\(ImportWriter.id(draft, entity.table, row).serial)" }
        var parts: [String] = []
        for index in entity.identity {
            for place in values.range where batch.values[place].attribute == index {
                let form: StoredForm? = batch.withCell(batch.values[place]) { cell in
                    switch cell.kind {
                    case .null: nil
                    case .fixed: .fixed(cell.low, cell.high)
                    case .bytes: .bytes([UInt8](cell.bytes))
                    }
                }
                let value = form.flatMap { Value(stored: $0, type: entity.attributes[index].type) }
                var writer = JSONWriter()
                value?.write(to: &writer)
                parts.append("'\(entity.attributes[index].name)' \(Excerpt.plain(writer.text))")
            }
        }
        let identity = parts.joined(separator: ", ")
        return "\(object) already has the identity \(identity), and '\(name)' is not '\(entity.entity.name)' or a sub-entity of it"
    }

    func part(
        _ index: Int, _ entity: ImportEntity, _ values: RowBatch.Span, _ batch: borrowing RowBatch
    ) throws(RowFailure) -> RowBatch.Value {
        var fault = "missing"
        for place in values.range where batch.values[place].attribute == index {
            if batch.values[place].isGiven { return batch.values[place] }
            fault = "null"
        }
        throw failure(.missingIdentity, batch, "\(entity.described(identity: index)) is \(fault), but it is part of the identity")
    }

    /// Looks up an object by an identity of one value: first in the draft, and then among the objects that this row creates.
    func find(
        _ part: RowBatch.Value, _ entity: ImportEntity, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) -> RowPlan.Target {
        if let keys = entity.table.keyPlace,
            let row = batch.withCell(part, { ImportWriter.row(draft, keys, $0, hash: batch.hash(of: part)) })
        {
            return .existing(row)
        }
        if let scanned = entity.scanned,
            let row = batch.withCell(part, { scanned.row([$0.key(entity.attributes[Int(part.attribute)].type)], draft) })
        {
            return .existing(row)
        }
        if !hasNewObjects || !newObjects.mayHave(entity.identityKey, hash: batch.hash(of: part)) { return .new }
        return find([part], [], entity, batch, draft)
    }

    private func find(
        _ parts: ArraySlice<RowBatch.Value>, _ cells: [Cell], _ entity: ImportEntity, _ batch: borrowing RowBatch,
        _ draft: borrowing Draft
    ) -> RowPlan.Target {
        guard let part = parts.first else {
            if cells.count > 1, let row = ImportWriter.row(draft, entity.table, identity: cells) ?? entity.scanned?.row(cells, draft) {
                return .existing(row)
            }
            return newObject(entity, cells, batch).map { .alias($0) } ?? .new
        }
        if !hasNewObjects, cells.isEmpty, parts.count == 1 { return .new }
        return batch.withCell(part) {
            find(parts.dropFirst(), cells + [$0.key(entity.attributes[Int(part.attribute)].type)], entity, batch, draft)
        }
    }
}
