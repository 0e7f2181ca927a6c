import CambiumLog
import CambiumModel
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Clones of very many objects: nothing calls itself on the way, and the event has some hundred bytes.
@Suite struct `Sizes of clones` {
    /// `CAMBIUM_CLONE` is how many objects. A fifth of a million in a debug build, because a million would take it half a minute: that, too,
    /// is more than any stack has.
    private static let count: Int = {
        if let given = ProcessInfo.processInfo.environment["CAMBIUM_CLONE"].flatMap(Int.init) { return given }
        #if DEBUG
            return 200_000
        #else
            return 1_000_000
        #endif
    }()

    private static let schema = try? Schema(SchemaDefinition(json: Array(CloneModels.nodes.utf8)))

    private struct Store {
        let volume = MemoryVolume()
        let store: Cambium.Store
        let node: Entity

        /// Nodes without names, linked by these ops.
        init(_ count: Int, _ links: (Entity) throws -> [Op]) throws {
            store = try Cambium.Store.create(
                volume, schema: try #require(`Sizes of clones`.schema), durability: .buffered(every: .seconds(3600)),
                surroundings: fixedSurroundings())
            node = try store.schema.required("Node")
            var serials = SerialRuns()
            serials.append(from: 1, count: count)
            let nodes = Op.upsert(UpsertBlock(entity: node.number, kind: .insert, serials: serials, identity: [], columns: []))
            let ops = [nodes] + (try links(node))
            _ = try store.transact(Author()) { transaction in
                for op in ops {
                    try transaction.draft.apply(op)
                    transaction.ops.append(op)
                }
            }
        }

        func id(_ serial: Int) -> ObjectID { ObjectID(root: node.number, serial: UInt64(serial)) }

        /// A relationship of the objects from a serial on.
        static func link(_ node: Entity, _ name: String, from first: Int, to targets: [UInt64]) throws -> Op {
            var serials = SerialRuns()
            serials.append(from: UInt64(first), count: targets.count)
            return .relink(LinkBlock(root: node.root, property: try node.requiredRelationship(name).number, serials: serials, content: .toOne(targets)))
        }

        /// Clones an object, and expects as many copies, an event of at most 256 bytes, and a replay to come to the same.
        func clone(_ id: ObjectID, count: Int) throws -> (Clone, Receipt) {
            let (clone, receipt) = try store.write { try $0.clone(id) }
            #expect(clone.map.count == count && receipt.graph.objectCount == 2 * count)
            #expect(receipt.logByteCount <= 256)
            #expect(receipt.graph.invariantFindings() == [])
            try store.close()
            let replayed = try ReadOnlyStore(volume).graph
            #expect(replayed.digest() == receipt.graph.digest())
            return (clone, receipt)
        }
    }

    @Test(arguments: [("next", "previous"), ("left", ""), ("parent", "")])
    func `a chain of very many, in pairs, known from one side, or as a tree of one branch`(name: String, back: String) throws {
        let count = Self.count
        let isTree = name == "parent"
        let store = try Store(count) { node in
            let neighbours = (1..<UInt64(count)).map { isTree ? $0 : $0 + 1 }
            return [try Store.link(node, name, from: isTree ? 2 : 1, to: neighbours)]
        }
        let (clone, receipt) = try store.clone(store.id(1), count: count)
        let relationship = try store.node.requiredRelationship(name)
        #expect(clone.root == store.id(count + 1))
        for serial in [count + 2, count + count / 2, 2 * count - 1] {
            #expect(receipt.graph.members(relationship, of: store.id(serial)) == [store.id(isTree ? serial - 1 : serial + 1)])
        }
    }

    @Test(arguments: ["children", "parts"])
    func `a hub with very many members`(name: String) throws {
        let count = Self.count
        let store = try Store(count) { node in
            if name == "children" { return [try Store.link(node, "parent", from: 2, to: [UInt64](repeating: 1, count: count - 1))] }
            var hub = SerialRuns()
            hub.append(1)
            let members = LinkBlock.Content.unordered(
                removedCounts: [0], removed: [], addedCounts: [UInt32(count - 1)], added: (2...UInt64(count)).map { $0 })
            return [.relink(LinkBlock(root: node.root, property: try node.requiredRelationship(name).number, serials: hub, content: members))]
        }
        let (clone, receipt) = try store.clone(store.id(1), count: count)
        let members = try #require(receipt.graph.members(try store.node.requiredRelationship(name), of: clone.root))
        #expect(members.count == count - 1 && members.first == store.id(count + 2) && members.last == store.id(2 * count))
    }

    @Test func `an object that very many share is linked to one more`() throws {
        let count = Self.count
        let store = try Store(count) { node in [try Store.link(node, "parent", from: 2, to: [UInt64](repeating: 1, count: count - 1))] }
        let (clone, receipt) = try store.store.write { try $0.clone(store.id(2)) }
        #expect(clone.map.count == 1 && receipt.logByteCount <= 256)
        let children = try #require(receipt.graph.members(try store.node.requiredRelationship("children"), of: store.id(1)))
        #expect(children.count == count && children.last == clone.root)
    }

    @Test func `the event of a clone has some ten bytes, whatever its size: only numbers in it grow`() throws {
        let byteCounts = try [10, 1000, 100_000].map { count in
            let volume = MemoryVolume()
            let schema = try Schema(SchemaDefinition(json: Array(CloneModels.notes.utf8)))
            let store = try Cambium.Store.create(volume, schema: schema, durability: .synced, surroundings: fixedSurroundings())
            let items = (1..<count).map { #"{"name":"item \#($0)","toManyTags":[]}"# }.joined(separator: ",")
            try store.importing("Note", #"{"name":"n","items":[\#(items)]}"#)
            let note = ObjectID(root: try store.schema.required("Note").root, serial: 1)
            let before = volume.contents.values.reduce(0) { $0 + $1.count }
            let (clone, receipt) = try store.write { try $0.clone(note) }
            #expect(clone.summary.objectCount == count)
            #expect(volume.contents.values.reduce(0) { $0 + $1.count } - before == receipt.logByteCount)
            return receipt.logByteCount
        }
        #expect(byteCounts.allSatisfy { $0 <= 256 })
        // The serial of the first copy and the number of copies of the items: of 1, 2 and 3 bytes.
        #expect(byteCounts[1] - byteCounts[0] == 2 && byteCounts[2] - byteCounts[1] == 2, "\(byteCounts)")
    }
}
