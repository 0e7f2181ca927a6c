import CambiumModel
import CambiumTesting
import Foundation
import Testing

@testable import CambiumGraph

/// An op applies as a whole, or it leaves the draft unchanged.
@Suite struct AtomicOpTests {
    private struct Fixture {
        let timeline = Timeline()
        let box: Entity
        let item: Entity

        /// Two boxes, three items, and the first item in the first box.
        init() throws {
            let schema = try Schema(
                SchemaDefinition {
                    EntityDefinition("Box", identity: ["name"]) {
                        AttributeDefinition("name", .string, .optional)
                        AttributeDefinition("size", .int32, .optional, default: 3)
                        AttributeDefinition("made", .date, .optional)
                        RelationshipDefinition("items", to: "Item", .orderedToMany, inverse: "box")
                        RelationshipDefinition("owner", to: "Item")
                    }
                    EntityDefinition("Item") { RelationshipDefinition("box", to: "Box", inverse: "items") }
                })
            box = try #require(schema.entity("Box"))
            item = try #require(schema.entity("Item"))
            let ops: [Op] = [
                .schema(schema.catalog), .insert(box(1), entity: box.number, [try name("a")]), .insert(box(2), entity: box.number, []),
                .insert(item(1), entity: item.number, []), .insert(item(2), entity: item.number, []),
                .insert(item(3), entity: item.number, []), .link(box(1), try items, target: item(1), index: nil),
            ]
            try ProgramRun.commit(ops, to: timeline)
        }

        func box(_ serial: UInt64) -> ObjectID { ObjectID(root: box.number, serial: serial) }
        func item(_ serial: UInt64) -> ObjectID { ObjectID(root: item.number, serial: serial) }
        func number(_ name: String) throws -> PropertyNumber {
            try #require(box.attribute(name)?.number ?? box.relationship(name)?.number)
        }
        func name(_ text: String) throws -> Assignment { Assignment(try number("name"), .string(text)) }
        var items: PropertyNumber { get throws { try number("items") } }

        static func runs(_ serials: [UInt64]) -> SerialRuns {
            var runs = SerialRuns()
            for serial in serials { runs.append(serial) }
            return runs
        }

        func block(_ kind: UpsertBlock.Kind, _ serials: [UInt64], _ entity: Entity? = nil) -> Op {
            .upsert(UpsertBlock(entity: (entity ?? box).number, kind: kind, serials: Self.runs(serials), identity: [], columns: []))
        }

        func links(_ owners: [UInt64], _ content: LinkBlock.Content) throws -> Op {
            .relink(LinkBlock(root: box.number, property: try items, serials: Self.runs(owners), content: content))
        }

        /// Expects an op to throw and to change nothing: no pages, no pending checks and no serial.
        func expectNothing(of op: Op, _ code: CambiumError.Code, at location: SourceLocation = #_sourceLocation) throws {
            let digest = timeline.head.digest()
            var draft = timeline.draft()
            #expect(AtomicOpTests.refusal(of: op, &draft)?.code == code, sourceLocation: location)
            let isUntouched = draft.pending.isEmpty && draft.pageWriter.supersededPages.isEmpty && draft.nextSerial(of: box.number) == 3
            #expect(isUntouched, sourceLocation: location)
            try timeline.publish(draft)
            #expect(timeline.head.digest() == digest && timeline.head.invariantFindings() == [], sourceLocation: location)
            #expect(PageChecker.findings(in: timeline) == [], sourceLocation: location)
        }
    }

    private static func refusal(of op: Op, _ draft: inout Draft) -> CambiumError? {
        do throws(CambiumError) {
            try draft.apply(op)
            return nil
        } catch { return error }
    }

    @Test func `an op with a value that does not fit changes nothing, wherever the value stands`() throws {
        let fixture = try Fixture()
        let wrong = [
            Assignment(try fixture.number("size"), .string("x")), Assignment(try fixture.number("size"), .int(1 << 40)),
            Assignment(try fixture.number("made"), .date(Date(timeIntervalSinceReferenceDate: 1e13))),
            Assignment(PropertyNumber(rawValue: 999), .null),
        ]
        for value in wrong {
            try fixture.expectNothing(of: .insert(fixture.box(3), entity: fixture.box.number, [fixture.name("b"), value]), .invalidInput)
            try fixture.expectNothing(of: .set(fixture.box(1), [fixture.name("b"), value]), .invalidInput)
            try fixture.expectNothing(of: .set(fixture.box(1), [value, fixture.name("b")]), .invalidInput)
        }
    }

    @Test func `an op with an end or an index that does not fit changes nothing`() throws {
        let fixture = try Fixture()
        let (box, items) = (fixture.box(1), try fixture.items)
        try fixture.expectNothing(of: .link(box, items, target: fixture.item(2), index: 2), .invalidInput)
        try fixture.expectNothing(of: .link(box, items, target: fixture.box(2), index: nil), .invalidInput)
        try fixture.expectNothing(of: .unlink(box, items, target: fixture.box(1)), .invalidInput)
        try fixture.expectNothing(of: .move(box, items, target: fixture.item(2), index: 0), .notFound)
        try fixture.expectNothing(of: .move(box, items, target: fixture.item(1), index: -1), .invalidInput)
        try fixture.expectNothing(of: .delete([box, fixture.box(9)]), .notFound)
    }

    @Test func `a block whose last object does not fit changes no other object`() throws {
        let fixture = try Fixture()
        try fixture.expectNothing(of: fixture.block(.insert, [5, 6, ObjectID.serialMax + 1]), .corrupted)
        try fixture.expectNothing(of: fixture.block(.insertStub, [2, 5]), .corrupted)
        try fixture.expectNothing(of: fixture.block(.update, [1, 2, 3]), .corrupted)
        try fixture.expectNothing(of: fixture.block(.fill, [2, 1]), .corrupted)
        let lists: [LinkBlock.Content] = [
            .unordered(removedCounts: [1, 0], removed: [1], addedCounts: [1, 1], added: [2, 9]),
            .unordered(removedCounts: [1, 1], removed: [1, 9], addedCounts: [1, 0], added: [2]),
            .unordered(removedCounts: [0, 0], removed: [], addedCounts: [1, 2], added: [2, 3, 3]),
            .ordered(keptCounts: [0, 0], suffixCounts: [1, 1], suffixes: [2, 9]),
            .ordered(keptCounts: [0, 0], suffixCounts: [1, 2], suffixes: [2, 3, 3]),
        ]
        for content in lists { try fixture.expectNothing(of: try fixture.links([1, 2], content), .corrupted) }
    }

    @Test func `a schema that cannot be set changes nothing`() throws {
        let fixture = try Fixture()
        var wide = EntityDefinition("Wide")
        wide.attributes = (0..<16_400).map { AttributeDefinition("a\($0)", .bool, .optional) }
        let catalog = try Schema(SchemaDefinition(entities: [wide])).catalog
        try fixture.expectNothing(of: .schema(catalog), .limitExceeded)
        try fixture.expectNothing(of: .schema(SchemaCatalog(json: [])), .corrupted)
        let empty = Timeline()
        var draft = empty.draft()
        #expect(Self.refusal(of: .schema(catalog), &draft)?.code == .limitExceeded)
        try draft.apply(.schema(fixture.timeline.head.schema.catalog))
        let graph = try empty.publish(draft)
        #expect(graph.schema.entity("Box") != nil)
    }

    @Test func `a label or digest of a missing transaction is refused, up to the largest number`() throws {
        let fixture = try Fixture()
        let digest = fixture.timeline.head.digest()
        for number in [UInt64.max, UInt64.max - 1, 1000] as [UInt64] {
            try fixture.expectNothing(of: .label("name", TransactionNumber(rawValue: number)), .notFound)
            try fixture.expectNothing(of: .digest(of: TransactionNumber(rawValue: number), digest), .corrupted)
        }
        let last = fixture.timeline.head.transaction
        try fixture.expectNothing(of: .digest(of: last, GraphDigest(high: 0, low: 0)), .corrupted)
        try fixture.expectNothing(of: .label("", last), .invalidInput)
        let newest = fixture.timeline.head.transaction
        try ProgramRun.commit([.digest(of: newest, digest), .digest(of: .none, digest), .label("name", newest)], to: fixture.timeline)
        #expect(fixture.timeline.head.labels == ["name": newest])
    }

    // MARK: Limits

    /// Returns a draft in which the table of the boxes has space for only `spareGroups` more groups of rows.
    private func draft(_ fixture: Fixture, spareGroups: Int) -> Draft {
        var draft = fixture.timeline.draft()
        let count = UInt32(TableLayout.groupCountMax - spareGroups)
        let table = draft.layout.tables.first { $0.root === draft.schema.entity("Box") }?.index ?? 0
        draft.tableWriter.ownedTable(table).groupCount = count
        return draft
    }

    @Test func `a full table refuses rows before anything is written, and accepts rows that fit`() throws {
        let fixture = try Fixture()
        let group = UInt64(PageLayout.fanOut)
        var full = draft(fixture, spareGroups: 0)
        for op in [fixture.block(.insert, [4, group]), .insert(fixture.box(group), entity: fixture.box.number, [])] {
            #expect(Self.refusal(of: op, &full)?.code == .limitExceeded)
        }
        let serial = full.nextSerial(of: fixture.box.number)
        #expect(serial == 3)
        try full.apply(.insert(fixture.box(3), entity: fixture.box.number, []))
        var nearlyFull = draft(fixture, spareGroups: 1)
        #expect(Self.refusal(of: fixture.block(.insert, [group, 2 * group]), &nearlyFull)?.code == .limitExceeded)
        let hasFirst = nearlyFull.contains(fixture.box(group))
        #expect(!hasFirst)
    }

    // MARK: Failed drafts

    @Test func `a draft that threw after a write refuses all further ops`() throws {
        let fixture = try Fixture()
        let digest = fixture.timeline.head.digest()
        var draft = fixture.timeline.draft()
        do throws(CambiumError) {
            try draft.atomically { draft throws(CambiumError) in
                draft.tableWriter.setLink(0, 1, TableLayout.changedSlot, 7)
                throw CambiumError(.ioFailure, "A fault.")
            }
        } catch { #expect(error.code == .ioFailure) }
        let refusal = Self.refusal(of: .insert(fixture.box(3), entity: fixture.box.number, []), &draft)
        #expect(refusal?.code == .notWritable && (refusal?.underlying as? CambiumError)?.code == .ioFailure)
        var published: CambiumError.Code?
        do throws(CambiumError) { try fixture.timeline.publish(draft) } catch { published = error.code }
        #expect(published == .notWritable && fixture.timeline.head.digest() == digest)
        #expect(PageChecker.findings(in: fixture.timeline) == [])
    }

    @Test func `a replay records no checks after a migration`() throws {
        var definition = SchemaDefinition { EntityDefinition("Thing") { AttributeDefinition("a", .string) } }
        let timeline = Timeline()
        try ProgramRun.commit([.schema(Schema(definition).catalog)], to: timeline)
        definition.entities[0].attributes.append(AttributeDefinition("b", .string, .optional))
        let schema = try Schema(definition)
        let thing = try #require(schema.entity("Thing"))
        var draft = timeline.draft()
        draft.beginReplayed(2)
        try draft.apply(.schema(schema.catalog))
        try draft.apply(.insert(ObjectID(root: thing.number, serial: 1), entity: thing.number, []))
        let (isOff, isEmpty) = (draft.pending.isOff, draft.pending.objects.isEmpty)
        #expect(isOff && isEmpty)
    }

    @Test func `a draft that threw before a write can continue`() throws {
        let fixture = try Fixture()
        var draft = fixture.timeline.draft()
        try draft.apply(.set(fixture.box(1), [try fixture.name("b")]))
        do throws(CambiumError) {
            try draft.atomically { _ throws(CambiumError) in throw CambiumError(.ioFailure, "A fault.") }
        } catch { #expect(error.code == .ioFailure) }
        try draft.apply(.set(fixture.box(2), [try fixture.name("c")]))
        let graph = try fixture.timeline.publish(draft)
        #expect(graph.objectCount == 5)
    }
}
