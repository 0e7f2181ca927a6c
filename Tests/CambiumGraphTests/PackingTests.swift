import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

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
            let plan = try CloneWriter.plan(timeline.draft(), roots, CloneOptions())
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
        // Each pair of neighbors is in a different group.
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

    @Test func `a shared group is released when its last virtual page gets a new group`() throws {
        var run = try PackedRun(seed: 17)
        try run.insert(PageLayout.fanOut * 3)
        let (first, second) = (UInt64(5), UInt64(PageLayout.fanOut + 7))
        try run.apply([.delete(run.packed.head.objects(of: run.thing).filter { $0.serial != first && $0.serial != second })])
        #expect(try run.pack(storing: false) > 0)
        let groupCount = run.groupCount
        try run.apply([.delete([ObjectID(root: run.thing.number, serial: second)]), run.inserting(first + 1)])
        run.check("inserted again")
        #expect(run.groupCount == groupCount)
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
