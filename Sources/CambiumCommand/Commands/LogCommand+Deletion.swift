import Cambium

extension LogCommand {
    /// Reports the transaction that deleted the object of `--object` if no op names the object as one to delete.
    ///
    /// The graphs of earlier moments show which transaction it was. An object is never created again after its deletion, so a binary search
    /// needs few of these graphs.
    func reportUnnamedDeletion(_ log: TransactionLog, _ object: String, _ reading: Reading) {
        // The list of transactions is complete without this report. So the command ignores a moment that cannot be read. A command that
        // shows this moment reports the error.
        guard let entry = try? unnamedDeletion(log, reading), reading.range.contains(entry) else { return }
        if let actor = selection.actor, entry.metadata.actor != actor { return }
        Terminal.error("cambium: Transaction \(entry.number) deleted \(object) by a delete rule or a migration.")
    }

    /// Returns the transaction that deleted the object. Returns `nil` if the object exists, or if an op names its deletion.
    private func unnamedDeletion(_ log: TransactionLog, _ reading: Reading) throws -> TransactionLog.Entry? {
        guard let id = reading.object, !reading.isDeletionNamed else { return nil }
        // If no transaction names the object, a retired transaction created it, and it exists after the last retired transaction.
        guard let start = reading.firstNaming.map({ $0.rawValue - 1 }) ?? reading.reportedRetired?.rawValue else { return nil }
        let last = try ReadOnlyStore(at: store, point: selection.at == nil ? .latest : reading.range.to).graph
        if last.contains(id) { return nil }
        // After the transaction `deletion`, the object does not exist. After `existing`, it exists, or has not been created yet.
        var (existing, deletion) = (start, last.transaction.rawValue)
        while existing + 1 < deletion {
            let middle = existing + (deletion - existing) / 2
            let point = Point.transaction(TransactionNumber(rawValue: middle))
            if try ReadOnlyStore(at: store, point: point).graph.contains(id) { existing = middle } else { deletion = middle }
        }
        return try log.entry(TransactionNumber(rawValue: deletion))
    }
}
