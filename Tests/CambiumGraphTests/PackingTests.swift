import CambiumModel
import CambiumTesting
import Foundation
import Testing

@testable import CambiumGraph

/// A graph that is packed occasionally, and a second one that gets the same ops and is never packed. Both must stay equal.
private struct PackedRun {
    let schema: Schema
    let thing: Entity
    let sub: Entity
    var random: SplitMix64
    let packed = Timeline()
    let plain = Timeline()
    private let storage = ChunkStorage()
    private var living: [ObjectID] = []
    private var nextSerial: UInt64 = 1
    /// Graphs of both timelines at the same moments.
    private var moments: [(packed: Graph, plain: Graph)] = []

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Thing", identity: ["key"]) {
                    AttributeDefinition("key", .uuid, userInfo: ["rebuild": "uuid"])
                    AttributeDefinition("flag", .bool, .optional)
                    AttributeDefinition("name", .string, .optional)
                    AttributeDefinition("text", .string, .optional)
                    AttributeDefinition("code", .uuid, .optional)
                    RelationshipDefinition("parent", to: "Thing", inverse: "children")
                    RelationshipDefinition("children", to: "Thing", .toMany, inverse: "parent")
                    RelationshipDefinition("first", to: "Thing", inverse: "steps")
                    RelationshipDefinition("steps", to: "Thing", .orderedToMany, inverse: "first")
                    RelationshipDefinition("partner", to: "Thing", inverse: "partnerOf")
                    RelationshipDefinition("partnerOf", to: "Thing", inverse: "partner")
                    RelationshipDefinition("twin", to: "Thing", inverse: "twin")
                    RelationshipDefinition("friends", to: "Thing", .toMany, inverse: "friends")
                    RelationshipDefinition("likes", to: "Thing", .orderedToMany, inverse: "likedBy")
                    RelationshipDefinition("likedBy", to: "Thing", .toMany, inverse: "likes")
                    RelationshipDefinition("seen", to: "Thing", .toMany)
                }
                EntityDefinition("Sub", parent: "Thing") { AttributeDefinition("extra", .double, .optional) }
            })
        thing = try #require(schema.entity("Thing"))
        sub = try #require(schema.entity("Sub"))
        try apply([.schema(schema.catalog)])
    }

    func key(_ serial: UInt64) -> Value {
        let bytes = (0..<16).map { UInt8(truncatingIfNeeded: $0 < 8 ? serial >> UInt64(8 * $0) : 7) }
        return .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    }

    /// Applies ops to both timelines.
    mutating func apply(_ ops: [Op]) throws {
        for timeline in [packed, plain] { try ProgramRun.commit(ops, to: timeline) }
    }

    mutating func insert(_ count: Int) throws {
        var ops: [Op] = []
        for _ in 0..<count {
            let entity = random.isTrue(1, outOf: 3) ? sub : thing
            let id = ObjectID(root: thing.number, serial: nextSerial)
            var values: [(String, Value)] = [("key", key(nextSerial))]
            if random.isTrue(1, outOf: 2) { values.append(("flag", .bool(random.isTrue(1, outOf: 2)))) }
            if random.isTrue(2, outOf: 3) { values.append(("name", .string("name \(nextSerial)"))) }
            if random.isTrue(1, outOf: 40) { values.append(("text", .string(String(repeating: "long \(nextSerial) ", count: 60)))) }
            if entity === sub { values.append(("extra", .double(Double(nextSerial) / 4))) }
            let assignments = try values.map { Assignment(try #require(entity.attribute($0.0)).number, $0.1) }
            ops.append(.insert(id, entity: entity.number, assignments))
            living.append(id)
            nextSerial += 1
        }
        try apply(ops)
    }

    func inserting(_ serial: UInt64) throws -> Op {
        let id = ObjectID(root: thing.number, serial: serial)
        return .insert(id, entity: thing.number, [Assignment(try #require(thing.attribute("key")).number, key(serial))])
    }

    mutating func link(_ count: Int) throws {
        var ops: [Op] = []
        let names = ["parent", "children", "steps", "partner", "twin", "friends", "friends", "likes", "likedBy", "seen"]
        for _ in 0..<count {
            let name = try #require(names.randomElement(using: &random))
            let (from, to) = (try #require(living.randomElement(using: &random)), try #require(living.randomElement(using: &random)))
            // Some objects are linked to themselves.
            let target = random.isTrue(1, outOf: 20) ? from : to
            ops.append(.link(from, try #require(thing.relationship(name)).number, target: target, index: nil))
        }
        try apply(ops)
    }

    /// Deletes all objects except about one in `keep`, chosen at random.
    mutating func thin(keepingOneOf keep: Int) throws {
        var doomed: [ObjectID] = []
        living.removeAll { id in
            if random.isTrue(1, outOf: keep) { return false }
            doomed.append(id)
            return true
        }
        try apply([.delete(doomed)])
    }

    mutating func clone() throws {
        let roots = Array(living.prefix(3))
        let op = try plain.draft().planClone(roots, CloneOptions()).op(time: Timestamp(microsecondsSince1970: 1)) {
            CloneSeed(low: 1, high: 2)
        }
        #expect(
            try packed.draft().planClone(roots, CloneOptions()).op(time: Timestamp(microsecondsSince1970: 1)) { CloneSeed(low: 1, high: 2) }
                == op)
        try apply([.clone(op)])
        nextSerial = plain.draft().nextSerial(of: thing.number)
        living = Array(packed.head.objects(of: thing))
    }

    mutating func check(_ what: String) {
        #expect(packed.head.digest() == plain.head.digest(), "\(what)")
        #expect(packed.head.invariantFindings() == [], "\(what)")
        #expect(PageChecker.findings(in: packed) == [], "\(what)")
        let seen = packed.head.objects(of: thing).map { packed.head.provenance(of: packed.head.place(of: $0)!).changed }
        let wanted = plain.head.objects(of: thing).map { plain.head.provenance(of: plain.head.place(of: $0)!).changed }
        #expect(seen == wanted && Array(packed.head.objects(of: thing)) == Array(plain.head.objects(of: thing)), "\(what)")
        checkChanges(what)
    }

    /// Expects moved rows not to be changes, and changes to be found in any row.
    private mutating func checkChanges(_ what: String) {
        #expect(packed.head.changes(since: plain.head).lines == [], "\(what)")
        if let moment = moments.randomElement(using: &random) {
            #expect(packed.head.digest(after: moment.packed.digest(), of: moment.packed) == packed.head.digest(), "\(what)")
            #expect(packed.head.changes(since: moment.packed).lines == plain.head.changes(since: moment.plain).lines, "\(what)")
            #expect(moment.packed.changes(since: packed.head).lines == moment.plain.changes(since: packed.head).lines, "\(what), back")
        }
        moments.append((packed.head, plain.head))
    }

    /// Packs in steps until nothing is left to pack. Returns the number of steps.
    @discardableResult
    func pack(sparseness: Int = 4, storing: Bool = true) throws -> Int {
        var limits = PackingLimits()
        limits.sparseness = sparseness
        limits.groupCountMin = 2
        limits.rowCountMax = 100
        (limits.wasteByteCountMin, limits.wastePercentMin, limits.usedPercentMax) = (storing ? 0 : .max, 1, 99)
        limits.byteCountMax = 100_000
        var count = 0
        while count < 300, try packed.pack(limits) { count += 1 }
        return count
    }

    /// Stores the pages. Stored pages are not written to again, so their unused parts count as waste.
    func store() throws {
        _ = try packed.freeze()
        packed.reuse(.none)
    }

    var groupCount: Int {
        let table = packed.head.layout.table(of: thing.number)!.index
        return packed.head.version.reader.groupCount(table) - packed.head.version.reader.freeGroupCount(table)
    }
}

@Suite struct PackingTests {
    @Test(.enabled(if: LongTests.areWanted), arguments: 1...3 as ClosedRange<UInt64>)
    func `a packed graph is equal to the graph before, and changes like one that is not packed`(seed: UInt64) throws {
        var run = try PackedRun(seed: seed)
        for round in 0..<4 {
            try run.insert(600)
            try run.link(1200)
            if round % 2 == 1 { try run.store() }
            try run.thin(keepingOneOf: 30)
            let view = run.packed.head
            let digest = view.digest()
            #expect(try run.pack(storing: round % 2 == 1) > 0)
            run.check("round \(round), packed")
            #expect(view.digest() == digest && PageChecker.findings(in: run.packed) == [], "an earlier graph")
            try run.link(100)
            try run.clone()
            run.check("round \(round), changed")
            try run.thin(keepingOneOf: 3)
            run.check("round \(round), thinned")
        }
    }

    @Test(.enabled(if: LongTests.areWanted)) func `generations of which one object in a hundred survives do not keep groups`() throws {
        var run = try PackedRun(seed: 7)
        var counts: [Int] = []
        for _ in 0..<20 {
            try run.insert(700)
            try run.link(400)
            try run.thin(keepingOneOf: 100)
            try run.pack()
            counts.append(run.groupCount)
        }
        run.check("after 20 generations")
        // Each generation leaves about 7 of 700 objects, and later generations thin these out again.
        #expect(run.groupCount < 2 * 700 / PageLayout.fanOut, "\(counts)")
    }

    @Test func `packing ends when rows cannot be gathered`() throws {
        var run = try PackedRun(seed: 8)
        try run.insert(PageLayout.fanOut * 40)
        // One object of each group stays, always at the same position.
        let doomed = run.packed.head.objects(of: run.thing).filter { $0.serial % UInt64(PageLayout.fanOut) != 5 }
        try run.apply([.delete(doomed)])
        #expect(try run.pack(storing: false) == 0)
        #expect(try run.pack(storing: false) == 0)
        run.check("nothing packed")
    }

    @Test func `packing after an unconfirmed version is rolled back with it`() throws {
        var run = try PackedRun(seed: 12)
        try run.insert(600)
        try run.link(300)
        try run.store()
        try run.thin(keepingOneOf: 20)
        let digest = run.packed.head.digest()
        var draft = run.packed.draft()
        try draft.apply(try run.inserting(5000))
        let unconfirmed = try run.packed.publish(draft, isUnconfirmed: true)
        let unconfirmedDigest = unconfirmed.digest()
        #expect(try run.pack() > 0)
        #expect(run.packed.isUnconfirmed && run.packed.head.digest() == unconfirmedDigest)
        #expect(run.packed.rollBack().digest() == digest)
        #expect(try run.pack() > 0)
        run.check("rolled back and packed again")
    }

    @Test func `a confirmed version stays when packing after it is rolled back`() throws {
        var run = try PackedRun(seed: 13)
        try run.insert(600)
        try run.store()
        try run.thin(keepingOneOf: 20)
        var draft = run.packed.draft()
        let op = try run.inserting(5000)
        try draft.apply(op)
        let unconfirmed = try run.packed.publish(draft, isUnconfirmed: true)
        #expect(try run.pack() > 0)
        try ProgramRun.commit([op], to: run.plain)
        run.packed.confirm(unconfirmed)
        #expect(run.packed.isUnconfirmed && run.packed.head.digest() == run.plain.head.digest())
        run.packed.rollBack()
        run.check("packing rolled back")
        #expect(try run.pack() > 0)
        run.packed.confirm(run.packed.head)
        run.check("packed again")
    }

    @Test func `a step moves few rows and copies few bytes, and a plan packs as much as one large step`() throws {
        var limits = PackingLimits()
        (limits.groupCountMin, limits.wasteByteCountMin, limits.wastePercentMin, limits.usedPercentMax) = (2, 0, 1, 99)
        (limits.rowCountMax, limits.byteCountMax) = (20, 8000)
        var run = try PackedRun(seed: 14)
        try run.insert(2000)
        try run.store()
        try run.thin(keepingOneOf: 20)
        var (kinds, stepCount) = (Set<Bool>(), 0)
        while let survey = run.packed.survey(limits), var plan = PackingPlan(run.packed.head, survey) {
            while !plan.isDone {
                let (rowCount, byteCount) = (plan.rowCount, plan.byteCount)
                try run.packed.pack(&plan)
                // A step may exceed its limit by a group or a page.
                #expect(plan.rowCount - rowCount <= 20 + 2 * PageLayout.fanOut && plan.byteCount - byteCount <= 8000 + 2 * 65_536)
                stepCount += 1
            }
            run.packed.finish(plan)
            kinds.insert(plan.rowCount > 0)
        }
        run.check("packed in small steps")
        #expect(stepCount > 4 && kinds.contains(true), "\(stepCount)")
        #expect(run.groupCount <= 8, "\(run.groupCount)")
    }

    @Test func `a group with an owner of very many members stays where it is`() throws {
        var run = try PackedRun(seed: 15)
        try run.insert(3000)
        let root = run.thing.number
        let children = try #require(run.thing.relationship("children"))
        let hub = ObjectID(root: root, serial: 1)
        let members = (1500...2900).map { ObjectID(root: root, serial: UInt64($0)) }
        try run.apply(members.map { .link(hub, children.number, target: $0, index: nil) })
        let row = try #require(run.packed.head.place(of: hub)).row
        try run.apply([.delete(run.packed.head.objects(of: run.thing).filter { $0.serial != 1 && $0.serial < 1500 && $0.serial % 40 != 0 })]
        )
        var limits = PackingLimits()
        (limits.groupCountMin, limits.sparseness, limits.wasteByteCountMin) = (2, 1, .max)
        (limits.rowCountMax) = 300
        while try run.packed.pack(limits) {}
        #expect(try #require(run.packed.head.place(of: hub)).row == row)
        run.check("packed around a hub")
    }

    @Test func `a long value that very many objects share stays where it is`() throws {
        let schema = try Schema(SchemaDefinition { EntityDefinition("Note") { AttributeDefinition("text", .string, .optional) } })
        let note = try #require(schema.entity("Note"))
        let text = Assignment(try #require(note.attribute("text")).number, .string(String(repeating: "long ", count: 100)))
        let timeline = Timeline()
        let inserts = (1...2).map { Op.insert(ObjectID(root: note.number, serial: $0), entity: note.number, [text]) }
        try ProgramRun.commit([.schema(schema.catalog)] + inserts, to: timeline)
        while timeline.head.objectCount <= PackingLimits.cellCountMax + 1 {
            let roots = timeline.head.objects(of: note).filter { $0.serial != 2 }
            let plan = try timeline.draft().planClone(roots, CloneOptions())
            try ProgramRun.commit([.clone(plan.op(time: Timestamp(microsecondsSince1970: 1)) { CloneSeed(low: 1, high: 2) })], to: timeline)
        }
        var finder = EvacuationFinder([Bool](repeating: true, count: timeline.space.chunkCount))
        finder.find(in: timeline.head.reader, timeline.head.layout, withBlobs: true)
        let cellCounts = finder.places.compactMap { place -> Int? in
            guard case .blob(_, let cells) = place.kind else { return nil }
            return cells.count
        }
        #expect(cellCounts == [1])
    }

    @Test func `an object that is inserted again gets another place if its old place is in use`() throws {
        var run = try PackedRun(seed: 9)
        try run.insert(PageLayout.fanOut * 8)
        // Each pair of neighbours is in a different group.
        func serial(_ group: Int, _ place: Int) -> UInt64 { UInt64(group * PageLayout.fanOut + place) }
        let kept = Set((0..<6).flatMap { [serial($0, 2 * $0 + 1), serial($0, 2 * $0 + 2)] })
        try run.apply([.delete(run.packed.head.objects(of: run.thing).filter { !kept.contains($0.serial) })])
        #expect(try run.pack(storing: false) > 0)
        run.check("packed")
        for serial in [serial(2, 1), serial(2, 7), 9] {
            try run.apply([
                .insert(
                    ObjectID(root: run.thing.number, serial: serial), entity: run.thing.number,
                    [Assignment(try #require(run.thing.attribute("key")).number, run.key(serial))])
            ])
            run.check("\(serial) is back")
        }
    }

    @Test func `a packed graph is migrated like one that is not packed`() throws {
        var run = try PackedRun(seed: 11)
        try run.insert(600)
        try run.link(1200)
        try run.thin(keepingOneOf: 30)
        #expect(try run.pack(storing: false) > 0)
        var definition = run.schema.definition
        definition.entities[0].attributes.append(AttributeDefinition("done", .bool, default: true))
        definition.entities[0].unique = [["key", "name"]]
        for name in ["children", "friends", "likedBy", "first"] {
            let place = try #require(definition.entities[0].relationships.firstIndex { $0.name == name })
            let isSymmetric = name == "friends"
            definition.entities[0].relationships[place].cardinality = name == "first" || isSymmetric ? .toMany : .orderedToMany
        }
        try run.apply([.schema(SchemaMigration(from: run.schema, to: definition).after.catalog)])
        run.check("migrated")
        try run.insert(300)
        try run.link(400)
        try run.thin(keepingOneOf: 10)
        try run.pack(storing: false)
        run.check("packed again")
    }

    @Test func `sparse chunks are emptied and used again`() throws {
        var run = try PackedRun(seed: 10)
        try run.insert(1500)
        try run.store()
        var counts: [Int] = []
        for _ in 0..<30 {
            try run.insert(150)
            try run.thin(keepingOneOf: 2)
            try run.store()
            try run.pack()
            try run.store()
            counts.append(run.packed.space.chunkCount)
        }
        run.check("after 30 generations")
        // Thirty generations take as many chunks as ten.
        #expect(counts[29] <= counts[9] + 2, "\(counts)")
    }
}
