import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

@Suite struct WalkTests {
    private let schema: Schema
    private let thing: Entity
    private let parts: Relationship

    init() throws {
        schema = try WalkFixture.schema.get()
        thing = try schema.required("Thing")
        parts = try thing.requiredRelationship("parts")
    }

    private func thing(_ serial: Int) -> ObjectID { ObjectID(root: thing.root, serial: UInt64(serial)) }

    /// Returns a graph of things with links over `parts`, each from the first to the second serial.
    private func graph(count: Int, _ links: [(Int, Int)]) throws -> Graph {
        let timeline = Timeline()
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        var serials = SerialRuns()
        serials.append(from: 1, count: count)
        let block = UpsertBlock(entity: thing.number, kind: .insert, serials: serials, identity: [], columns: [])
        let ops = links.map { Op.link(thing($0.0), parts.number, target: thing($0.1), index: nil) }
        try ProgramRun.commit([.upsert(block)] + ops, to: timeline)
        return timeline.head
    }

    @Test func `a walk reports each object once, with its least distance`() throws {
        let walk = try graph(count: 5, [(1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 4)]).walk(along: ["parts"])
        let found = try walk.objects(from: [thing(1)])
        #expect(found.map(\.distance) == [0, 1, 1, 2] && found.count == 4 && found.distanceMax == 2)
        #expect(found.ids(at: 1) == [thing(2), thing(3)] && found.ids(at: 2) == [thing(4)])
        #expect(found.ids(at: -1).isEmpty && found.ids(at: 3).isEmpty)
        #expect(found.allSatisfy { walk.graph.place(of: $0.id) == $0.place })
    }

    @Test(arguments: [0, -1]) func `a walk without steps returns its starts`(distance: Int) throws {
        let walk = try graph(count: 2, [(1, 2)]).walk(along: ["parts"])
        #expect(try walk.objects(from: [thing(1), thing(1)], within: distance).map(\.id) == [thing(1)])
        #expect(try walk.objects(from: [], within: distance).count == 0)
        #expect(try walk.path(from: thing(1), to: thing(1), within: distance) == [thing(1)])
        #expect(try walk.path(from: thing(1), to: thing(2), within: distance) == nil)
    }

    @Test func `a walk stays correct when its marks change from a hash table to bits`() throws {
        let count = 3 * PlaceMarks.hashedCountMax
        var links = (2...count).map { ($0 / 2, $0) }
        links += [(count, 1), (count / 2, 7), (count / 3, count / 3)]
        let walk = try graph(count: count, links).walk(along: ["parts"])
        let found = try walk.objects(from: [thing(1)])
        #expect(found.count == count && Set(found.map(\.id)).count == count)
        #expect(found.allSatisfy { $0.distance == Int.bitWidth - 1 - Int($0.id.serial).leadingZeroBitCount })
        #expect(try walk.path(from: thing(3), to: thing(2))?.last == thing(2))
    }

    @Test func `unknown names and objects are refused`() throws {
        let graph = try graph(count: 1, [])
        #expect(throws: CambiumError.self) { try graph.walk(along: ["parts", "nothing"]) }
        let walk = try graph.walk(along: ["parts"])
        for work in [{ _ = try walk.objects(from: [thing(2)]) }, { _ = try walk.path(from: thing(1), to: thing(2)) }] {
            let error = #expect(throws: CambiumError.self) { try work() }
            #expect(error?.code == .notFound)
        }
        #expect(try walk.objects(from: [thing(1)]).count == 1)
    }

    @Test func `a cycle is named in the order of its links`() throws {
        let walk = try graph(count: 5, [(1, 2), (2, 3), (3, 4), (4, 2), (4, 5)]).walk(along: ["parts"])
        let error = #expect(throws: CambiumError.self) { try walk.topologicalOrder() }
        let cycle = (error?.underlying as? LinkCycle)?.objects ?? []
        #expect(Set(cycle) == [thing(2), thing(3), thing(4)])
        #expect(error?.message.contains("Thing/\(cycle.first?.serial ?? 0) -> ") == true)
    }

    @Test func `a filter is asked once for each object`() throws {
        let walk = try graph(count: 4, [(1, 2), (1, 3), (2, 4), (3, 4), (4, 1)]).walk(along: ["parts"])
        var asked: [UInt64] = []
        let found = try walk.objects(from: [thing(1)], within: nil) { place in
            asked.append(walk.graph.id(of: place).serial)
            return asked.last != 4
        }
        #expect(found.map(\.id.serial).sorted() == [1, 2, 3] && asked.sorted() == [2, 3, 4])
    }
}
