import CambiumGraph
import CambiumModel

/// Finding the objects that rows describe and name.
extension RowPlanner {
    /// Where an object is that is given these values; `.new` where it is nowhere.
    func target(
        _ entity: ImportEntity, _ values: Range<Int>, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) -> RowPlan.Target {
        guard !entity.identity.isEmpty else { return .new }
        if entity.identity.count == 1 {
            return find(try part(entity.identity[0], entity, values, batch), entity, batch, draft)
        }
        var parts: [RowBatch.Value] = []
        for index in entity.identity { parts.append(try part(index, entity, values, batch)) }
        return find(parts[...], [], entity, batch, draft)
    }

    private func part(
        _ index: Int, _ entity: ImportEntity, _ values: Range<Int>, _ batch: borrowing RowBatch
    ) throws(RowFailure) -> RowBatch.Value {
        for place in values {
            let value = batch.values[place]
            if value.attribute == index, value.isGiven { return value }
        }
        throw failure(.missingIdentity, batch, "'\(entity.attributes[index].name)' is part of the identity and is missing")
    }

    /// Looks the one value of an identity up in the draft, then among the objects that this row makes.
    func find(
        _ part: RowBatch.Value, _ entity: ImportEntity, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) -> RowPlan.Target {
        if let row = batch.withCell(part, { draft.row(entity.table, identity: $0, hash: part.hash) }) { return .existing(row) }
        if let scanned = entity.scanned, let row = batch.withCell(part, { scanned.row([$0], draft) }) { return .existing(row) }
        if newObjects.isEmpty { return .new }
        return find([part], [], entity, batch, draft)
    }

    private func find(
        _ parts: ArraySlice<RowBatch.Value>, _ cells: [Cell], _ entity: ImportEntity, _ batch: borrowing RowBatch,
        _ draft: borrowing Draft
    ) -> RowPlan.Target {
        guard let part = parts.first else {
            if cells.count > 1, let row = draft.row(entity.table, identity: cells) ?? entity.scanned?.row(cells, draft) {
                return .existing(row)
            }
            return newObjects.place(entity.entity.root, cells, self, batch).map { .alias($0) } ?? .new
        }
        if newObjects.isEmpty, cells.isEmpty, parts.count == 1 { return .new }
        return batch.withCell(part) { find(parts.dropFirst(), cells + [$0], entity, batch, draft) }
    }
}
