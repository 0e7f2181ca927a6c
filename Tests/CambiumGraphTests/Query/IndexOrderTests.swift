import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Sorted answers that come from an ordered index, compared with those of a scan.
@Suite struct IndexOrderTests {
    /// A table with few different values, long texts, nulls, sub-entities and random indexes.
    struct Fixture {
        let timeline = Timeline()
        var random: SplitMix64
        private let base: Entity

        static let names = ["a", "b", "c", "d", "t"]
        private static let texts =
            ["", "a", "A", "b", "ß", "\u{0}"] + ["x", "X", "y"].map { String(repeating: "l", count: 300) + $0 }

        init(seed: UInt64, objectCount: Int = 400) throws {
            var choices = SplitMix64(seed: seed)
            let indexes = (0..<5).map { _ in Self.index(&choices) }
            random = choices
            let schema = try Schema(
                SchemaDefinition {
                    EntityDefinition("Base", indexes: indexes) {
                        AttributeDefinition("a", .int16, .optional)
                        AttributeDefinition("b", .int64, .optional)
                        AttributeDefinition("c", .double, .optional)
                        AttributeDefinition("d", .decimal, .optional)
                        AttributeDefinition("t", .string, .optional)
                    }
                    EntityDefinition("Special", parent: "Base") {}
                })
            base = try schema.required("Base")
            let special = try schema.required("Special").number
            try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
            for serial in 1...UInt64(objectCount) {
                let entity = random.isTrue(1, outOf: 4) ? special : base.number
                let id = ObjectID(root: base.root, serial: serial * (random.isTrue(1, outOf: 2) ? 1 : 1000))
                var draft = timeline.draft()
                guard (try? draft.apply(.insert(id, entity: entity, values()))) != nil else { continue }
                try timeline.publish(draft)
            }
        }

        private static func index(_ random: inout SplitMix64) -> [String] {
            names.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)).map { name in
                (random.isTrue(1, outOf: 3) ? "-" : "") + name + (name == "t" && random.isTrue(1, outOf: 3) ? "[c]" : "")
            }
        }

        private mutating func values() -> [Assignment] {
            base.attributes.compactMap { attribute in
                if random.isTrue(1, outOf: 6) { return nil }
                let number = Int64.random(in: -1...2, using: &random)
                let value: Value =
                    switch attribute.type {
                    case .double: .double(number == 0 && random.isTrue(1, outOf: 2) ? -0.0 : Double(number))
                    case .decimal: .decimal(DecimalNumber(number))
                    case .string: .string(random.pick(Self.texts) ?? "")
                    default: .int(number)
                    }
                return Assignment(attribute.number, value)
            }
        }

        /// Deletes most objects of each page, and moves the others, so that the order of the rows is not the order of the ids.
        mutating func pack() throws {
            let ids = timeline.head.objects(of: base).map { $0 }
            try ProgramRun.commit([.delete(ids.filter { _ in random.isTrue(4, outOf: 5) })], to: timeline)
            var limits = PackingLimits()
            (limits.sparseness, limits.groupCountMin) = (1, 2)
            for _ in 0..<20 {
                guard let survey = timeline.survey(limits), var plan = PackingPlan(timeline.head, survey) else { break }
                while !plan.isDone { try timeline.pack(&plan) }
                timeline.finish(plan)
            }
        }

        mutating func query() throws -> Query {
            var parts = (0..<Int.random(in: 0...3, using: &random)).map { _ in condition() }
            parts = parts.isEmpty ? ["true"] : parts
            let keys = Self.names.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)).map { name in
                (random.isTrue(1, outOf: 2) ? "-" : "") + name + (name == "t" && random.isTrue(1, outOf: 4) ? "[c]" : "")
                    + (random.pick(["", "", " nulls first", " nulls last"]) ?? "")
            }
            var query = try Query(
                random.isTrue(1, outOf: 5) ? "Special" : "Base", where: parts.joined(separator: " and "),
                sort: keys.joined(separator: ","))
            query.limit = Int.random(in: 1...12, using: &random)
            query.offset = random.isTrue(1, outOf: 3) ? Int.random(in: 0...6, using: &random) : 0
            return query
        }

        private mutating func condition() -> String {
            let name = random.pick(Self.names) ?? "a"
            if random.isTrue(1, outOf: 6) { return "\(name) == null" }
            if name == "t" {
                return random.pick(["t == \"a\"", "t ==[c] \"A\"", "t beginswith \"l\"", "t > \"a\"", "t in {\"a\", \"b\"}"]) ?? "true"
            }
            let number = Int.random(in: -1...1, using: &random)
            return random.pick(
                [
                    "\(name) == \(number)", "\(name) >= \(number)", "\(name) < \(number)", "\(name) != \(number)",
                    "\(name) in {0, \(number)}",
                    "\(name) between {-1, \(number)}",
                ]) ?? "true"
        }
    }

    /// Returns whether the query used an index to sort.
    private func compare(_ query: Query, _ graph: Graph) throws -> Bool {
        var scan = query
        scan.accesses = .scan
        let (found, expected) = (try graph.answer(query), try graph.answer(scan))
        let text = "\(query.entity) \(query.condition.map { "\($0)" } ?? "") by \(query.sort) \(query.offset)"
        #expect(found.ids == expected.ids, "\(text)")
        #expect(found.cursor == expected.cursor, "\(text)")
        // The pages after cursors are the rest of the answer.
        var (page, all) = (query, scan)
        (page.offset, page.limit, all.offset, all.limit) = (0, 7, 0, nil)
        var ids: [ObjectID] = []
        while true {
            let answer = try graph.answer(page)
            ids += answer.ids
            // A cursor that leads back would repeat pages without end.
            guard let cursor = answer.cursor, ids.count < 1000 else { break }
            page.cursor = try QueryCursor(parsing: cursor.description)
        }
        try #expect(ids == graph.find(all), "pages of \(text)")
        return found.plan.steps.first?.kind == .index && !found.plan.steps.contains { $0.kind == .sort }
    }

    @Test(arguments: 0..<UInt64(LongTests.caseCount(200, usual: 5)))
    func `an index gives the answer that a scan gives, page by page`(seed: UInt64) throws {
        var fixture = try Fixture(seed: seed)
        var indexedCount = 0
        for isPacked in [false, true] {
            if isPacked { try fixture.pack() }
            #expect(fixture.timeline.head.invariantFindings() == [] && PageChecker.findings(in: fixture.timeline) == [])
            for _ in 0..<30 {
                let query = try fixture.query()
                if try compare(query, fixture.timeline.head) { indexedCount += 1 }
            }
        }
        #expect(indexedCount >= 3)
    }

    @Test(arguments: 0..<UInt64(LongTests.caseCount(100, usual: 4)))
    func `an index gives the least and the greatest value that a scan gives`(seed: UInt64) throws {
        var fixture = try Fixture(seed: seed, objectCount: 150)
        for _ in 0..<20 {
            var query = try fixture.query()
            (query.sort, query.limit, query.offset) = ([], nil, 0)
            let aggregates = try Fixture.names.flatMap { name in
                try [AggregateFunction.min, .max].map { Aggregate($0, of: try Operand(parsing: name)) }
            }
            var scan = query
            scan.accesses = .scan
            for aggregate in aggregates {
                let one = Grouping([aggregate])
                let (found, expected) = try (fixture.timeline.head.aggregate(query, one), fixture.timeline.head.aggregate(scan, one))
                #expect(found.map(\.values) == expected.map(\.values), "\(aggregate)")
            }
        }
    }

    // MARK: Entries read

    /// Issues of which half are open. Each number of `n` belongs to two open and two closed issues; `m` is the same in all of them.
    private static func issues(_ count: Int) throws -> Graph {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Issue", indexes: [["state", "n"], ["n"], ["m"]]) {
                    AttributeDefinition("state", .string, allowed: ["open", "closed"])
                    AttributeDefinition("n", .int64, .optional)
                    AttributeDefinition("m", .int64)
                }
            })
        let issue = try schema.required("Issue")
        let numbers = try ["state", "n", "m"].map { try #require(issue.attribute($0)).number }
        let ops = (1...UInt64(count)).map { serial in
            let values: [Value] = [
                .string(serial % 2 == 0 ? "open" : "closed"), serial % 50 < 2 ? .null : .int(Int64(serial / 4)), .int(1),
            ]
            return Op.insert(
                ObjectID(root: issue.root, serial: serial), entity: issue.number, zip(numbers, values).map { Assignment($0, $1) })
        }
        let timeline = Timeline()
        try ProgramRun.commit([.schema(schema.catalog)] + ops, to: timeline)
        return timeline.head
    }

    private static let graphs = Result { try [500, 2000].map(issues) }

    private static let shapes = [
        ("state == \"open\"", "n"), ("state == \"open\"", "-n"), ("state == \"open\"", "n nulls last"),
        ("state == \"open\"", "-n nulls first"),
        ("state == \"open\"", "state,-n"), ("state == \"open\" and n > 20 and n <= 110", "-n"), ("n > 20", "n"), ("n > 20", "-n"),
        ("true", "m"), ("true", "-m"), ("true", "state,n"), ("true", "-state,-n"), ("true", "state,-n"), ("true", "-state,n"),
        ("n == null", "n"), ("state == \"open\" and n == null", "-n"), ("m == 1", "m"), ("state in {\"open\", \"closed\"}", "state,n"),
    ]

    @Test(arguments: shapes)
    func `a walk through an index reads at most two entries more than it returns`(condition: String, sort: String) throws {
        for graph in try Self.graphs.get() {
            var query = try Query("Issue", where: condition, sort: sort, limit: 3)
            for _ in 0..<3 {
                let answer = try graph.answer(query)
                let step = try #require(answer.plan.steps.first)
                #expect(answer.ids.count == 3 && step.kind == .index && step.readCount <= 5, "\(step)")
                query.cursor = answer.cursor
            }
        }
    }

    @Test(arguments: [("min", "n", "state == \"open\""), ("max", "n", "state == \"open\""), ("min", "m", "true"), ("max", "n", "n < 90")])
    func `a least or greatest value is read from an index`(function: String, name: String, condition: String) throws {
        for graph in try Self.graphs.get() {
            let aggregate = Aggregate(try #require(AggregateFunction(rawValue: function)), of: try Operand(parsing: name))
            let answer = try graph.explainedAggregate(Query("Issue", where: condition), Grouping([aggregate]))
            #expect(answer.plan.steps.map(\.kind) == [.index] && answer.plan.steps[0].readCount <= 3)
        }
    }

    @Test(arguments: ["state == \"opn\"", "state != \"opn\"", "state in {\"open\", \"opn\"}"])
    func `a condition with a value outside of an enumeration is refused`(condition: String) throws {
        let graph = try #require(try Self.graphs.get().first)
        let error = #expect(throws: CambiumError.self) { try graph.find(Query("Issue", where: condition)) }
        #expect(error?.code == .invalidInput && error?.message.contains("\"open\", \"closed\"") == true)
        try #expect(graph.find(Query("Issue", where: "state ==[c] \"OPEN\"", limit: 1)).count == 1)
    }

    @Test func `a cursor that was cut short or altered is refused`() throws {
        let graph = try #require(try Self.graphs.get().first)
        let text = try #require(try graph.answer(Query("Issue", sort: "state,-n", limit: 3)).cursor).description
        try #expect(QueryCursor(parsing: text).description == text)
        for count in 0..<text.utf8.count { #expect(throws: CambiumError.self) { try QueryCursor(parsing: String(text.prefix(count))) } }
        for place in text.indices {
            var altered = text
            altered.replaceSubrange(place...place, with: text[place] == "0" ? "1" : "0")
            #expect(throws: CambiumError.self) { try QueryCursor(parsing: altered) }
        }
    }

    @Test(arguments: ["n", "state,n", "state,-n nulls first", "-state,-n"])
    func `a cursor of a query with other sort keys is refused`(sort: String) throws {
        let graph = try #require(try Self.graphs.get().first)
        var query = try Query("Issue", sort: sort, limit: 3)
        query.cursor = try graph.answer(Query("Issue", sort: "state,-n", limit: 3)).cursor
        #expect(throws: CambiumError.self) { try graph.find(query) }
    }
}
