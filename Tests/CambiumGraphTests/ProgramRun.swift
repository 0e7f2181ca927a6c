import CambiumModel
import CambiumTesting

@testable import CambiumGraph

/// A random schema, and random transactions on three graphs: a timeline, a second timeline that gets the committed ops, and a reference.
struct ProgramRun {
    private var random: SplitMix64
    private var program: RandomProgram
    private var timeline: Timeline
    /// The memory budget. With 0 bytes, pages are in the stored file from the first chunk on.
    private let memory: MemoryBudget
    private var storage = ChunkStorage()
    private let shadow = Timeline()
    private var reference: ReferenceGraph
    private var usedNumbers: Set<[UInt16]> = []
    /// The chunks that the last store took for its table.
    private var tables: [Int] = []
    /// Earlier graphs, with the references that they must always equal.
    private var kept: [(graph: Graph, reference: ReferenceGraph)] = []

    init(seed: UInt64, scope: RandomProgram.Scope = .everything) throws {
        random = SplitMix64(seed: seed)
        let made = try RandomSchema.make(&random)
        let schema = seed % 3 == 0 ? try RandomSchema.addingOrphanRules(to: made, &random) : made
        program = RandomProgram(schema: schema, seed: random.next(), scope: scope)
        reference = ReferenceGraph(schema: schema)
        memory = random.isTrue(1, outOf: 2) ? MemoryBudget(byteCount: 0) : .standard
        timeline = Timeline(memory: memory)
        timeline.keepPages(in: storage)
        try Self.commit([.schema(schema.catalog)], to: timeline)
        try Self.commit([.schema(schema.catalog)], to: shadow)
    }

    static func commit(_ ops: [Op], to timeline: Timeline) throws {
        var draft = timeline.draft()
        for op in ops { try draft.apply(op) }
        try timeline.publish(draft)
    }

    mutating func run() throws {
        for number in 1...Int.random(in: 10...40, using: &random) {
            do { try transact() } catch { throw Finding("transaction \(number): \(error)") }
            if random.isTrue(1, outOf: 10) {
                do { try pack(withTransactionsBetween: true) } catch { throw Finding("packing after transaction \(number): \(error)") }
            }
            if random.isTrue(1, outOf: 6) {
                do { try store() } catch { throw Finding("storing after transaction \(number): \(error)") }
            }
        }
        try checkKept()
        kept = []
        while try timeline.buildIndexes(rowCountMax: 10) {}
        if timeline.head.hasIncompleteIndexes { throw Finding("an index is incomplete") }
        try Finding.check(timeline.head.invariantFindings(), "invariants")
        try Finding.check(PageChecker.findings(in: timeline), "pages without views")
        try Finding.check(PageChecker.findings(in: shadow), "pages of the shadow")
        if timeline.pinnedVersionCount != 0 { throw Finding("\(timeline.pinnedVersionCount) versions are pinned without a reader") }
    }

    private mutating func transact() throws {
        var draft = timeline.draft()
        var after = reference
        var ops: [Op] = []
        if random.isTrue(program.scope == .migrations ? 4 : 1, outOf: 8), let schema = try migrated() {
            let op = Op.schema(schema.catalog)
            var (found, expected): (CambiumError.Code?, CambiumError.Code?) = (nil, nil)
            var trial = after
            do throws(CambiumError) { try draft.apply(op) } catch { found = error.code }
            do throws(CambiumError) { try trial.apply(op) } catch { expected = error.code }
            if found != expected {
                throw Finding("a migration threw \(found?.rawValue ?? "nothing") instead of \(expected?.rawValue ?? "nothing")")
            }
            if found == nil {
                ops.append(op)
                after = trial
                program.adopt(schema)
            }
        }
        for _ in 0..<Int.random(in: (ops.isEmpty ? 1 : 0)...8, using: &random) {
            let proposed = program.next(for: after)
            var op = proposed
            var expected: CambiumError.Code?
            var found: CambiumError.Code?
            do throws(CambiumError) {
                op = try completed(proposed, draft)
                try draft.apply(op)
            } catch { found = error.code }
            var trial = after
            do throws(CambiumError) { try trial.apply(op) } catch { expected = error.code }
            if found == nil, case .clone(let clone) = op, case .clone(let wanted) = proposed, clone.hierarchies != wanted.hierarchies {
                throw Finding("copies \(clone.hierarchies) instead of \(wanted.hierarchies): \(shown([op]))")
            }
            if expected != found {
                throw Finding("threw \(found?.rawValue ?? "nothing") instead of \(expected?.rawValue ?? "nothing"): \(shown([op]))")
            }
            // An op that throws changes nothing, and the draft can continue.
            if found == nil {
                ops.append(op)
                after = trial
            }
        }
        let orphans = draft.takeOrphans()
        if orphans != after.orphans() { throw Finding("orphans \(orphans) instead of \(after.orphans()): \(shown(ops))") }
        if !orphans.isEmpty {
            let op = Op.delete(orphans)
            try draft.apply(op)
            try after.apply(op)
            ops.append(op)
        }
        try checkLinks(draft, after)
        if random.isTrue(1, outOf: 8) { return try drop(draft) }
        var violations: [Violation] = []
        do throws(CambiumError) { try draft.check() } catch {
            if error.code != .ruleViolated { throw error }
            violations = (error.underlying as? RuleViolations)?.violations ?? []
        }
        try Finding.check(after.difference(from: violations), "check", ops)
        if !violations.isEmpty { return try drop(draft) }
        try publish(draft, after, ops)
    }

    /// Returns another schema for the graph, or `nil` if the schema would not change.
    private mutating func migrated() throws -> Schema? {
        let definition = RandomSchema.changed(reference.schema, &random)
        let migration = try SchemaMigration(from: reference.schema, to: definition)
        guard try SchemaMigration(from: migration.after, to: definition).isEmpty else {
            throw Finding("the schema that was just set would change again: \(migration.changes.map(\.subject))")
        }
        return migration.isEmpty ? nil : migration.after
    }

    /// Packs everything in small steps, even for a small gain. With `withTransactionsBetween`, transactions between the steps may change
    /// the objects of the plan.
    private mutating func pack(withTransactionsBetween: Bool = false) throws {
        var limits = PackingLimits()
        (limits.sparseness, limits.groupCountMin) = (1, 2)
        (limits.wasteByteCountMin, limits.wastePercentMin, limits.usedPercentMax) = (0, 0, 100)
        (limits.rowCountMax, limits.byteCountMax) = (Int.random(in: 1...40, using: &random), Int.random(in: 16...4000, using: &random))
        for _ in 0..<10 {
            guard let survey = timeline.survey(limits), var plan = PackingPlan(timeline.head, survey) else { break }
            while !plan.isDone {
                let digest = timeline.head.digest()
                try timeline.pack(&plan)
                if timeline.head.digest() != digest { throw Finding("packing changed the graph") }
                if withTransactionsBetween, random.isTrue(1, outOf: 4) { try transact() }
            }
            timeline.finish(plan)
            try Finding.check(timeline.head.invariantFindings(), "invariants after packing")
            try Finding.check(PageChecker.findings(in: timeline), "pages after packing")
        }
    }

    /// Checks that a number that is no longer in the schema is never assigned again.
    private mutating func noteNumbers(_ schema: Schema) throws {
        let before = Self.numbers(reference.schema)
        usedNumbers.formUnion(before)
        if let again = Self.numbers(schema).first(where: { usedNumbers.contains($0) && !before.contains($0) }) {
            throw Finding("a number was assigned again: \(again)")
        }
    }

    /// Returns the number of each entity, and the number of each property with its root.
    private static func numbers(_ schema: Schema) -> Set<[UInt16]> {
        var numbers: Set<[UInt16]> = []
        for entity in schema.entities {
            numbers.insert([entity.number.rawValue])
            let properties = entity.attributes.map(\.number) + entity.relationships.map(\.number)
            for property in properties { numbers.insert([entity.root.rawValue, property.rawValue]) }
        }
        return numbers
    }

    /// Stores the pages and opens them. The program continues with the stored or the opened timeline.
    private mutating func store() throws {
        try checkTables()
        let tableCount = Int.random(in: 0...2, using: &random)
        let frozen = try timeline.freeze { _ in tableCount }
        let image = frozen.image
        tables = frozen.tables
        storage.store(frozen.fresh.filter { !frozen.inFile.contains($0) }, of: timeline)
        let fingerprint = timeline.head.fingerprint
        let source = storage.copy()
        let opened = try Timeline(image, layout: fingerprint, schema: reference.schema.catalog, source: source, memory: memory)
        try Finding.check(GraphProof.flaws(of: opened), "proof of the stored pages")
        if opened.head.digest() != timeline.head.digest() { throw Finding("the stored graph has another digest") }
        try Finding.check(opened.head.invariantFindings(), "invariants of the stored graph")
        try Finding.check(PageChecker.findings(in: opened), "pages of the stored graph")
        try pack()
        try checkTables()
        timeline.reuse(ChunkOwners(isRooted: image.live.enumerated().map { chunk, live in live > 0 || frozen.tables.contains(chunk) }))
        if random.isTrue(1, outOf: 3) {
            // A second graph of the same stored pages, which shares unchanged pages with the later graphs of the program.
            let other = try Timeline(image, layout: fingerprint, schema: reference.schema.catalog, source: source)
            kept.append((other.head, reference))
            timeline = opened
            storage = storage.copy()
            timeline.keepPages(in: storage)
        }
    }

    private func checkTables() throws {
        let space = timeline.space
        for chunk in tables where space.live[chunk] > 0 || space.openChunks.contains(UInt32(chunk)) {
            throw Finding("chunk \(chunk), which has a table, got a page")
        }
    }

    private func checkLinks(_ draft: borrowing Draft, _ after: ReferenceGraph) throws {
        for id in after.ids.prefix(5) {
            for relationship in after.entity(of: id)?.relationships ?? [] {
                let members = Set(after.members(relationship, of: id))
                if draft.memberCount(relationship, of: id) != members.count {
                    throw Finding("the draft miscounts '\(relationship.name)' of \(id)")
                }
                for other in after.ids where other.root == relationship.destinationRoot {
                    if draft.isLinked(id, relationship, other) != members.contains(other) {
                        throw Finding("isLinked of \(id.serial) and \(other.serial) by '\(relationship.name)' is wrong")
                    }
                }
            }
        }
    }

    /// Drops a draft, and checks that nothing has changed.
    private mutating func drop(_ draft: consuming Draft) throws {
        let digest = draft.original.digest()
        _ = consume draft
        program.adopt(reference.schema)
        if timeline.head.digest() != digest { throw Finding("a draft that was dropped changed the digest") }
        try Finding.check(difference(timeline.head, reference), "after a draft was dropped")
        try Finding.check(PageChecker.findings(in: timeline), "pages after a draft was dropped")
    }

    private mutating func publish(_ draft: consuming Draft, _ after: ReferenceGraph, _ ops: [Op]) throws {
        let (before, shadowBefore) = (reference, shadow.head)
        // In the other cases the previous version is freed at once.
        let graphBefore = random.isTrue(1, outOf: 2) ? draft.original : nil
        if random.isTrue(1, outOf: 5), after.schema === reference.schema {
            try publishBefore(timeline.draft(), draft)
        } else {
            // Several transactions build the indexes of tables with more rows than the limit.
            try timeline.publish(draft, indexing: Int.random(in: 0...20, using: &random))
        }
        if after.schema !== reference.schema { try noteNumbers(after.schema) }
        reference = after
        reference.commit()
        try Finding.check(difference(timeline.head, reference), "graph", ops)
        try Finding.check(timeline.head.invariantFindings(), "invariants", ops)
        if let graphBefore {
            let changes = timeline.head.changes(since: graphBefore)
            try Finding.check(difference(changes, from: before, to: reference), "changes", ops)
            try checkDigest(of: timeline.head, after: graphBefore, ops)
        }
        try Self.commit(ops, to: shadow)
        let changes = shadow.head.changes(since: shadowBefore)
        try Finding.check(difference(changes, from: before, to: reference), "changes of the shadow", ops)
        try checkDigest(of: shadow.head, after: shadowBefore, ops)
        if shadow.head.digest() != timeline.head.digest() { throw Finding("the shadow has another digest, \(shown(ops))") }
        if random.isTrue(1, outOf: 4) { kept.append((timeline.head, reference)) }
        if random.isTrue(1, outOf: 6), let index = kept.indices.randomElement(using: &random) { kept.remove(at: index) }
        if random.isTrue(1, outOf: 4) { try checkKept() }
        try Finding.check(PageChecker.findings(in: timeline), "pages")
    }

    /// Publishes `first`. Expects that `late`, a changed draft of the same version, is refused and leaves nothing.
    private mutating func publishBefore(_ late: consuming Draft, _ first: consuming Draft) throws {
        var copy = reference
        for _ in 0..<5 {
            let op = program.next(for: copy)
            var trial = copy
            do { try trial.apply(op) } catch { break }
            let complete = try completed(op, late)
            try copy.apply(complete)
            try late.apply(complete)
        }
        try timeline.publish(first)
        do throws(CambiumError) {
            try timeline.publish(late)
        } catch {
            if error.code != .notWritable { throw error }
            return
        }
        throw Finding("a draft of a version that is not the newest was published")
    }

    private mutating func checkKept() throws {
        for (graph, reference) in kept { try Finding.check(difference(graph, reference), "a view from earlier") }
        // Two moments are compared in any order.
        let moments = kept + [(timeline.head, reference)]
        guard let old = random.pick(moments), let new = random.pick(moments) else { return }
        let changes = new.graph.changes(since: old.graph)
        try Finding.check(difference(changes, from: old.reference, to: new.reference), "changes between two views")
        try checkDigest(of: new.graph, after: old.graph, [])
    }

    /// Checks that the digest of a graph follows from an older digest and the changes.
    private func checkDigest(of graph: Graph, after older: Graph, _ ops: [Op]) throws {
        if graph.digest(after: older.digest(), of: older) != graph.digest() {
            throw Finding("the digest that follows from the changes is wrong, \(shown(ops))")
        }
    }
}
