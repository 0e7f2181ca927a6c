import CambiumGraph
import CambiumModel
import CambiumTesting
import Foundation
import Testing

/// The effect of clones on the index of an identity that is a new UUID for each copy.
@Suite struct CloneIndexTests {
    private static let count = 20_000
    private let timeline = Timeline()
    private let node: Entity

    init() throws {
        var uuid = AttributeDefinition("id", .uuid)
        uuid.userInfo = ["rebuild": "uuid"]
        let schema = try Schema(SchemaDefinition { EntityDefinition("Node", identity: ["id"]) { uuid } })
        node = try #require(schema.entity("Node"))
        var random = SplitMix64(seed: 3)
        var ops: [Op] = [.schema(schema.catalog)]
        for serial in 1...UInt64(Self.count) {
            let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            let value = Value.uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
            let id = ObjectID(root: node.number, serial: serial)
            ops.append(.insert(id, entity: node.number, [Assignment(node.identity[0].number, value)]))
        }
        try ProgramRun.commit(ops, to: timeline)
    }

    private func clone(_ serials: ClosedRange<UInt64>, seed: UInt64) throws {
        let roots = serials.map { ObjectID(root: node.number, serial: $0) }
        let op = try CloneWriter.plan(timeline.draft(), roots, CloneOptions()).op(time: Timestamp(microsecondsSince1970: 1)) {
            CloneSeed(low: seed, high: 5)
        }
        try ProgramRun.commit([.clone(op)], to: timeline)
    }

    @Test func `few copies touch few pages of the index of many objects`() throws {
        let view = timeline.head
        let used = timeline.pageByteCount
        try clone(1...200, seed: 1)
        // The buckets for 200 random hashes would take more than 100,000 bytes.
        #expect(timeline.pageByteCount - used < 50_000)
        #expect(view.objectCount == Self.count && timeline.head.invariantFindings() == [])
        #expect(PageChecker.findings(in: timeline) == [])
    }

    @Test func `clones of all sizes leave an index in which each object is found`() throws {
        for (seed, end) in [UInt64(1), 2, 300, 5000, 20_000, 40].enumerated() { try clone(1...end, seed: UInt64(seed)) }
        let graph = timeline.head
        #expect(graph.invariantFindings() == [] && PageChecker.findings(in: timeline) == [])
        var seen = Set<Value>()
        for id in graph.objects(of: node) {
            let value = try #require(graph.value(of: node.identityAttributes[0], of: id))
            #expect(seen.insert(value).inserted && graph.place(node, identity: [value]).map(graph.id(of:)) == id)
            guard id.serial > UInt64(Self.count), case .uuid(let uuid) = value else { continue }
            #expect(uuid.uuid.6 >> 4 == 4 && uuid.uuid.8 >> 6 == 2)
        }
        #expect(seen.count == graph.objectCount)
    }
}
