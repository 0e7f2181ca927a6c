import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Boxes with items. The tests change them and compare them with earlier graphs.
private struct Boxes {
    static let definition = SchemaDefinition {
        EntityDefinition("Box") {
            AttributeDefinition("name", .string, .optional)
            AttributeDefinition("size", .int32, .optional)
            RelationshipDefinition("items", to: "Item", .toMany, inverse: "box", onDelete: .cascade)
            RelationshipDefinition("shelf", to: "Item", .orderedToMany, inverse: "shelfBoxes")
            RelationshipDefinition("friends", to: "Box", .toMany, inverse: "friends")
        }
        EntityDefinition("Item") {
            RelationshipDefinition("box", to: "Box", inverse: "items")
            RelationshipDefinition("shelfBoxes", to: "Box", .toMany, inverse: "shelf")
        }
    }

    let timeline: Timeline
    let box: Entity
    let item: Entity

    /// Inserts `count` boxes and as many items.
    init(_ count: Int) throws {
        let schema = try Schema(Self.definition)
        timeline = Timeline()
        (box, item) = (try #require(schema.entity("Box")), try #require(schema.entity("Item")))
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        var serials = SerialRuns()
        serials.append(from: 1, count: count)
        for entity in [box, item] {
            try commit(.upsert(UpsertBlock(entity: entity.number, kind: .insert, serials: serials, identity: [], columns: [])))
        }
    }

    /// Uses the boxes of a stored timeline.
    init(_ timeline: Timeline) throws {
        self.timeline = timeline
        (box, item) = (try #require(timeline.head.schema.entity("Box")), try #require(timeline.head.schema.entity("Item")))
    }

    /// Stores the pages, and opens them `count` times.
    func stored(_ count: Int) throws -> (source: ChunkStorage, boxes: [Boxes]) {
        let source = ChunkStorage()
        let frozen = try timeline.freeze()
        source.store(frozen.fresh, of: timeline)
        let boxes = try (0..<count).map { _ in
            try Boxes(
                Timeline(frozen.image, layout: timeline.head.fingerprint, schema: timeline.head.schema.catalog, source: source))
        }
        return (source, boxes)
    }

    var head: Graph { timeline.head }
    func box(_ serial: Int) -> ObjectID { ObjectID(root: box.number, serial: UInt64(serial)) }
    func item(_ serial: Int) -> ObjectID { ObjectID(root: item.number, serial: UInt64(serial)) }

    func commit(_ ops: Op...) throws { try ProgramRun.commit(ops, to: timeline) }

    func set(_ serial: Int, _ name: String, _ value: Value) throws {
        try commit(.set(box(serial), [Assignment(try #require(box.attribute(name)).number, value)]))
    }

    /// Gives long names to the first `count` boxes.
    func fill(_ count: Int) throws {
        let number = try #require(box.attribute("name")).number
        let name = Value.string(String(repeating: "n", count: 100))
        try ProgramRun.commit((1...count).map { .set(box($0), [Assignment(number, name)]) }, to: timeline)
    }

    func link(_ serial: Int, _ name: String, _ target: ObjectID) throws {
        try commit(.link(box(serial), try #require(box.relationship(name)).number, target: target, index: nil))
    }

    func move(_ serial: Int, _ target: ObjectID, to index: Int) throws {
        try commit(.move(box(serial), try #require(box.relationship("shelf")).number, target: target, index: index))
    }
}

@Suite struct ChangesTests {
    @Test func `values before and after are reported, except values that were set back`() throws {
        let boxes = try Boxes(300)
        let before = boxes.head
        #expect(before.changes(since: before).isEmpty)
        try boxes.set(200, "size", .int(7))
        try boxes.set(200, "name", .string("big"))
        try boxes.set(3, "name", .string("gone"))
        try boxes.set(3, "name", .null)
        let changes = boxes.head.changes(since: before)
        #expect(changes.map(\.id) == [boxes.box(200)] && changes[0].kind == .changed && changes[0].entity.name == "Box")
        #expect(changes[0].attributes.map(\.attribute.name) == ["name", "size"])
        #expect(changes[0].attributes.map(\.before) == [.null, .null] && changes[0].attributes.map(\.after) == [.string("big"), .int(7)])
        #expect(before.changes(since: boxes.head)[0].attributes.map(\.after) == [.null, .null])
        #expect(changes.object(boxes.box(3)) == nil && changes.object(boxes.box(200)) != nil && !changes.changesSchema)
    }

    @Test func `members that were added, removed and moved are reported at both ends`() throws {
        let boxes = try Boxes(300)
        for item in [5, 6, 7] { try boxes.link(1, "shelf", boxes.item(item)) }
        try boxes.link(2, "items", boxes.item(9))
        let before = boxes.head
        try boxes.move(1, boxes.item(7), to: 0)
        try boxes.link(3, "items", boxes.item(9))
        try boxes.link(4, "friends", boxes.box(4))
        let changes = boxes.head.changes(since: before)
        #expect(changes.map(\.id) == [1, 2, 3, 4].map(boxes.box) + [boxes.item(9)])
        let moved = try #require(changes[0].relationships.first)
        #expect(moved.isMoved && moved.before == [5, 6, 7].map(boxes.item) && moved.after == [7, 5, 6].map(boxes.item))
        #expect(changes[1].relationships.map(\.removed) == [[boxes.item(9)]])
        #expect(changes[2].relationships.map(\.added) == [[boxes.item(9)]])
        #expect(changes[3].relationships.map(\.added) == [[boxes.box(4)]])
        let owner = try #require(changes[4].relationships.first)
        #expect(owner.removed == [boxes.box(2)] && owner.added == [boxes.box(3)])
    }

    @Test func `objects that were inserted or deleted have all of their values and members`() throws {
        let boxes = try Boxes(300)
        try boxes.set(1, "name", .string("a"))
        for item in [3, 8] { try boxes.link(1, "items", boxes.item(item)) }
        let before = boxes.head
        try boxes.commit(.delete([boxes.box(1)]), .insert(boxes.box(900), entity: boxes.box.number, []))
        let changes = boxes.head.changes(since: before)
        #expect(changes.map(\.id) == [boxes.box(1), boxes.box(900), boxes.item(3), boxes.item(8)])
        #expect(changes.map(\.kind) == [.deleted, .inserted, .deleted, .deleted])
        #expect(changes[0].attributes.map(\.before) == [.string("a")])
        #expect(changes[0].relationships.map(\.removed) == [[3, 8].map(boxes.item)])
        #expect(changes[1].attributes.isEmpty && changes[1].relationships.isEmpty)
    }

    @Test func `new and moved labels are reported`() throws {
        let boxes = try Boxes(1)
        let numbers = (1...2 as ClosedRange<UInt64>).map(TransactionNumber.init(rawValue:))
        try boxes.commit(.label("a", numbers[0]), .label("b", numbers[0]))
        let before = boxes.head
        try boxes.commit(.label("b", numbers[1]), .label("c", numbers[1]))
        let changes = boxes.head.changes(since: before)
        #expect(changes.labels.map(\.name) == ["b", "c"] && changes.labels.map(\.after) == [numbers[1], numbers[1]])
        #expect(changes.labels.map(\.before) == [numbers[0], nil] && changes.isEmpty)
    }

    @Test func `pages that two graphs of one checkpoint share are not read`() throws {
        let boxes = try Boxes(20_000)
        try boxes.fill(20_000)
        let (source, opened) = try boxes.stored(2)
        try opened[0].set(7, "size", .int(1))
        try opened[1].set(19_000, "size", .int(2))
        let suppliedCount = source.suppliedCount
        #expect(source.count > 40)
        let changes = opened[1].head.changes(since: opened[0].head)
        #expect(changes.map(\.id) == [7, 19_000].map(boxes.box))
        #expect(changes.flatMap(\.attributes).map(\.before) == [.int(1), .null])
        // Each of the two page spaces asks at most for the chunks on the paths to the pages that differ.
        #expect(source.suppliedCount - suppliedCount < 16)
    }

    @Test func `pages at the same places of two spaces are not treated as one page`() throws {
        let (_, opened) = try Boxes(300).stored(2)
        for (number, boxes) in opened.enumerated() { try boxes.set(7, "size", .int(Int64(number))) }
        let (first, second) = (opened[0].head, opened[1].head)
        #expect(first.version.directory == second.version.directory && first.version.directory != 0)
        #expect(second.changes(since: first).flatMap(\.attributes).map(\.after) == [.int(1)])
        // Both spaces created their pages in the same order.
        for (number, boxes) in opened.enumerated() { try boxes.set(9, "size", .int(Int64(number))) }
        #expect(opened[1].head.changes(since: opened[0].head).map(\.id) == [7, 9].map(opened[0].box))
        #expect(opened[1].head.changes(since: first).map(\.id) == [7, 9].map(opened[0].box))
    }

    @Test func `graphs that share no pages are compared as a whole`() throws {
        let boxes = try Boxes(300)
        try boxes.link(1, "items", boxes.item(3))
        let (copy, other) = (try boxes.stored(1).boxes[0], try Boxes(300))
        try other.link(1, "items", other.item(3))
        #expect(copy.head.changes(since: boxes.head).isEmpty && other.head.changes(since: copy.head).isEmpty)
        try other.set(5, "name", .string(String(repeating: "long", count: 100)))
        #expect(other.head.changes(since: copy.head).map(\.id) == [other.box(5)])
        let same = try other.stored(1).boxes[0]
        #expect(same.head.changes(since: other.head).isEmpty)
    }

    @Test func `long texts that differ in one byte are not equal`() throws {
        let boxes = try Boxes(3)
        let text = String(repeating: "0123456789", count: 20_000)
        try boxes.set(1, "name", .string(text))
        let before = boxes.head
        try boxes.set(1, "name", .string(text.dropLast() + "x"))
        #expect(boxes.head.changes(since: before).map(\.id) == [boxes.box(1)])
        try boxes.set(1, "name", .string(text))
        #expect(boxes.head.changes(since: before).isEmpty)
    }
}
