internal import CambiumBytes
public import CambiumGraph
internal import CambiumLog
public import CambiumModel

extension Store {
    /// Gives the store another schema, whole: what it does not name is removed. Docs/MIGRATION.md has the rules, by which most changes are
    /// done and reported. Setting the schema that the store has writes nothing.
    ///
    ///     let report = try store.migrate(to: definition, Author(actor: "jane"))
    ///     for entry in report.entries { print(entry.change.subject, entry.change.kind, entry.lostCount) }
    ///
    /// Throws one `.invalidInput` with all mistakes of the definition; one `.ruleViolated` with all that needs a program
    /// (`migrate(to:_:_:)`), or with all rules that objects would break; as `write`. Nothing is changed then.
    ///
    /// Complexity: O(schema + objects / 128) for what changes no values; O(objects) for the hierarchies of which values, links, unique
    /// sets or rules change.
    @discardableResult
    public func migrate(to definition: SchemaDefinition, _ author: Author = Author()) throws -> MigrationReport {
        try migrate(to: definition, author, hasProgram: false) { _, _ in }
    }

    /// As `migrate(to:_:)`, also with changes that are not automatic: a property of another type, say, begins empty, under a number of its
    /// own, and `body` fills it. All of it is one transaction.
    ///
    ///     try store.migrate(to: definition) { before, transaction in
    ///         let old = try before.schema.required("Note")
    ///         for id in before.objects(of: old) {
    ///             guard case .string(let text)? = before.value(of: try old.requiredAttribute("year"), of: id) else { continue }
    ///             try transaction.set(id, "year", to: Int64(text).map { .int($0) } ?? .null)
    ///         }
    ///     }
    ///
    /// - Parameter body: is given the graph before, with its schema, and the transaction, in which the new schema holds. Not called where
    ///   nothing changes.
    @discardableResult
    public func migrate(
        to definition: SchemaDefinition, _ author: Author = Author(), _ body: (Graph, inout WriteTransaction) throws -> Void
    ) throws -> MigrationReport {
        try migrate(to: definition, author, hasProgram: true, body)
    }

    private func migrate(
        to definition: SchemaDefinition, _ author: Author, hasProgram: Bool, _ body: (Graph, inout WriteTransaction) throws -> Void
    ) throws -> MigrationReport {
        var report = MigrationReport()
        let receipt = try transact(author, as: .migration, for: "migrate") { transaction in
            let before = transaction.draft.original
            let migration = try SchemaMigration(from: before.schema, to: definition)
            report.entries = MigrationCount(migration: migration, graph: before).entries(hasProgram: hasProgram)
            if migration.isEmpty { return }
            if !hasProgram { try Self.refuse(migration.replacements) }
            try transaction.record(.schema(migration.after.catalog))
            try body(before, &transaction)
        }
        // They are complete, unless others write at the same time.
        try committer.buildIndexes()
        report.transaction = receipt.transaction
        report.logByteCount = receipt.logByteCount
        return report
    }

    private static func refuse(_ replacements: [SchemaChange]) throws(CambiumError) {
        if replacements.isEmpty { return }
        let lines = replacements.prefix(20).map { "\($0.subject): \($0.reason ?? "")" }
        let rest = replacements.count > 20 ? ["and \(replacements.count - 20) more"] : []
        throw CambiumError(
            .ruleViolated,
            "The schema cannot be changed in this way without a program that says what becomes of the values (Docs/MIGRATION.md).",
            details: lines + rest)
    }

    // MARK: Previews

    /// What migrating to a schema would come to, whether it would be refused, and for how long it would hold the writer's lock. Writes
    /// nothing, and transactions go on meanwhile: the migration is tried on the newest graph that is in the files of the store. For the
    /// preview of a store in memory, which has no files, transactions wait.
    ///
    /// Throws one `.invalidInput` with all mistakes of the definition; `.misuse` inside the closure of a write.
    ///
    /// Complexity: that of the migration, in time and in memory; beside that O(log behind the newest checkpoint).
    public func previewMigration(to definition: SchemaDefinition) throws -> MigrationReport {
        try committer.checkOutsideOfWrites("previewMigration")
        if let volume = committer.volume { return try Self.preview(LogReader(volume), definition) }
        struct Done: Error {}
        var report = MigrationReport()
        do {
            _ = try transact(Author(), as: .migration, for: "previewMigration") { transaction in
                report = try Self.preview(&transaction.draft, definition)
                throw Done()
            }
        } catch is Done {}  // So nothing is written.
        return report
    }

    /// What migrating the store at a path would come to. Nothing is locked or written; somebody may be writing to it.
    ///
    /// Throws as `previewMigration(to:)`, `.notFound` where there is no store, `.damaged` where its log is corrupt.
    public static func previewMigration(of path: String, to definition: SchemaDefinition) throws -> MigrationReport {
        try preview(LogReader(SystemVolume(root: path)), definition)
    }

    private static func preview(_ reader: LogReader, _ definition: SchemaDefinition) throws -> MigrationReport {
        let view = try PastView(reader, at: .latest, memory: .standard)
        var draft = view.stored.timeline.draft()
        return try preview(&draft, definition)
    }

    private static func preview(_ draft: inout Draft, _ definition: SchemaDefinition) throws -> MigrationReport {
        let (clock, begin) = (TickClock(), TickClock.now)
        var report = try trial(&draft, definition)
        report.expectedHold = clock.rate.duration(ofTicks: TickClock.ticks(since: begin))
        return report
    }

    private static func trial(_ draft: inout Draft, _ definition: SchemaDefinition) throws -> MigrationReport {
        let before = draft.original
        let migration = try SchemaMigration(from: before.schema, to: definition)
        var report = MigrationReport()
        report.entries = MigrationCount(migration: migration, graph: before).entries(hasProgram: false)
        // What is emptied for a program would be told as missing.
        if migration.isEmpty || !migration.replacements.isEmpty { return report }
        do throws(CambiumError) {
            try draft.apply(.schema(migration.after.catalog))
            try draft.check()
        } catch {
            guard error.code == .ruleViolated else { throw error }
            report.violations = (error.underlying as? RuleViolations)?.violations.map(\.description) ?? [error.message]
        }
        return report
    }
}
