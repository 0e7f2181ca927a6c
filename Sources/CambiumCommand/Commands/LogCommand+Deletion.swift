import Cambium

extension LogCommand {
    /// Reports the transaction that deleted the object of `--object` if no op names the object as one to delete.
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
        var history = HistorySelection(object: id)
        if selection.at != nil, case .transaction(let last) = reading.range.to { history.last = last }
        var deletion: TransactionNumber?
        try AuditTrail(of: store).history(history) { entry in
            if case .deleted = entry.change { deletion = entry.transaction }
            return false
        }
        return try deletion.flatMap { try log.entry($0) }
    }
}
