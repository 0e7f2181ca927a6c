import CambiumGraph
import CambiumModel
import CambiumTesting
import Testing

@Suite struct GraphTests {
    private static let schema = try? Schema(
        SchemaDefinition {
            EntityDefinition("Box", identity: ["name"]) {
                AttributeDefinition("name", .string, .optional)
                AttributeDefinition("content", .data, .optional)
                RelationshipDefinition("parent", to: "Box", inverse: "children", onDelete: .nullify)
                RelationshipDefinition("children", to: "Box", .toMany, inverse: "parent", onDelete: .cascade)
                RelationshipDefinition("items", to: "Item", .orderedToMany, inverse: "boxes")
                RelationshipDefinition("shelf", to: "Item", .orderedToMany, inverse: "shelfBox")
            }
            EntityDefinition("Item") {
                RelationshipDefinition("boxes", to: "Box", .toMany, inverse: "items")
                RelationshipDefinition("shelfBox", to: "Box", inverse: "shelf")
            }
        })

    /// A timeline with boxes and items that are not linked.
    struct Fixture {
        let timeline = Timeline()
        let box: Entity
        let item: Entity

        init(boxes: Int, items: Int = 0) throws {
            let schema = try #require(GraphTests.schema)
            box = try #require(schema.entity("Box"))
            item = try #require(schema.entity("Item"))
            try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
            var ops: [Op] = []
            for (entity, count) in [(box, boxes), (item, items)] {
                var serials = SerialRuns()
                serials.append(from: 1, count: count)
                ops.append(.upsert(UpsertBlock(entity: entity.number, kind: .insert, serials: serials, identity: [], columns: [])))
            }
            try ProgramRun.commit(ops, to: timeline)
        }

        func box(_ serial: Int) -> ObjectID { ObjectID(root: box.number, serial: UInt64(serial)) }
        func item(_ serial: Int) -> ObjectID { ObjectID(root: item.number, serial: UInt64(serial)) }

        func members(_ relationship: Relationship, of id: ObjectID) -> [Int] {
            (timeline.head.members(relationship, of: id) ?? []).map { Int($0.serial) }
        }

        /// Expects the newest graph and the pages to have no findings.
        func expectSound() {
            #expect(timeline.head.invariantFindings() == [])
            #expect(PageChecker.findings(in: timeline) == [])
        }
    }

    @Test(arguments: ["items", "shelf"])
    func `an ordered list stays in order through inserts at indexes and moves`(name: String) throws {
        let fixture = try Fixture(boxes: 1, items: 1000)
        let list = try #require(fixture.box.relationship(name))
        var random = SplitMix64(seed: 1)
        var expected: [Int] = []
        var draft = fixture.timeline.draft()
        for serial in 1...1000 {
            let index = Int.random(in: 0...expected.count, using: &random)
            try draft.apply(.link(fixture.box(1), list.number, target: fixture.item(serial), index: index))
            expected.insert(serial, at: index)
        }
        for _ in 1...1000 {
            let serial = expected.remove(at: Int.random(in: 0..<1000, using: &random))
            let index = Int.random(in: 0...999, using: &random)
            try draft.apply(.move(fixture.box(1), list.number, target: fixture.item(serial), index: index))
            expected.insert(serial, at: index)
        }
        try fixture.timeline.publish(draft)
        #expect(fixture.members(list, of: fixture.box(1)) == expected)
        fixture.expectSound()
    }

    @Test(.enabled(if: LongTests.areWanted)) func `a cascade deletes a chain of any length`() throws {
        let count = 100_000
        let fixture = try Fixture(boxes: count)
        let parent = try #require(fixture.box.relationship("parent"))
        var serials = SerialRuns()
        serials.append(from: 2, count: count - 1)
        let block = LinkBlock(
            root: fixture.box.number, property: parent.number, serials: serials, content: .toOne((1..<UInt64(count)).map { $0 }))
        try ProgramRun.commit([.relink(block)], to: fixture.timeline)
        #expect(fixture.timeline.head.linkCount == count - 1)
        try ProgramRun.commit([.delete([fixture.box(2)])], to: fixture.timeline)
        #expect(fixture.timeline.head.objectCount == 1)
        fixture.expectSound()
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: ["items", "shelf", "children"])
    func `a hub unlinks its members one by one`(name: String) throws {
        let count = 100_000
        let fixture = try Fixture(boxes: count + 1, items: count + 1)
        let members = try #require(fixture.box.relationship(name))
        let added = (2...UInt64(count + 1)).map { $0 }
        var hub = SerialRuns()
        hub.append(1)
        let content = LinkBlock.Content.unordered(
            removedCounts: [0], removed: [], addedCounts: [UInt32(count)], added: added)
        let block = LinkBlock(root: fixture.box.number, property: members.number, serials: hub, content: content)
        try ProgramRun.commit([.relink(block)], to: fixture.timeline)
        #expect(fixture.timeline.head.linkCount == count)
        var draft = fixture.timeline.draft()
        var random = SplitMix64(seed: 2)
        for serial in added.shuffled(using: &random) {
            let target = ObjectID(root: members.destinationRoot, serial: serial)
            try draft.apply(.unlink(fixture.box(1), members.number, target: target))
        }
        try fixture.timeline.publish(draft)
        #expect(fixture.timeline.head.linkCount == 0)
        fixture.expectSound()
    }

    @Test(arguments: [0, 1, 255, 256, 70_000, 200_000])
    func `a value of any length is read back, and its pages are freed`(byteCount: Int) throws {
        let fixture = try Fixture(boxes: 1)
        let content = try #require(fixture.box.attribute("content"))
        let name = try #require(fixture.box.attribute("name"))
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0) }
        let text = String(repeating: "x", count: byteCount)
        try ProgramRun.commit([.set(fixture.box(1), [Assignment(name.number, .null)])], to: fixture.timeline)
        try ProgramRun.commit(
            [.set(fixture.box(1), [Assignment(content.number, .data(bytes)), Assignment(name.number, .string(text))])],
            to: fixture.timeline)
        #expect(fixture.timeline.head.value(of: content, of: fixture.box(1)) == .data(bytes))
        #expect(fixture.timeline.head.place(fixture.box, identity: text).map(fixture.timeline.head.id) == fixture.box(1))
        let used = fixture.timeline.pageByteCount
        try ProgramRun.commit(
            [.set(fixture.box(1), [Assignment(content.number, .null), Assignment(name.number, .null)])], to: fixture.timeline)
        #expect(fixture.timeline.head.value(of: content, of: fixture.box(1)) == .null)
        fixture.expectSound()
        #expect(fixture.timeline.pageByteCount <= used - (byteCount > 255 ? 2 * byteCount : 0))
    }

    @Test func `objects are visited in order, however far apart their serials are`() throws {
        let schema = try #require(Self.schema)
        let item = try #require(schema.entity("Item"))
        let serials: [UInt64] = [1, 2, 63, 64, 128, 8191, 1 << 14, 1 << 21, 1 << 28 + 5, 1 << 35, ObjectID.serialMax]
        let timeline = Timeline()
        var draft = timeline.draft()
        try draft.apply(.schema(schema.catalog))
        for serial in serials.reversed() { try draft.apply(.insert(ObjectID(root: item.root, serial: serial), entity: item.number, [])) }
        try timeline.publish(draft)
        #expect(timeline.head.objects(of: item).map(\.serial) == serials)
        var without = timeline.draft()
        try without.apply(.delete([ObjectID(root: item.root, serial: 64), ObjectID(root: item.root, serial: 1 << 35)]))
        try timeline.publish(without)
        #expect(timeline.head.objects(of: item).map(\.serial) == serials.filter { $0 != 64 && $0 != 1 << 35 })
    }

    @Test func `a block of links that names a member twice is refused`() throws {
        let fixture = try Fixture(boxes: 2, items: 2)
        func code(_ relationship: String, _ content: LinkBlock.Content) throws -> CambiumError.Code? {
            let property = try #require(fixture.box.relationship(relationship)).number
            var owners = SerialRuns()
            owners.append(1)
            var draft = fixture.timeline.draft()
            do throws(CambiumError) {
                try draft.apply(.relink(LinkBlock(root: fixture.box.root, property: property, serials: owners, content: content)))
                return nil
            } catch {
                return error.code
            }
        }
        #expect(try code("items", .ordered(keptCounts: [0], suffixCounts: [2], suffixes: [2, 1])) == nil)
        #expect(try code("items", .ordered(keptCounts: [0], suffixCounts: [3], suffixes: [2, 1, 2])) == .corrupted)
        func changes(_ removed: [UInt64], _ added: [UInt64]) -> LinkBlock.Content {
            .unordered(
                removedCounts: [UInt32(removed.count)], removed: removed, addedCounts: [UInt32(added.count)], added: added)
        }
        #expect(try code("children", changes([2], [2])) == nil)
        #expect(try code("children", changes([], [2, 2])) == .corrupted)
        #expect(try code("children", changes([2, 2], [])) == .corrupted)
    }
}
