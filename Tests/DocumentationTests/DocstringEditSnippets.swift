// swift-format-ignore-file: ReplaceForEachWithForLoop

// The map of a clone is not a sequence, so a loop cannot replace `forEach`.
import Cambium

/// The examples of the docstrings about edits, clones and migrations, word for word. The code is compiled only.
enum DocstringEditSnippets {
    static func edit(_ store: Store, _ note: ObjectID) throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        let item = try edit.insert("Item", ["key": "a"], links: ["note": [note]])
        print(try edit.members("items", of: note).count)
        let committed = try store.commit(&edit)
        print(committed.id(of: item))
    }

    static func insert(_ edit: inout Edit, _ note: ObjectID, _ red: ObjectID, _ urgent: ObjectID) throws -> ObjectID {
        let item = try edit.insert("Item", ["name": "tickets"], links: ["note": [note], "tags": [red, urgent]])
        return item
    }

    static func group(_ edit: inout Edit, _ note: ObjectID) throws {
        try edit.group { edit in
            try edit.set(note, "title", to: "Rome")
            try edit.set(note, "rating", to: 4.5)
        }
    }

    static func rebase(_ edit: inout Edit, onto store: Store) throws {
        try edit.rebase(onto: store.graph, policy: .theirs)
    }

    static func track(_ store: Store, _ product: ObjectID, _ order: ObjectID) throws {
        var edit = store.edit(tracking: .writesAndReads)
        let price = try edit[product, "price"]
        try edit.set(order, "total", to: price)
        try store.commit(&edit)  // Throws `.conflict` if the price has changed in the store.
    }

    static func commit(_ edit: inout Edit, _ item: ObjectID, to store: Store) throws {
        let committed = try store.commit(&edit, author: Author(actor: "jane"))
        print(committed.receipt.hasChanges, committed.id(of: item))
    }

    static func commitMine(_ edit: inout Edit, to store: Store) throws -> Receipt {
        let committed = try store.commit(&edit, policy: .mine, author: Author(actor: "jane"))
        return committed.receipt
    }

    static func commit(_ edit: inout Edit, to store: Store) async throws {
        edit = try await store.commit(edit).edit
    }

    static func listConflicts(_ edit: Edit, _ store: Store) {
        for conflict in edit.conflicts(with: store.graph) { print(conflict) }
    }

    static func refuse(_ edit: inout Edit, _ store: Store) throws {
        do {
            try store.commit(&edit)
        } catch let error as CambiumError where error.code == .conflict {
            for conflict in (error.underlying as? EditConflicts)?.conflicts ?? [] { print(conflict) }
        }
    }

    static func resolve(_ edit: inout Edit, _ store: Store) throws {
        try edit.rebase(onto: store.graph, policy: .theirs)
        try store.commit(&edit, policy: .byProperty { $0.concerns(\Note.title) ? .mine : .theirs })
    }

    static func compareTitles(_ edit: Edit, _ store: Store) throws {
        for conflict in edit.conflicts(with: store.graph) {
            guard let titles = try conflict.values(of: \Note.title) else { continue }
            print("was \(titles.base), here \(titles.mine), in the store \(titles.theirs)")
        }
    }

    static func printTitles(_ edit: Edit, _ store: Store) throws {
        for conflict in edit.conflicts(with: store.graph) {
            if let titles = try conflict.values(of: \Note.title) { print(titles.base, titles.mine, titles.theirs) }
        }
    }

    static func resolveByProperty(_ edit: inout Edit, _ store: Store) throws {
        try store.commit(&edit, policy: .byProperty { $0.concerns(\Note.title) ? .mine : .theirs })
    }

    static func preview(_ edit: Edit, _ store: Store) throws -> Int {
        let count = try store.preview(edit) { try $0.count(Query("Note", where: "rating >= 4")) }
        return count
    }

    static func fetch(_ edit: Edit, _ store: Store) throws -> [Note] {
        let notes = try store.preview(edit) { try $0.fetch(RecordQuery<Note> { $0.rating >= 4 }) }
        return notes
    }

    static func listObjects(_ edit: Edit) {
        for object in edit.changes { print(object.kind, edit.name(of: object.id) ?? "", object.attributes.count) }
    }

    static func listRelationships(_ edit: Edit) {
        for object in edit.changes {
            for change in object.relationships { print(change.relationship.name, change.added, change.removed) }
        }
    }

    static func editRecord(_ ref: Ref<Note>, _ store: Store) throws -> EditCommit {
        var edit = store.edit()
        var note = try edit.load(ref)
        note.title = "Rome"
        try edit.save(&note)
        let committed = try store.commit(&edit)
        return committed
    }

    // MARK: Clones

    static func summarize(_ store: Store, _ note: ObjectID) throws {
        let summary = try store.graph.previewClone(of: [note])
        for (entity, count) in summary.counts { print(entity.name, count) }
    }

    static func clone(_ store: Store, _ note: ObjectID, _ item: ObjectID) throws {
        let clone = try store.write { try $0.clone([note]) }.result
        if let copy = clone.copy(of: item) { print(clone.root, copy) }
    }

    static func countObjects(_ store: Store, _ note: ObjectID) throws {
        print(try store.graph.previewClone(of: [note]).objectCount)
    }

    static func cloneAll(_ store: Store, _ note: ObjectID) throws {
        let clone = try store.write { try $0.clone([note]) }.result
        print(clone.root, clone.summary.objectCount)
    }

    static func cloneRecord(_ note: Note, _ transaction: inout WriteTransaction) throws -> Ref<Note> {
        let copy = try transaction.clone(note, CloneRequest(rootValues: ["id": 7]))
        return copy
    }

    static func cloneWithValues(_ store: Store, _ note: ObjectID) throws {
        let request = CloneRequest(excluding: ["tags"], rootValues: ["title": .string("A copy")])
        try store.write { try $0.clone(note, request) }
    }

    static func cloneWithKeys(_ store: Store, _ note: ObjectID) throws -> ObjectID {
        let keys = CloneKeys(exclude: "noCopy")
        let copy = try store.write { try $0.clone(note, CloneRequest(keys: keys)) }.result.root
        return copy
    }

    // MARK: Migrations

    static func previewMigration(_ store: Store, to definition: SchemaDefinition) throws {
        let preview = try store.previewMigration(to: definition)
        for entry in preview.entries { print(entry.change.kind, entry.change.entity, entry.handling, entry.lostCount) }
        if !preview.isRefused { try store.migrate(to: definition, Author(actor: "deploy")) }
    }

    static func migrate(_ store: Store, to definition: SchemaDefinition) throws {
        let report = try store.migrate(to: definition, Author(actor: "jane"))
        for entry in report.entries { print(entry.change.entity, entry.change.kind, entry.lostCount) }
    }

    static func migrateToNearest(_ store: Store, to definition: SchemaDefinition) throws {
        try store.migrate(to: definition, conversion: .nearest)
    }

    static func renewIDs(_ store: Store, to definition: SchemaDefinition) throws {
        try store.migrate(to: definition, movedIDs: .renewed)
    }

    static func convert(_ store: Store, to definition: SchemaDefinition) throws {
        try store.migrate(to: definition) { before, transaction in
            for id in try before.objects(of: "Note") {
                guard case .string(let text) = try before[id, "year"] else { continue }
                try transaction.set(id, "year", to: Int64(text).map { .int($0) } ?? .null)
            }
        }
    }

    static func listChanges(_ store: Store, to definition: SchemaDefinition) throws {
        for entry in try store.previewMigration(to: definition).entries {
            print(entry.change.kind, entry.change.entity, entry.change.property ?? "", entry.change.reason ?? "automatic")
        }
    }
}
