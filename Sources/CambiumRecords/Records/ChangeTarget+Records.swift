/// The parts of a target that only records need.
extension ChangeTarget {
    func binding<Record: EntityRecord>(_ type: Record.Type) throws -> RecordBinding {
        if let binding = try transaction?.binding(type) { return binding }
        return try original.binding(type, for: .edit)
    }

    var isEdit: Bool { edit != nil }

    /// The lineage of the edit; `nil` for a transaction.
    var lineage: EditLineage? { edit?.lineage }

    /// Returns the origin of the refs of records that a save writes: with a new moment of the transaction or of the edit.
    mutating func origin() -> RefOrigin {
        if let outcome = transaction?.sharedOutcome() {
            let moment = outcome.withJournal { $0.beginSave() }
            return RefOrigin(storeKey: original.storeKey, read: .transaction(outcome, at: moment))
        }
        return RefOrigin(storeKey: original.storeKey, read: lineage.map { .edit(EditMoment(savingIn: $0), nil) })
    }

    /// Whether the target is the edit that inserted an object. The edit may have deleted the object.
    func hasInserted(_ id: ObjectID) -> Bool { id.isProvisional && edit?.knownEntity(of: id) != nil }

    /// Whether the target is an edit whose base lacks the object, although the object's id is permanent.
    func lacksInBase(_ id: ObjectID) -> Bool { !id.isProvisional && edit.map { $0.knownEntity(of: id) == nil } == true }

    /// Tracks the later changes of the transaction to an object whose record was saved. Does nothing in an edit.
    func watch(_ id: ObjectID) { transaction?.currentOutcome()?.withJournal { $0.watch(id) } }

    /// The object that reports to refs of inserted objects whether the transaction was committed. `nil` for an edit, or if no ref needs
    /// this object yet.
    var outcome: TransactionOutcome? { transaction?.currentOutcome() }

    /// Returns the outcome object of the transaction for an object that the transaction inserted. Returns `nil` for any other object.
    mutating func outcome(of id: ObjectID, isNew: Bool) -> TransactionOutcome? {
        guard edit == nil, isNew || !original.contains(id) else { return nil }
        return transaction?.sharedOutcome()
    }
}

extension WriteTransaction {
    // A property of a type that cannot be copied can be read through an optional only by a method.
    fileprivate func currentOutcome() -> TransactionOutcome? { outcome }

    /// Returns the object that reports to refs of inserted objects whether the transaction was committed. Creates the object at the first
    /// call.
    mutating func sharedOutcome() -> TransactionOutcome {
        let outcome = outcome ?? TransactionOutcome(draft.original)
        self.outcome = outcome
        return outcome
    }
}
