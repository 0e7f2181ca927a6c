import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Ordered indexes of a graph, compared with a sort of its objects.
@Suite struct OrderedIndexTests {
    /// A timeline of persons. The entity has an attribute of each kind and three indexes.
    struct People {
        let timeline = Timeline()
        let person: Entity
        let worker: Entity
        var serial: UInt64 = 0

        init(hasIndexes: Bool = true) throws {
            let schema = try Schema(People.definition(hasIndexes: hasIndexes))
            person = try #require(schema.entity("Person"))
            worker = try #require(schema.entity("Worker"))
            try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        }

        static func definition(hasIndexes: Bool) -> SchemaDefinition {
            var definition = SchemaDefinition {
                EntityDefinition("Person") {
                    AttributeDefinition("name", .string, .optional)
                    AttributeDefinition("born", .int32, .optional)
                    AttributeDefinition("weight", .double, .optional)
                    AttributeDefinition("price", .decimal, .optional)
                }
                EntityDefinition("Worker", parent: "Person") { AttributeDefinition("badge", .int64, .optional) }
            }
            if hasIndexes {
                definition.entities[0].indexes = [["name"], ["name[c]", "-born"], ["weight"], ["price"]]
                definition.entities[1].unique = [["badge"]]
            }
            return definition
        }

        func id(_ serial: UInt64) -> ObjectID { ObjectID(root: person.number, serial: serial) }

        mutating func insert(_ values: [String: Value], isWorker: Bool = false) -> Op {
            serial += 1
            return .insert(id(serial), entity: (isWorker ? worker : person).number, assignments(values))
        }

        func assignments(_ values: [String: Value]) -> [Assignment] {
            values.compactMap { name, value in worker.attribute(name).map { Assignment($0.number, value) } }
        }

        func index(_ names: [String]) throws -> OrderedIndex {
            let graph = timeline.head
            let entity = try #require(graph.schema.entity(names == ["badge"] ? "Worker" : "Person"))
            let numbers = try names.map { try #require(entity.attribute($0)).number }
            let found = graph.orderedIndexes(of: entity).first { index in
                index.components.map(\.attribute) == numbers
            }
            return try #require(found)
        }

        func serials(_ range: IndexRange?, isReversed: Bool = false, offset: Int = 0) -> [UInt64] {
            var serials: [UInt64] = []
            range?.forEach(isReversed: isReversed, offset: offset) { place in
                serials.append(timeline.head.id(of: place).serial)
                return true
            }
            return serials
        }

        func expectSound() {
            #expect(timeline.head.invariantFindings() == [])
            #expect(PageChecker.findings(in: timeline) == [])
        }
    }

    private static let names = ["", "a", "A", "Ab", "ab", "b", "straße", "STRAẞE", "Ärger", "ärger", "z\u{0}", "z\u{1}", "z"]

    private func filled(_ count: Int) throws -> People {
        var people = try People()
        var random = SplitMix64(seed: 11)
        var ops: [Op] = []
        for _ in 0..<count {
            let values: [String: Value] = [
                "name": .string(random.pick(Self.names) ?? ""), "born": .int(Int64.random(in: -3...3, using: &random)),
                "weight": random.isTrue(1, outOf: 9) ? .null : .double(Double(Int.random(in: -5...5, using: &random)) / 4),
                "price": .decimal(
                    DecimalNumber("\(Int.random(in: -30...30, using: &random))e\(Int.random(in: -3...3, using: &random))") ?? .zero),
            ]
            ops.append(people.insert(values, isWorker: random.isTrue(1, outOf: 3)))
        }
        try ProgramRun.commit(ops, to: people.timeline)
        return people
    }

    @Test func `objects are found by equal values, ranges and prefixes`() throws {
        let people = try filled(700)
        people.expectSound()
        let graph = people.timeline.head
        let name = try #require(people.person.attribute("name"))
        let all = (1...people.serial).map { ($0, graph.value(of: name, of: people.id($0)) ?? .null) }
        func matching(_ body: (String) -> Bool) -> [UInt64] {
            all.filter { if case .string(let text) = $0.1 { body(text) } else { false } }.map(\.0)
        }
        let index = try people.index(["name"])
        #expect(index.count == 700 && index.all.count == 700)
        for text in Self.names {
            let equal = try #require(index.range(equalTo: [.string(text)]))
            #expect(
                people.serials(equal).sorted() == matching { $0.utf8.elementsEqual(text.utf8) }
                    && equal.count == people.serials(equal).count)
            let prefix = index.range(prefix: text)
            #expect(people.serials(prefix).sorted() == matching { $0.utf8.starts(with: text.utf8) })
            let after = index.range(from: .after([.string(text)]))
            #expect(people.serials(after).sorted() == matching { Array(text.utf8).lexicographicallyPrecedes(Array($0.utf8)) })
        }
        let some = index.ranges(in: [.string("b"), .string("a"), .string("none")])
        let equal = ["a", "b"].flatMap { people.serials(index.range(equalTo: [.string($0)])) }
        #expect(some.flatMap { people.serials($0) } == equal)
        #expect(index.range(equalTo: [.int(3)]) == nil && index.range(equalTo: [.string("none")])?.first == nil)
    }

    @Test func `texts that differ only in case are adjacent, with descending numbers within them`() throws {
        let people = try filled(500)
        let graph = people.timeline.head
        let (name, born) = (try #require(people.person.attribute("name")), try #require(people.person.attribute("born")))
        let index = try people.index(["name", "born"])
        let range = try #require(index.range(equalTo: [.string("Straße")]))
        let found = people.serials(range)
        #expect(found.count > 20)
        let names = Set(found.map { graph.value(of: name, of: people.id($0)) })
        #expect(names == [.string("straße"), .string("STRAẞE")])
        let numbers = found.compactMap { serial -> Int64? in
            if case .int(let number)? = graph.value(of: born, of: people.id(serial)) { number } else { nil }
        }
        #expect(numbers == numbers.sorted(by: >))
        #expect(
            people.serials(range, isReversed: true) == found.reversed() && people.serials(range, offset: 3) == Array(found.dropFirst(3)))
    }

    @Test func `numbers are in order, null is first, and 0 equals -0`() throws {
        let people = try filled(500)
        let graph = people.timeline.head
        let (weight, price) = (try #require(people.person.attribute("weight")), try #require(people.person.attribute("price")))
        var last: Double?
        let index = try people.index(["weight"])
        for serial in people.serials(index.all) {
            switch graph.value(of: weight, of: people.id(serial)) {
            case .double(let number)?:
                #expect(last.map { $0 <= number } ?? true)
                last = number
            default: #expect(last == nil)
            }
        }
        #expect(index.range(equalTo: [.double(0)])?.count == index.range(equalTo: [.double(-0.0)])?.count)
        #expect(index.range(equalTo: [.null])?.count == index.range(from: .before([.null]), to: .after([.null]))?.count)
        var lastPrice: DecimalNumber?
        for serial in people.serials(try people.index(["price"]).all) {
            guard case .decimal(let number)? = graph.value(of: price, of: people.id(serial)) else { continue }
            #expect(lastPrice.map { $0 <= number } ?? true)
            lastPrice = number
        }
    }

    @Test func `long texts with the same stored part of the key are distinguished`() throws {
        var people = try People()
        let long = String(repeating: "x", count: 400)
        let names = [
            long, long + "a", long + "b", String(long.dropLast(200)), String(repeating: "x", count: OrderedNode.keyByteCountMax), "y",
        ]
        let ops = (0..<60).map { people.insert(["name": .string(names[$0 * 7 % names.count])]) }
        try ProgramRun.commit(ops, to: people.timeline)
        people.expectSound()
        let index = try people.index(["name"])
        let name = try #require(people.person.attribute("name"))
        let graph = people.timeline.head
        let texts = people.serials(index.all).compactMap { serial -> String? in
            if case .string(let text)? = graph.value(of: name, of: people.id(serial)) { text } else { nil }
        }
        #expect(texts == texts.sorted() && texts.count == 60)
        #expect(people.serials(index.all, isReversed: true) == people.serials(index.all).reversed())
        for text in names {
            let equal = try #require(index.range(equalTo: [.string(text)]))
            #expect(equal.count == texts.count { $0 == text } && people.serials(equal).count == equal.count)
            let after = try #require(index.range(from: .after([.string(text)])))
            #expect(after.count == texts.count { $0 > text } && people.serials(after).count == after.count)
            let before = try #require(index.range(to: .before([.string(text)])))
            #expect(before.count == texts.count { $0 < text })
            #expect(index.range(prefix: text)?.count == texts.count { $0.hasPrefix(text) })
        }
    }

    @Test func `many long texts with the same stored part of the key are sorted in parts`() throws {
        var people = try People()
        let long = String(repeating: "x", count: 258)
        // Two objects have each text, so the rows also decide the order.
        let texts = (0..<1_200).map { "\(long)\(1_000 + $0 * 7 % 600)" }
        try ProgramRun.commit(texts.map { people.insert(["name": .string($0)]) }, to: people.timeline)
        let index = try people.index(["name"])
        let expected = texts.indices.sorted { (texts[$0], $0) < (texts[$1], $1) }.map { UInt64($0 + 1) }
        #expect(people.serials(index.all) == expected)
        #expect(people.serials(index.all, isReversed: true) == expected.reversed())
        let part = try #require(index.range(from: .before([.string(texts[0])]), to: .after([.string(texts[80])])))
        #expect(people.serials(part) == expected.filter { texts[Int($0) - 1] <= texts[80] })
        for count in [1, 128, 129, 1_153] {
            var found: [UInt64] = []
            index.all.forEach(offset: 3) { place in
                found.append(people.timeline.head.id(of: place).serial)
                return found.count < count
            }
            #expect(found == Array(expected[3..<3 + count]), "\(count)")
        }
    }

    @Test func `one range is enough for all values with the same cut key`() throws {
        var people = try People()
        let long = String(repeating: "x", count: 400)
        let ops = ["a", long + "a", long + "b", long + "c", "y"].map { people.insert(["name": .string($0)]) }
        try ProgramRun.commit(ops, to: people.timeline)
        let index = try people.index(["name"])
        let ranges = index.ranges(in: ["y", long + "c", long + "none", long + "a", "none", "a"].map { .string($0) })
        // Each of the long texts would otherwise need a comparison with all three objects.
        #expect(ranges.map(\.outer) == [0..<1, 1..<4, 4..<5])
        #expect(ranges.map { people.serials($0) } == [[1], [2, 3, 4], [5]])
        #expect(index.ranges(in: [.string(long + "b")]).map { people.serials($0) } == [[3]])
    }

    @Test func `equal values of a list have one range`() throws {
        var people = try People()
        try ProgramRun.commit([people.insert(["weight": .double(0.0)]), people.insert(["weight": .double(1.0)])], to: people.timeline)
        let ranges = try people.index(["weight"]).ranges(in: [.double(0.0), .double(-0.0), .double(2.0)])
        #expect(ranges.map { people.serials($0) } == [[1]])
    }

    @Test func `an index follows changes, deletions and objects of other entities`() throws {
        var people = try filled(300)
        try ProgramRun.commit((1...40).map { .set(people.id($0), people.assignments(["name": .string("moved")])) }, to: people.timeline)
        try ProgramRun.commit([.delete((20...60).map { people.id($0) })], to: people.timeline)
        let ops = (1...9).map { people.insert(["badge": .int($0)], isWorker: true) }
        try ProgramRun.commit(ops, to: people.timeline)
        people.expectSound()
        #expect(try people.index(["name"]).range(equalTo: [.string("moved")])?.count == 19)
        let badges = try people.index(["badge"])
        #expect(badges.count == people.timeline.head.count(of: people.worker))
        #expect(
            people.serials(badges.range(from: .before([.int(3)]))).count == 7
                && badges.all.last.map(people.timeline.head.id)?.serial == people.serial)
    }

    @Test func `a new index is built in steps between writes, and a dropped index leaves no page`() throws {
        var people = try People(hasIndexes: false)
        let ops = (0..<1500).map { people.insert(["name": .string("name \($0 % 100)"), "born": .int(Int64($0))]) }
        try ProgramRun.commit(ops, to: people.timeline)
        let timeline = people.timeline
        let byteCount = timeline.pageByteCount
        let migration = try SchemaMigration(from: timeline.head.schema, to: People.definition(hasIndexes: true))
        var draft = timeline.draft()
        try draft.apply(.schema(migration.after.catalog))
        try timeline.publish(draft, indexing: 0)
        #expect(timeline.head.hasIncompleteIndexes && timeline.head.orderedIndexes(of: people.person).isEmpty)
        var steps = 0
        while try timeline.buildIndexes(rowCountMax: 100) {
            steps += 1
            var draft = timeline.draft()
            let changed = people.id(UInt64(steps * 13 % 1500 + 1))
            if timeline.head.contains(changed) { try draft.apply(.set(changed, people.assignments(["name": .string("changed")]))) }
            try draft.apply(people.insert(["name": .string("inserted")]))
            if steps % 3 == 0 { try draft.apply(.delete([people.id(UInt64(steps * 17 % 1400 + 1))])) }
            try timeline.publish(draft, indexing: 0)
            #expect(timeline.head.invariantFindings() == [])
        }
        #expect(steps > 20 && !timeline.head.hasIncompleteIndexes)
        people.expectSound()
        #expect(try people.index(["name"]).range(equalTo: [.string("inserted")])?.count == steps)
        let back = try SchemaMigration(from: timeline.head.schema, to: People.definition(hasIndexes: false))
        try ProgramRun.commit([.schema(back.after.catalog)], to: timeline)
        people.expectSound()
        #expect(timeline.head.layout.ordered.isEmpty && timeline.pageByteCount < byteCount * 5 / 4)
    }

    @Test(arguments: [(512, 1...1), (10, 4...40)])
    func `one step builds several small indexes, up to a number of rows`(rowCountMax: Int, stepCounts: ClosedRange<Int>) throws {
        var definition = SchemaDefinition { EntityDefinition("Thing") { AttributeDefinition("number0", .int64, .optional) } }
        for number in 1..<40 { definition.entities[0].attributes.append(AttributeDefinition("number\(number)", .int64, .optional)) }
        let schema = try Schema(definition)
        let thing = try #require(schema.entity("Thing")).number
        let timeline = Timeline()
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        let ops = (1...3 as ClosedRange<UInt64>).map { Op.insert(ObjectID(root: thing, serial: $0), entity: thing, []) }
        try ProgramRun.commit(ops, to: timeline)
        definition.entities[0].indexes = (0..<40).map { ["number\($0)"] }
        var draft = timeline.draft()
        try draft.apply(.schema(SchemaMigration(from: timeline.head.schema, to: definition).after.catalog))
        try timeline.publish(draft, indexing: 0)
        #expect(timeline.head.hasIncompleteIndexes)
        var stepCount = 1
        while try timeline.buildIndexes(rowCountMax: rowCountMax) { stepCount += 1 }
        #expect(stepCounts.contains(stepCount), "\(stepCount)")
        #expect(!timeline.head.hasIncompleteIndexes && timeline.head.invariantFindings() == [])
        #expect(PageChecker.findings(in: timeline) == [])
    }
}
