import Cambium

/// The examples of the docstrings about undo, word for word. The code is compiled only.
enum DocstringUndoSnippets {
    static func printConflicts(_ store: Store) throws {
        let conflicts = try store.previewUndo(.transaction(TransactionNumber(rawValue: 41))) { preview in preview.conflicts }
        for conflict in conflicts { print(conflict) }
    }

    static func selectActor(_ store: Store) throws {
        try store.undo(.actor("importer", since: .label("monday")), author: Author(actor: "jane"))
    }

    static func skip(_ store: Store, _ number: TransactionNumber) throws {
        try store.undo(.transaction(number), policy: .skip)
    }

    static func printConflictsOfError(_ store: Store, _ number: TransactionNumber) throws {
        do {
            try store.undo(.transaction(number))
        } catch let error as CambiumError where error.code == .conflict {
            for conflict in (error.underlying as? UndoConflicts)?.conflicts ?? [] { print(conflict) }
        }
    }

    static func redo(_ store: Store) throws {
        let undo = try store.undo(.transaction(TransactionNumber(rawValue: 41)))
        if let number = undo.receipt.transaction { try store.undo(.transaction(number)) }  // redo
    }

    static func countChanges(_ store: Store) throws -> Int {
        let count = try store.previewUndo(.request("import-7")) { preview in preview.changes.count }
        return count
    }

    static func undo(_ store: Store) throws -> UndoReceipt {
        let undo = try store.undo(.transaction(TransactionNumber(rawValue: 41)), author: Author(actor: "jane"))
        return undo
    }

    static func revert(_ store: Store, _ note: ObjectID) throws {
        try store.revert(note, to: .label("monday"), author: Author(actor: "jane"))
    }
}
