import CambiumModel
import Testing

@testable import CambiumGraph

/// The limits of a path that leads to many objects.
struct ValueReaderTests {
    private let graph: Graph
    /// The row of a thing with three parts.
    private let row: UInt32

    init() throws {
        let schema = try WalkFixture.schema.get()
        let thing = try schema.required("Thing")
        let parts = try #require(thing.relationship("parts")).number
        let ids = (1...4).map { ObjectID(root: thing.root, serial: UInt64($0)) }
        var ops: [Op] = [.schema(schema.catalog)]
        for id in ids { ops.append(.insert(id, entity: thing.number, [])) }
        for id in ids.dropFirst() { ops.append(.link(ids[0], parts, target: id, index: nil)) }
        let timeline = Timeline()
        try ProgramRun.commit(ops, to: timeline)
        graph = timeline.head
        row = try #require(graph.place(of: ids[0])).row
    }

    private func reader(_ path: String) throws -> PathReader {
        let binder = ConditionBinder(context: QueryContext(graph.reader, graph.layout), arguments: [:])
        return try #require(try binder.reader(try Operand(parsing: path), try graph.schema.required("Thing")) as? PathReader)
    }

    @Test(arguments: ["parts", "parts.company"])
    func `an object with too many members is refused before they are read`(path: String) throws {
        var visitCount = 0
        func visits(memberCountMax: Int) throws -> Bool {
            try reader(path).visitRowsInOrder(row, memberCountMax: memberCountMax) { _ in
                visitCount += 1
                return true
            }
        }
        #expect(try !visits(memberCountMax: 2))
        #expect(visitCount == 0)
        #expect(try visits(memberCountMax: 3))
        #expect(visitCount == 3)
    }

    @Test func `paths that end early count toward the limit`() throws {
        #expect(try reader("parts.parts").pathCount(from: row, upTo: 2) == nil)
        #expect(try reader("parts.parts").pathCount(from: row, upTo: 3) == 3)
        #expect(try reader("parts.company").pathCount(from: row, upTo: 5) == nil)
        #expect(try reader("parts.company").pathCount(from: row, upTo: 6) == 6)
    }
}
