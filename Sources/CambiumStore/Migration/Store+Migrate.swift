internal import CambiumBytes
public import CambiumGraph
internal import CambiumLog
public import CambiumModel

/// The losses that a migration accepts if it converts an attribute to another type, or makes a relationship to-one.
///
/// ```swift
/// try store.migrate(to: definition, conversion: .nearest)
/// ```
public enum ValueConversion: Sendable {
    /// Refuses the migration if a value has no exact equivalent in the new type, or if an object would lose members.
    case exact
    /// Accepts the nearest value of the new type, and the first member of a relationship that becomes to-one. A number other than 0 becomes
    /// true, and a large integer is rounded to a float.
    case nearest
}

extension Store {
    /// Replaces the whole schema of the store: everything that is not in the new schema is removed. Most changes are made automatically, by
    /// the rules in Docs/Use/MIGRATION.md, and are reported. If the store already has the schema, nothing is changed.
    ///
    /// ```swift
    /// let report = try store.migrate(to: definition, Author(actor: "jane"))
    /// for entry in report.entries { print(entry.change.entity, entry.change.kind, entry.lostCount) }
    /// ```
    ///
    /// Throws one `.invalidInput` with all mistakes in the definition. Throws one `.ruleViolated` with all changes that need a closure
    /// (`migrate(to:_:_:)`), or with the rules that objects would break, up to about 10,000 of them. Otherwise throws as `write` does.
    /// After an error, nothing is changed.
    ///
    /// Complexity: O(schema + objects / 128) if no values change; O(objects) for the hierarchies whose values, links, unique sets or rules
    /// change.
    ///
    /// - Parameters:
    ///   - definition: The whole new schema.
    ///   - author: The author of the transaction.
    ///   - conversion: Whether values that have no exact equivalent in a new type are accepted.
    ///   - movedIDs: Whether the objects of an entity that moves to another hierarchy may get new ids.
    @discardableResult
    public func migrate(
        to definition: SchemaDefinition, _ author: Author = Author(), conversion: ValueConversion = .exact,
        movedIDs: MovedObjectIDs = .kept
    ) throws -> MigrationReport {
        try migrate(to: definition, author, conversion, movedIDs, hasProgram: false) { _, _ in }
    }

    /// Does the same as `migrate(to:_:)`, but allows changes that are not automatic. For example, a property whose type changes begins
    /// empty, with a new number, and `body` fills it. The migration and the changes that `body` makes form one transaction.
    ///
    /// ```swift
    /// try store.migrate(to: definition) { before, transaction in
    ///     for id in try before.objects(of: "Note") {
    ///         guard case .string(let text) = try before[id, "year"] else { continue }
    ///         try transaction.set(id, "year", to: Int64(text).map { .int($0) } ?? .null)
    ///     }
    /// }
    /// ```
    ///
    /// Throws as `migrate(to:_:)` does, except for the changes that need a closure. Also throws the errors of `body`. After an error,
    /// nothing is changed. Complexity: that of `migrate(to:_:)`, and that of `body`.
    ///
    /// - Parameters:
    ///   - definition: The whole new schema.
    ///   - author: The author of the transaction.
    ///   - conversion: Whether values that have no exact equivalent in a new type are accepted. A value that `body` replaces need not
    ///     have one.
    ///   - movedIDs: Whether the objects of an entity that moves to another hierarchy may get new ids. If so, `body` does not insert them.
    ///   - body: Receives the graph before the migration with its schema, and the transaction, which has the new schema. `body` is not
    ///     called if nothing changes.
    @discardableResult
    public func migrate(
        to definition: SchemaDefinition, _ author: Author = Author(), conversion: ValueConversion = .exact,
        movedIDs: MovedObjectIDs = .kept, _ body: (Graph, inout WriteTransaction) throws -> Void
    ) throws -> MigrationReport {
        try migrate(to: definition, author, conversion, movedIDs, hasProgram: true, body)
    }

    private func migrate(
        to definition: SchemaDefinition, _ author: Author, _ conversion: ValueConversion, _ movedIDs: MovedObjectIDs, hasProgram: Bool,
        _ body: (Graph, inout WriteTransaction) throws -> Void
    ) throws -> MigrationReport {
        var report = MigrationReport()
        let receipt = try transact(author, as: .migration, for: "migrate") { transaction in
            let before = transaction.draft.original
            let migration = try SchemaMigration(from: before.schema, to: definition)
            report.entries = MigrationCount(migration, before, movedIDs).entries(hasProgram: hasProgram)
            if migration.isEmpty { return }
            try Self.refuse(report.entries.filter { $0.handling == .refused }.map(\.change))
            try transaction.record(.schema(migration.after.catalog))
            if conversion == .nearest { transaction.draft.acceptNearestValues() }
            if movedIDs == .renewed, !migration.moves.isEmpty {
                let moved = try MovedObjects(migration, before, conversion) { transaction.draft.nextSerial(of: $0) }
                try moved.forEachOp { try transaction.record($0) }
                try moved.check(transaction.draft)
            }
            try body(before, &transaction)
        }
        // If the newest transactions may still be rolled back, this call leaves the indexes incomplete, and each later transaction builds a
        // part of them.
        try upkeep.buildIndexes()
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
            "These changes to the schema need a program that migrates with a closure for the new values (Docs/Use/MIGRATION.md):",
            details: lines + rest)
    }

    // MARK: Previews

    /// Reports the changes of a migration to a schema, whether it would be refused, and how long it would hold the writer's lock. Writes
    /// nothing, and transactions continue at the same time: the migration is tried on the newest graph in the files of the store. A store
    /// in memory has no files, so its transactions wait for the preview.
    ///
    /// Throws one `.invalidInput` with all mistakes in the definition, and `.misuse` inside the closure of a write.
    ///
    /// Complexity: the time and the memory of the migration, plus O(bytes of the log after the newest checkpoint).
    ///
    /// - Parameters:
    ///   - definition: The whole new schema.
    ///   - conversion: Whether values that have no exact equivalent in a new type are accepted.
    ///   - movedIDs: Whether the objects of an entity that moves to another hierarchy may get new ids.
    public func previewMigration(
        to definition: SchemaDefinition, conversion: ValueConversion = .exact, movedIDs: MovedObjectIDs = .kept
    ) throws -> MigrationReport {
        try writer.checkOutsideOfWrites("previewMigration")
        let trial = MigrationTrial(definition: definition, conversion: conversion, movedIDs: movedIDs)
        if let volume = writer.volume { return try trial.run(LogReader(volume), writer.timeline.budget) }
        struct Done: Error {}
        var report = MigrationReport()
        do {
            _ = try transact(Author(), as: .migration, for: "previewMigration") { transaction in
                report = try trial.run(&transaction.draft)
                throw Done()
            }
        } catch is Done {}  // This error prevents the commit.
        return report
    }

    /// Reports the changes of a migration of the store at a path. Takes no lock and writes nothing; another process may write to the store
    /// at the same time.
    ///
    /// Throws as `previewMigration(to:)` does. Also throws `.notFound` if there is no store, and `.corrupted` if the log of the store is
    /// corrupt.
    package static func previewMigration(
        of path: String, to definition: SchemaDefinition, conversion: ValueConversion = .exact, movedIDs: MovedObjectIDs = .kept
    ) throws -> MigrationReport {
        try MigrationTrial(definition: definition, conversion: conversion, movedIDs: movedIDs)
            .run(LogReader(SystemVolume(root: path)), .standard)
    }
}

/// A migration that is tried on separate pages, and then dropped.
private struct MigrationTrial {
    let definition: SchemaDefinition
    let conversion: ValueConversion
    let movedIDs: MovedObjectIDs

    func run(_ reader: LogReader, _ memory: MemoryBudget) throws -> MigrationReport {
        let view = try EarlierView(reader, at: .latest, memory: memory)
        var draft = view.timeline.draft()
        return try run(&draft)
    }

    func run(_ draft: inout Draft) throws -> MigrationReport {
        let (clock, begin) = (TickClock(), TickClock.now)
        var report = try report(&draft)
        report.expectedHold = clock.rate.duration(ofTicks: TickClock.ticks(since: begin))
        return report
    }

    private func report(_ draft: inout Draft) throws -> MigrationReport {
        let before = draft.original
        let migration = try SchemaMigration(from: before.schema, to: definition)
        var report = MigrationReport()
        report.entries = MigrationCount(migration, before, movedIDs).entries(hasProgram: false)
        // A closure must fill the new properties that replace old ones. These properties are still empty here, so a check of the rules
        // would report missing values.
        if migration.isEmpty || report.entries.contains(where: { $0.handling == .refused }) { return report }
        do {
            try draft.apply(.schema(migration.after.catalog))
            if conversion == .nearest { draft.acceptNearestValues() }
            if movedIDs == .renewed, !migration.moves.isEmpty {
                let moved = try MovedObjects(migration, before, conversion) { draft.nextSerial(of: $0) }
                try moved.forEachOp { try draft.apply($0) }
                try moved.check(draft)
            }
            try draft.check()
        } catch let error as CambiumError where error.code == .ruleViolated {
            report.violations = (error.underlying as? RuleViolations)?.causes.map(\.description) ?? [error.message]
        }
        return report
    }
}
