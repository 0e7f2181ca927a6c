import CambiumModel
import CambiumTesting

@testable import CambiumGraph

/// Random transactions on a random graph, and live results that are compared with new evaluations after each transaction.
struct LiveRun {
    private var random: SplitMix64
    private var program: RandomProgram
    private var timeline = Timeline()
    private var reference: ReferenceGraph
    private var lives: [Live] = []
    /// The numbers of updates by their kinds, which show that the run has tested something.
    private(set) var counts = Counts()
    private let changesSchema: Bool

    struct Counts {
        var transactions = 0
        var updates = 0
        var deleted = 0
        var inserted = 0
        var moved = 0
        var updated = 0
        var combined = 0
        var sections = 0
    }

    private struct Live {
        let query: Query
        let key: SortKey?
        var result: LiveResult
        var ids: [ObjectID]
        var sections: [[UInt8]]
        /// The graph of the last update.
        var graph: Graph
        /// The changes that have not been applied to the result yet.
        var pending: [TouchedObjects] = []
    }

    init(seed: UInt64, changesSchema: Bool = false) throws {
        random = SplitMix64(seed: seed)
        self.changesSchema = changesSchema
        let schema = try RandomSchema.make(&random)
        reference = ReferenceGraph(schema: schema)
        program = RandomProgram(schema: schema, seed: random.next())
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        for _ in 0..<12 { _ = try transact() }
        try addQueries()
    }

    /// Commits transactions, and checks all results after each. A transaction that breaks a rule is not counted.
    mutating func run(_ count: Int) throws {
        for number in 0..<10 * count where counts.transactions < count {
            guard let touched = try transact() else { continue }
            counts.transactions += 1
            for index in lives.indices.reversed() {
                lives[index].pending.append(touched)
                // Some results apply several transactions together.
                if random.isTrue(1, outOf: 4) { continue }
                try advance(index, number)
            }
            if lives.count < 12 { try addQueries() }
        }
    }

    // MARK: Transactions

    private mutating func transact() throws -> TouchedObjects? {
        let before = timeline.head
        var draft = timeline.draft()
        var after = reference
        if changesSchema, random.isTrue(1, outOf: 12) {
            let definition = RandomSchema.changed(reference.schema, &random)
            let op = Op.schema(try SchemaMigration(from: reference.schema, to: definition).after.catalog)
            var trial = after
            if (try? trial.apply(op)) != nil, (try? draft.apply(op)) != nil {
                after = trial
                program.adopt(after.schema)
            }
        }
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let op = program.next(for: after)
            var trial = after
            // An op that one of the two refuses is skipped. Other tests compare the refusals.
            guard (try? trial.apply(op)) != nil, (try? draft.apply(op)) != nil else { continue }
            after = trial
        }
        guard (try? draft.check()) != nil else {
            program.adopt(reference.schema)
            return nil
        }
        after.commit()
        try timeline.publish(draft)
        reference = after
        return TouchedObjects(timeline.head.changes(since: before))
    }

    // MARK: Queries

    private mutating func addQueries() throws {
        var conditions = RandomCondition(reference, seed: random.next())
        for entity in reference.schema.entities {
            for _ in 0..<3 {
                let condition = conditions.random.isTrue(1, outOf: 4) ? Condition.constant(true) : conditions.condition(entity, depth: 2)
                var query = Query(entity.name, where: condition, sort: conditions.sort(entity))
                if random.isTrue(1, outOf: 2) { query.limit = Int.random(in: 0...4, using: &random) }
                if random.isTrue(1, outOf: 5) { query.offset = Int.random(in: 0...3, using: &random) }
                var key = random.isTrue(1, outOf: 3) ? conditions.sort(entity).first : nil
                key?.folding = []
                try add(query, key)
            }
        }
    }

    private mutating func add(_ query: Query, _ key: SortKey?) throws {
        var result = try LiveResult(query, sections: key, in: timeline.head)
        let whole = try result.whole(in: timeline.head)
        var live = Live(query: query, key: key, result: result, ids: [], sections: [], graph: timeline.head)
        whole.apply(to: &live.ids)
        lives.append(live)
        try check(lives.count - 1, whole)
        lives[lives.count - 1].sections = try sections(live)
    }

    // MARK: Checks

    private mutating func advance(_ index: Int, _ number: Int) throws {
        let (graph, pending) = (timeline.head, lives[index].pending)
        lives[index].pending = []
        do {
            let update = try lives[index].result.advance(pending, to: graph)
            if let update { count(update) }
            counts.combined += pending.count > 1 ? 1 : 0
            let before = lives[index].ids
            update?.apply(to: &lives[index].ids)
            try check(index, update)
            try checkUpdated(index, update, before)
            lives[index].graph = graph
        } catch let error as CambiumError where changesSchema {
            // A name may be missing, or a type may differ. Then no evaluation is possible.
            guard (try? expected(lives[index])) == nil else { throw error }
            lives.remove(at: index)
        } catch let error as Finding {
            let live = lives[index]
            throw Finding(
                "transaction \(number), \(live.query.entity) where \(live.query.condition?.description ?? "") by "
                    + "\(live.query.sort.map(\.description)), limit \(live.query.limit ?? -1), offset \(live.query.offset), section "
                    + "\(live.key?.description ?? "none"): \(error)")
        }
    }

    private mutating func count(_ update: LiveUpdate) {
        counts.updates += 1
        counts.deleted += update.deleted.count
        counts.inserted += update.inserted.count
        counts.moved += update.moved.count
        counts.updated += update.updated.count
        counts.sections += update.insertedSections.count + update.deletedSections.count
    }

    private func sorted(_ live: Live) -> Query {
        var query = live.query
        if let key = live.key { query.sort.insert(key, at: 0) }
        return query
    }

    private func expected(_ live: Live) throws -> [ObjectID] { try timeline.head.find(sorted(live)) }

    /// The key of the section of each object of a new evaluation.
    private func sectionKeys(_ live: Live) throws -> [[UInt8]] {
        if live.key == nil { return [] }
        var run = try QueryRun(sorted(live), timeline.head)
        return try run.rows().map { run.order.key($0, count: 1) }
    }

    private func sections(_ live: Live) throws -> [[UInt8]] {
        try sectionKeys(live).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    private mutating func check(_ index: Int, _ update: LiveUpdate?) throws {
        let live = lives[index]
        let expected = try expected(live)
        if live.result.ids != expected { throw Finding("the result is \(live.result.ids) instead of \(expected)") }
        if live.ids != expected { throw Finding("the updates lead to \(live.ids) instead of \(expected)") }
        guard let update else {
            if try sections(live) != live.sections { throw Finding("the sections changed without an update") }
            return
        }
        if update.count != expected.count { throw Finding("the count is \(update.count) instead of \(expected.count)") }
        for place in update.inserted + update.updated where expected[place.index] != place.id {
            throw Finding("index \(place.index) of \(place.id) is wrong")
        }
        for move in update.moved where expected[move.to] != move.id { throw Finding("index \(move.to) of \(move.id) is wrong") }
        try checkSections(index, update)
    }

    /// Compares the objects that an update lists as updated with the values of the two graphs.
    private func checkUpdated(_ index: Int, _ update: LiveUpdate?, _ before: [ObjectID]) throws {
        if update?.isWhole == true { return }
        let (old, new, live) = (lives[index].graph, timeline.head, lives[index])
        let others = Set((update?.inserted ?? []).map(\.id) + (update?.moved ?? []).map(\.id))
        let wanted = Set(before).intersection(live.ids).subtracting(others).filter { values(of: $0, old) != values(of: $0, new) }
        let found = Set((update?.updated ?? []).map(\.id))
        if found == wanted { return }
        let texts = found.symmetricDifference(wanted).map { "\($0): \(values(of: $0, old)) -> \(values(of: $0, new))" }
        throw Finding("the updated objects are \(found.sorted()) instead of \(wanted.sorted()): \(texts.joined(separator: "; "))")
    }

    /// The values of all attributes of an object, and whether it is a stub.
    private func values(of id: ObjectID, _ graph: Graph) -> [Value] {
        guard let place = graph.place(of: id), let entity = graph.entity(of: id) else { return [] }
        return [.bool(graph.isStub(place))] + entity.attributes.map { graph.value(of: graph.field($0), at: place) }
    }

    private mutating func checkSections(_ index: Int, _ update: LiveUpdate) throws {
        let live = lives[index]
        let (keys, sections) = (try sectionKeys(live), try sections(live))
        lives[index].sections = sections
        if live.key == nil {
            if !update.sections.isEmpty { throw Finding("there are sections without a key") }
            return
        }
        if update.sections.map({ Set(keys[$0.range]) }) != sections.map({ [$0] }) { throw Finding("the ranges are \(update.sections)") }
        if update.sections.last?.range.upperBound ?? 0 != keys.count { throw Finding("the sections omit objects") }
        var applied = update.isWhole ? [] : live.sections
        for index in update.deletedSections.reversed() { applied.remove(at: index) }
        for index in update.insertedSections { applied.insert(sections[index], at: index) }
        if applied != sections { throw Finding("the changes of the sections are wrong") }
    }
}
