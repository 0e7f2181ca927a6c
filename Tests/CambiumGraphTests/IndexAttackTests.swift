import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Keys that an attacker chose to collide, and many rows with one key.
@Suite struct IndexAttackTests {
    /// An entity whose identity is a number, and the ops that insert its objects.
    private struct Numbers {
        let thing: Entity
        let number: Attribute
        let catalog: SchemaCatalog

        init() throws {
            let schema = try Schema(SchemaDefinition { EntityDefinition("Thing", identity: ["n"]) { AttributeDefinition("n", .int64) } })
            thing = try #require(schema.entity("Thing"))
            number = thing.identityAttributes[0]
            catalog = schema.catalog
        }

        func id(_ serial: Int) -> ObjectID { ObjectID(root: thing.number, serial: UInt64(serial)) }

        func insert(_ serial: Int, _ value: Int64) -> Op {
            .insert(id(serial), entity: thing.number, [Assignment(number.number, .int(value))])
        }

        func set(_ serial: Int, _ value: Int64) -> Op { .set(id(serial), [Assignment(number.number, .int(value))]) }

        func timeline(secret: UInt8 = 1) throws -> Timeline {
            let timeline = Timeline(key: HashKey(secret: [secret]))
            try ProgramRun.commit([.schema(catalog)], to: timeline)
            return timeline
        }
    }

    @Test func `keys that collide without a secret fill an index like other keys`() throws {
        let numbers = try Numbers()
        let timeline = try numbers.timeline()
        // With an unkeyed hash, each of these keys would hash to its own number, so all would be in one bucket.
        let ops = (1...10_000).map { numbers.insert($0, Int64(bitPattern: Mixing.unmixed(UInt64($0)))) }
        try ProgramRun.commit(ops, to: timeline)
        let shape = IndexShape(timeline.head.reader)
        #expect(shape.entryCount == 10_000 && shape.overflowPageCount == 0)
        #expect(shape.bucketCount < 250)
    }

    @Test func `an identity of several attributes is looked up in one page, even if all objects share one of the values`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Thing", identity: ["group", "n"]) {
                AttributeDefinition("group", .string)
                AttributeDefinition("n", .int64)
            }
        }
        let schema = try Schema(definition)
        let thing = try #require(schema.entity("Thing"))
        let (group, number) = (thing.identity[0].number, thing.identity[1].number)
        let timeline = Timeline()
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        let ops = (1...5000).map { serial in
            let values = [Assignment(group, .string("all")), Assignment(number, .int(Int64(serial)))]
            return Op.insert(ObjectID(root: thing.number, serial: UInt64(serial)), entity: thing.number, values)
        }
        try ProgramRun.commit(ops, to: timeline)
        // If one attribute decided the place of a key, all keys would be in one bucket with many pages.
        let shape = IndexShape(timeline.head.reader)
        #expect(shape.entryCount == 5000 && shape.pageCountMax == 1 && shape.bucketCount < 125)
        let found = timeline.head.place(thing, identity: [.string("all"), .int(4711)])
        #expect(found.map(timeline.head.id(of:))?.serial == 4711)
    }

    @Test func `the secret changes the places of keys, but not the digest of a graph`() throws {
        let numbers = try Numbers()
        let timelines = try [1, 2].map { try numbers.timeline(secret: $0) }
        for timeline in timelines { try ProgramRun.commit((1...1000).map { numbers.insert($0, Int64($0)) }, to: timeline) }
        let (first, second) = (timelines[0].head, timelines[1].head)
        #expect(first.digest() == second.digest())
        let cell = Cell.fixed(7)
        #expect(cell.keyHash(first.reader.hasher, .int64) != cell.keyHash(second.reader.hasher, .int64))
        #expect(first.place(numbers.thing, identity: [.int(7)]) != nil && second.place(numbers.thing, identity: [.int(7)]) != nil)
    }

    @Test(arguments: [200, 3000])
    func `a bucket has no overflow pages after its colliding rows get other keys`(count: Int) throws {
        let numbers = try Numbers()
        let timeline = try numbers.timeline()
        try ProgramRun.commit((1...count).map { numbers.insert($0, 5) } + (1...count).map { numbers.set($0, Int64($0)) }, to: timeline)
        #expect(IndexShape(timeline.head.reader).overflowPageCount == 0)
        try ProgramRun.commit((count + 1...count + 5000).map { numbers.insert($0, Int64($0)) }, to: timeline)
        let shape = IndexShape(timeline.head.reader)
        #expect(shape.overflowPageCount == 0 && shape.bucketCount < (count + 5000) / 40)
        #expect(timeline.head.invariantFindings() == [] && PageChecker.findings(in: timeline) == [])
    }

    @Test func `many rows of one key cause no overflow pages for other keys`() throws {
        let numbers = try Numbers()
        let timeline = try numbers.timeline()
        var draft = timeline.draft()
        for serial in 1...20_000 { try draft.apply(numbers.insert(serial, 5)) }
        for serial in 20_001...24_000 { try draft.apply(numbers.insert(serial, Int64(serial))) }
        let shape = IndexShape(draft.reader)
        // The other keys share less than a page with the crowd of equal keys.
        #expect(shape.bucketCount > 4000 / 112 && shape.pageCountMax <= (20_000 + 56) / 112 + 1)
        #expect(shape.overflowPageCount == shape.pageCountMax - 1)
        let violations = draft.violations()
        #expect(violations.violations.count == 19_999)
    }

    @Test func `an index stays sound when rows of one key leave it in any order`() throws {
        let numbers = try Numbers()
        let timeline = try numbers.timeline()
        var random = SplitMix64(seed: 9)
        var ops = (1...600).map { numbers.insert($0, Int64($0 % 3)) }
        ops += (601...900).map { numbers.insert($0, Int64($0)) }
        ops += (1...600).shuffled(using: &random).map { numbers.set($0, Int64($0) + 10_000) }
        try ProgramRun.commit(ops, to: timeline)
        #expect(timeline.head.invariantFindings() == [] && PageChecker.findings(in: timeline) == [])
        #expect(IndexShape(timeline.head.reader).overflowPageCount == 0)
    }

    @Test func `a row that leaves its key brings its page to the front, so that the rows after it are found at once`() throws {
        let numbers = try Numbers()
        let timeline = try numbers.timeline()
        var draft = timeline.draft()
        for serial in 1...5000 { try draft.apply(numbers.insert(serial, 5)) }
        for serial in 1...400 {
            try draft.apply(.delete([numbers.id(serial)]))
            let index = try #require(Self.pageIndex(ofSerial: UInt64(serial + 1), value: 5, draft.reader))
            // A page holds up to 112 rows. Only the row after the last one of a page is far from the front.
            #expect(index < 3 || serial % 112 == 0)
        }
    }

    @Test func `rows of one key that leave it in any order are soon found without a walk`() throws {
        let numbers = try Numbers()
        let timeline = try numbers.timeline()
        var random = SplitMix64(seed: 4)
        var draft = timeline.draft()
        for serial in 1...3000 { try draft.apply(numbers.insert(serial, 5)) }
        let leaving = (1...3000).shuffled(using: &random)
        for serial in leaving.prefix(200) { try draft.apply(.delete([numbers.id(serial)])) }
        let crowds = draft.indexWriter.crowds
        #expect(crowds.count == 1 && crowds.values.allSatisfy { $0.isCollected })
        for serial in leaving.dropFirst(200) { try draft.apply(numbers.set(serial, Int64(serial) + 10_000)) }
        #expect(draft.indexWriter.crowds.isEmpty && IndexShape(draft.reader).overflowPageCount == 0)
        #expect(draft.violations().violations.isEmpty)
    }

    @Test(arguments: [1, 2]) func `an index stays sound when rows of crowded keys leave and return in any order`(seed: UInt64) throws {
        let numbers = try Numbers()
        let timeline = try numbers.timeline()
        var random = SplitMix64(seed: seed)
        // A page holds up to 112 rows, so the rows of one key take 7 pages or more.
        let count = LongTests.areWanted ? 2000 : 700
        // Two transactions, so that the second one begins with pages that it does not own.
        for round in 0..<2 {
            let (first, last) = (round * count + 1, round * count + count)
            var ops = (1...last).map { $0 < first ? numbers.set($0, 5) : numbers.insert($0, 5) }
            for _ in 0..<count * 3 / 2 {
                let serial = Int.random(in: 1...last, using: &random)
                ops.append(numbers.set(serial, [5, 5, 6, Int64(serial) + 10_000].randomElement(using: &random) ?? 5))
            }
            ops += (1...last).shuffled(using: &random).map { numbers.set($0, Int64($0) + 10_000) }
            try ProgramRun.commit(ops, to: timeline)
            #expect(timeline.head.invariantFindings() == [] && PageChecker.findings(in: timeline) == [])
            #expect(IndexShape(timeline.head.reader).overflowPageCount == 0)
        }
    }

    /// Returns how many pages of its bucket precede the page with the entry of an object.
    private static func pageIndex(ofSerial serial: UInt64, value: UInt64, _ reader: Reader) -> Int? {
        let row = reader.row(0, serial: serial)
        var page = reader.bucket(0, 0, Cell.fixed(value).keyHash(reader.hasher, .int64))
        var index = 0
        while page != 0 {
            var isFound = false
            Bucket(reader.chunks[page]).forEach { _, other in if other == row { isFound = true } }
            if isFound { return index }
            page = Bucket(reader.chunks[page]).overflow
            index += 1
        }
        return nil
    }

    // MARK: Zeros

    /// Returns a timeline, its entity, and ops that insert the values -0.0 and 0.0 of an identity of this type.
    private func zeros(_ type: AttributeType, _ minus: Value) throws -> (timeline: Timeline, thing: Entity, ops: [Op]) {
        let schema = try Schema(SchemaDefinition { EntityDefinition("Thing", identity: ["n"]) { AttributeDefinition("n", type) } })
        let thing = try #require(schema.entity("Thing"))
        let timeline = Timeline()
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        let ops = [minus, type == .float ? .float(0) : .double(0)].enumerated().map { place, value in
            let id = ObjectID(root: thing.number, serial: UInt64(place + 1))
            return Op.insert(id, entity: thing.number, [Assignment(thing.identity[0].number, value)])
        }
        return (timeline, thing, ops)
    }

    @Test(arguments: [(AttributeType.float, Value.float(-0.0)), (.double, .double(-0.0))])
    func `minus zero is the same identity as zero, and keeps its sign`(type: AttributeType, minus: Value) throws {
        let (timeline, thing, ops) = try zeros(type, minus)
        var draft = timeline.draft()
        for op in ops { try draft.apply(op) }
        #expect(throws: CambiumError.self) { try draft.check() }
        try ProgramRun.commit([ops[0]], to: timeline)
        let graph = timeline.head
        let zero: Value = type == .float ? .float(0) : .double(0)
        let id = ObjectID(root: thing.number, serial: 1)
        #expect([minus, zero].allSatisfy { graph.place(thing, identity: [$0]).map(graph.id(of:)) == id })
        #expect(graph.value(of: thing.identityAttributes[0], of: id) == minus)
    }

    @Test func `a log with both zeros is replayed`() throws {
        let (timeline, thing, ops) = try zeros(.double, .double(-0.0))
        var draft = timeline.draft()
        draft.beginReplayed(2)
        for op in ops { try draft.apply(op) }
        try timeline.publish(draft)
        #expect(timeline.head.count(of: thing) == 2 && PageChecker.findings(in: timeline) == [])
        let id = ObjectID(root: thing.number, serial: 1)
        try ProgramRun.commit([.set(id, [Assignment(thing.identity[0].number, .double(1))])], to: timeline)
        #expect(timeline.head.invariantFindings() == [])
    }
}
