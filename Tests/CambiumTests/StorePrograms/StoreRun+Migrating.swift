import Cambium
import CambiumGraph
import CambiumLog
import CambiumModel
import CambiumTesting
import TestFixtures

@testable import CambiumStore

extension StoreRun {
    /// Migrates again and again, with transactions and other operations in between. After each migration, other processes must find the
    /// newest graph, too: from the newest checkpoint, and from the whole log.
    mutating func runMigrations(_ count: Int) throws {
        for number in 1...count {
            do {
                for _ in 0..<Int.random(in: 0...4, using: &random) { try transact() }
                if random.isTrue(1, outOf: 4) { try checkpoint() }
                try migrate()
                if random.isTrue(1, outOf: 2) { try checkpoint() }
                if random.isTrue(1, outOf: 4) { try pack() }
                try checkCopies()
                try compareWithAnother(store.graph)
                try hold(store.graph, isOwn: true)
                if random.isTrue(1, outOf: 3) { try reopen() }
            } catch { throw Finding("migration \(number): \(error)") }
        }
        try checkAll()
    }

    private mutating func checkCopies() throws {
        guard let last = moments.last else { return }
        let opened = try ReadOnlyStore(volume, memory: Self.memory(&random)).graph
        try check(opened, last, "the graph from the checkpoint")
        try Finding.check(opened.invariantFindings(), "invariants of the graph from the checkpoint")
        let reader = try LogReader(volume)
        var view = try EarlierView(beforeFirst: reader)
        try view.advance(reader, to: .latest)
        try check(view.graph, last, "the graph from the whole log")
        try Finding.check(view.graph.invariantFindings(), "invariants of the graph from the whole log")
        // The readers have made the log durable.
        durableCount = moments.count
    }

    /// Migrates to another schema, with or without a closure. The migration may be refused.
    mutating func migrate() throws {
        let definition = RandomSchema.changed(reference.schema, &random)
        let migration = try SchemaMigration(from: reference.schema, to: definition)
        if random.isTrue(1, outOf: 4) {
            try check(store.previewMigration(to: definition), migration)
            try checkUnchanged("a preview")
        }
        var trial = reference
        var refusal: CambiumError.Code?
        do throws(CambiumError) { try trial.apply(.schema(migration.after.catalog)) } catch { refusal = error.code }
        let hasProgram = random.isTrue(1, outOf: 2)
        let conversion: ValueConversion = random.isTrue(1, outOf: 2) ? .nearest : .exact
        trial.acceptsNearest = conversion == .nearest
        if !hasProgram, migration.replacements.contains(where: { holdsContent($0) }) { refusal = .ruleViolated }
        let author = author()
        // An empty migration changes nothing. The store remembers its request, if it has one.
        if migration.isEmpty { return try settle(author) { _, store, _ in try store.migrate(to: definition, author).transaction } }
        if let refusal {
            let found = code {
                if hasProgram { try store.migrate(to: definition, author) { _, _ in } } else { try store.migrate(to: definition, author) }
            }
            if found != refusal { throw Finding("a migration threw \(String(describing: found)) instead of \(refusal)") }
            return try checkUnchanged("a migration that was refused")
        }
        program.adopt(migration.after)
        try settle(author) { run, store, after in
            after = trial
            let report =
                if hasProgram {
                    try store.migrate(to: definition, author, conversion: conversion) { _, transaction in
                        try run.change(&transaction, &after, 0...6)
                    }
                } else {
                    try store.migrate(to: definition, author, conversion: conversion)
                }
            try run.check(report, migration)
            return report.transaction
        }
    }

    /// Returns whether a replaced entity has objects, or whether a property with the old or the new name of a replaced property has values
    /// or members.
    private func holdsContent(_ change: SchemaChange) -> Bool {
        guard let subject = change.old, let entity = reference.schema.entity(subject.entity) else { return false }
        guard let property = change.property, let number = subject.property else {
            return reference.ids.contains { reference.entity(of: $0)?.number == entity.number }
        }
        let names = [property, entity.attribute(number)?.name ?? entity.relationship(number)?.name]
        return reference.ids.contains { id in
            guard id.root == entity.root, let own = reference.entity(of: id) else { return false }
            return own.attributes.contains { names.contains($0.name) && reference.value(of: $0, of: id)?.isNull == false }
                || own.relationships.contains { names.contains($0.name) && !reference.members($0, of: id).isEmpty }
        }
    }

    /// Compares the counts in the report of a migration of the present graph with those of the reference.
    private func check(_ report: MigrationReport, _ migration: SchemaMigration) throws {
        let (found, expected) = (MigrationTally(report), MigrationTally(migration, of: reference))
        if found != expected { throw Finding("the report of a migration has \(found) instead of \(expected)") }
    }
}
