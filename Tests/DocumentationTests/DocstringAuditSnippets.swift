import Cambium

/// The examples of the docstrings about histories and blame, word for word. The code is compiled only.
enum DocstringAuditSnippets {
    static func printHistory(_ note: ObjectID) throws {
        let trail = AuditTrail(of: "notes")
        for entry in try trail.history(of: note) { print(entry.transaction, entry.author.actor ?? "-", entry.change) }
    }

    static func printLimitedHistory(_ trail: AuditTrail, _ note: ObjectID) throws {
        for entry in try trail.history(of: note, limit: 10) { print(entry.time, entry.author.actor ?? "-", entry.change) }
    }

    static func printValues(_ trail: AuditTrail, _ note: ObjectID) throws {
        for entry in try trail.history(of: note) {
            guard case .attribute(let value) = entry.change else { continue }
            print(entry.time, entry.author.actor ?? "-", value.name, value.before.text, value.after.text)
        }
    }

    static func printObject(_ entry: HistoryEntry) {
        if let object = entry.object { print(object.name, object.id) }
    }

    static func select(_ trail: AuditTrail) throws {
        var selection = HistorySelection(entity: "Item", actor: "jane")
        selection.condition = "price > 10"
        try trail.history(selection) { entry in
            print(entry.transaction, entry.change)
            return true
        }
    }

    static func check(_ trail: AuditTrail, _ note: ObjectID) throws {
        let check = try trail.checkHistory(of: note)
        print(check.isComplete, check.first, check.last, check.gaps)
    }

    static func blame(_ store: Store, _ trail: AuditTrail, _ note: ObjectID) throws {
        for row in try store.audit().blame(of: note) { print(row.property, row.transaction ?? .none, row.author?.actor ?? "-") }
        for row in try trail.blame(of: note) { print(row.property, row.author?.actor ?? "-", row.source?.name ?? "") }
    }

    static func ignore(_ trail: AuditTrail, _ note: ObjectID) throws {
        let rows = try trail.blame(of: note) { $0.author.actor == "formatter" }
        for row in rows { print(row.property, row.transaction ?? .none) }
    }

    // MARK: Transactions

    static func printTransaction(_ trail: AuditTrail) throws {
        let step = try trail.transaction(TransactionNumber(rawValue: 42))
        print(step.entry.time, step.changes.count)
    }

    static func printTransactions(_ trail: AuditTrail) throws {
        var transactions = try trail.transactions()
        while let step = try transactions.next() { print(step.entry.number, step.changes.count) }
    }

    static func printObjects(_ trail: AuditTrail) throws {
        var transactions = try trail.transactions(from: TransactionNumber(rawValue: 100))
        while let step = try transactions.next() {
            for object in step.changes { print(step.entry.number, object.kind, object.id) }
        }
    }

    static func resume(_ trail: AuditTrail, _ stored: inout TransactionNumber) throws {
        var transactions = try trail.transactions(from: TransactionNumber(rawValue: stored.rawValue + 1))
        while let step = try transactions.next() { stored = step.entry.number }
    }

    static func reportRetired(_ trail: AuditTrail) throws {
        do {
            _ = try trail.transactions(from: TransactionNumber(rawValue: 3))
        } catch let error as CambiumError {
            if let retired = error.underlying as? RetiredTransactions { print("gone, the oldest is", retired.oldest) }
        }
    }

    static func search(_ trail: AuditTrail) throws {
        if let found = try trail.firstTransaction(where: "price > 10", entity: "Item") {
            print(found.step.entry.number, found.step.entry.author.actor ?? "-", found.objects)
        }
    }
}
