import CambiumGraph
import CambiumModel

extension ImportReport {
    /// Adds the rows of a batch, whether or not the batch is committed: the number of rows, their errors, their unknown keys, and the id of
    /// each row's object. If the batch failed at a row, the number includes that row.
    ///
    /// The numbers of inserted, changed and deleted objects are not included. After a commit, `addObjects(of:)` adds them.
    package mutating func addRows(of batch: ImportBatch) {
        rowCount = batch.lastRow
        for (key, count) in batch.unknownKeys.counts { track(unknownKey: key, count) }
        unknownKeysLeftOut += batch.unknownKeys.leftOut
        for error in batch.errors {
            if errors.count < Self.errorCountMax { errors.append(error) } else { errorsLeftOut += 1 }
        }
        errorsLeftOut += batch.errorsLeftOut
        rowObjects += batch.rowObjects
    }

    /// Adds the counts of the objects that a batch inserted, changed, deleted or left unchanged.
    package mutating func addObjects(of batch: ImportBatch) {
        var totals: [EntityNumber: Counts] = [:]
        for (number, count) in batch.deleted { totals[number, default: .init()].deleted += count }
        for (number, net) in batch.counts {
            totals[number, default: .init()].add(net)
            totals[number, default: .init()].repeated += batch.repeated[number] ?? 0
        }
        for (number, added) in totals {
            entities[batch.input.schema.entity(number)?.name ?? "", default: .init()].add(added)
            if batch.input.entity.family.contains(number) { counts.add(added) }
        }
    }

    /// Returns the first `length` code points of `text`, a text of the input. A report contains only this part of a long text.
    static func cut(_ text: String, _ length: Int) -> String {
        if text.utf8.count <= length { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(length)))
    }

    private mutating func track(unknownKey key: String, _ count: Int) {
        if unknownKeys[key] == nil, unknownKeys.count >= Self.unknownKeyCountMax {
            unknownKeysLeftOut += count
        } else {
            unknownKeys[key, default: 0] += count
        }
    }
}

extension ImportReport.Counts {
    fileprivate mutating func add(_ net: NetCounts) {
        inserted += net.inserted
        updated += net.updated
        unchanged += net.unchanged
        stubs += net.stubs
    }

    fileprivate mutating func add(_ other: ImportReport.Counts) {
        inserted += other.inserted
        updated += other.updated
        unchanged += other.unchanged
        deleted += other.deleted
        stubs += other.stubs
        repeated += other.repeated
    }
}
