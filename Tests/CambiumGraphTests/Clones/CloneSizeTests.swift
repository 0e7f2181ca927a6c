import Cambium
import CambiumLog
import CambiumModel
import CambiumTesting
import Foundation
import TestFixtures
import Testing

/// Clones of very many objects. Cloning does not recurse, and its event takes at most 256 bytes.
@Suite struct `Sizes of clones` {
    /// The number of objects: `clone` of `CAMBIUM_TEST`, if it is set. A debug build is slow and takes fewer objects, but even that many
    /// frames would overflow a stack.
    private static let count: Int = {
        if let given = TestSettings.number("clone") { return given }
        #if DEBUG
            return 50_000
        #else
            return 1_000_000
        #endif
    }()

    /// The number of objects that a test clones together. A fast test clones fewer objects.
    private static let clonedCount = LongTests.areWanted ? count : min(count, 2_000)

    /// A store that is filled by ops, because importing rows would take a long time in a debug build.
    private struct Made {
        let store: Store
        let volume = MemoryVolume()

        init(_ schema: String) throws {
            store = try Store.create(
                volume, schema: try Schema(SchemaDefinition(json: Array(schema.utf8))), durability: .buffered(every: .seconds(3600)),
                environment: fixedEnvironment())
        }

        func id(_ entity: String, _ serial: Int) throws -> ObjectID {
            ObjectID(root: try store.schema.required(entity).root, serial: UInt64(serial))
        }

        private func transact(_ ops: [Op]) throws {
            _ = try store.transact(Author()) { transaction in
                for op in ops {
                    try transaction.draft.apply(op)
                    transaction.ops.append(op)
                }
            }
        }

        /// Splits serials into runs of at most 10,000, which a log accepts.
        private func runs(_ first: Int, _ count: Int) -> [SerialRuns] {
            stride(from: first, to: first + count, by: 10_000).map { start in
                var serials = SerialRuns()
                serials.append(from: UInt64(start), count: min(10_000, first + count - start))
                return serials
            }
        }

        func insert(_ entity: String, _ count: Int) throws {
            let entity = try store.schema.required(entity)
            try transact(
                runs(1, count).map { .upsert(UpsertBlock(entity: entity.number, kind: .insert, serials: $0, identity: [], columns: [])) })
        }

        /// Links each of `count` objects, beginning with the serial `first`, by a to-one relationship.
        func link(_ entity: String, _ name: String, from first: Int, count: Int, to target: (UInt64) -> UInt64) throws {
            let relationship = try store.schema.required(entity).requiredRelationship(name)
            let root = try store.schema.required(entity).root
            try transact(
                runs(first, count).map { serials in
                    let targets = serials.runs.flatMap { run in (0..<UInt64(run.count)).map { target(run.first + $0) } }
                    return .relink(LinkBlock(root: root, property: relationship.number, serials: serials, content: .toOne(targets)))
                })
        }

        /// Links one object to `count` objects, beginning with the serial `first`, by a to-many relationship.
        func link(_ id: ObjectID, _ relationship: Relationship, from first: Int, count: Int) throws {
            var hub = SerialRuns()
            hub.append(id.serial)
            try transact(
                runs(first, count).map { serials in
                    let added = serials.runs.flatMap { run in (0..<UInt64(run.count)).map { run.first + $0 } }
                    let content = LinkBlock.Content.unordered(
                        removedCounts: [0], removed: [], addedCounts: [UInt32(added.count)], added: added)
                    return .relink(LinkBlock(root: id.root, property: relationship.number, serials: hub, content: content))
                })
        }

        /// Clones an object. Expects `count` copies, an event of at most 256 bytes and a replay that results in the same graph.
        func clone(_ id: ObjectID, count: Int) throws -> (Clone, Graph) {
            let (clone, receipt) = try store.write { try $0.clone(id) }
            #expect(clone.map.count == count && receipt.graph.objectCount == 2 * count)
            #expect(receipt.logByteCount <= 256)
            #expect(receipt.graph.invariantFindings() == [])
            try store.close()
            let replayed = try ReadOnlyStore(volume).graph
            #expect(replayed.digest() == receipt.graph.digest())
            return (clone, receipt.graph)
        }
    }

    @Test(arguments: ["next", "left", "parent"])
    func `a very long chain is cloned as pairs, without inverses and as a tree of one branch`(name: String) throws {
        let count = Self.clonedCount
        let isTree = name == "parent"
        let made = try Made(CloneModels.nodes)
        try made.insert("Node", count)
        try made.link("Node", name, from: isTree ? 2 : 1, count: count - 1) { isTree ? $0 - 1 : $0 + 1 }
        let (clone, graph) = try made.clone(made.id("Node", 1), count: count)
        let relationship = try graph.schema.required("Node").requiredRelationship(name)
        #expect(try clone.root == made.id("Node", count + 1))
        for serial in [count + 2, count + count / 2, 2 * count - 1] {
            #expect(try graph.members(relationship, of: made.id("Node", serial)) == [made.id("Node", isTree ? serial - 1 : serial + 1)])
        }
    }

    @Test(arguments: ["children", "parts"])
    func `a hub with very many members is cloned`(name: String) throws {
        let count = Self.clonedCount
        let made = try Made(CloneModels.nodes)
        try made.insert("Node", count)
        let relationship = try made.store.schema.required("Node").requiredRelationship(name)
        if name == "children" {
            try made.link("Node", "parent", from: 2, count: count - 1) { _ in 1 }
        } else {
            try made.link(made.id("Node", 1), relationship, from: 2, count: count - 1)
        }
        let (clone, graph) = try made.clone(made.id("Node", 1), count: count)
        let members = try #require(graph.members(relationship, of: clone.root))
        #expect(try members.count == count - 1 && members.first == made.id("Node", count + 2) && members.last == made.id("Node", 2 * count))
    }

    @Test(.timeLimit(.minutes(1)))
    func `a value with a rule that each object of a long chain follows is looked up once for each object`() throws {
        let count = 30_000
        let links = #""next": {"to": "Node", "inverse": "previous"}, "previous": {"to": "Node", "inverse": "next"}"#
        let keys = #"{"followParent": "label", "withoutParent": "keep"}"#
        let label = #""label": {"type": "string", "optional": true, "maxLength": 9, "userInfo": \#(keys)}"#
        let made = try Made(CloneModels.schema(node: links, attributes: label))
        try made.insert("Node", count)
        try made.link("Node", "next", from: 1, count: count - 1) { $0 + 1 }
        #expect(try made.store.graph.previewClone(of: [made.id("Node", 1)]).objectCount == count)
    }

    @Test func `a clone adds one link to an object with very many members`() throws {
        let count = Self.count
        let made = try Made(CloneModels.nodes)
        try made.insert("Node", count)
        try made.link("Node", "parent", from: 2, count: count - 1) { _ in 1 }
        let (clone, receipt) = try made.store.write { try $0.clone(made.id("Node", 2)) }
        #expect(clone.map.count == 1 && receipt.logByteCount <= 256)
        let children = try #require(
            receipt.graph.members(made.store.schema.required("Node").requiredRelationship("children"), of: made.id("Node", 1)))
        #expect(children.count == count && children.last == clone.root)
    }

    @Test(.enabled(if: LongTests.areWanted)) func `the event of a clone grows only by the bytes of its numbers`() throws {
        let byteCounts = try [10, 1000, 100_000].map { count in
            let made = try Made(CloneModels.notes)
            try made.store.importing("Note", "{}")
            try made.insert("Item", count - 1)
            try made.link("Item", "note", from: 1, count: count - 1) { _ in 1 }
            let (clone, receipt) = try made.store.write { try $0.clone(made.id("Note", 1)) }
            #expect(clone.summary.objectCount == count)
            return receipt.logByteCount
        }
        #expect(byteCounts.allSatisfy { $0 <= 256 })
        // The serial of the first copy and the number of copied items take 1, 2 and 3 bytes. The distance to the durable position may grow
        // in the same way.
        #expect(zip(byteCounts, byteCounts.dropFirst()).allSatisfy { (2...3).contains($1 - $0) }, "\(byteCounts)")
    }
}
