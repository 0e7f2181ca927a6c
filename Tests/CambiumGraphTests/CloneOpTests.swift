import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Ops that a log might contain although no clone produces them. Each is refused before anything changes.
@Suite struct CloneOpTests {
    private struct Fixture {
        let schema: Schema
        let node: Entity
        let leaf: Entity
        let timeline = Timeline()

        /// Inserts a node with a leaf and two children, one of them of a sub-entity, and a second node.
        init(_ rebuilt: String = "rebuild") throws {
            func attribute(_ name: String, _ type: AttributeType, _ userInfo: [String: String]) -> AttributeDefinition {
                var attribute = AttributeDefinition(name, type, .optional)
                attribute.userInfo = userInfo
                return attribute
            }
            schema = try Schema(
                SchemaDefinition {
                    EntityDefinition("Node") {
                        attribute("id", .uuid, [rebuilt: "uuid"])
                        attribute("when", .date, [rebuilt: "now"])
                        attribute("name", .string, ["followParent": "name", "withoutParent": "keep"])
                        RelationshipDefinition("children", to: "Node", .toMany, inverse: "parent")
                        RelationshipDefinition("parent", to: "Node", inverse: "children")
                        RelationshipDefinition("leaf", to: "Leaf")
                    }
                    EntityDefinition("Sub", parent: "Node")
                    EntityDefinition("Leaf") { AttributeDefinition("size", .int32, .optional) }
                })
            node = try #require(schema.entity("Node"))
            leaf = try #require(schema.entity("Leaf"))
            let sub = try #require(schema.entity("Sub"))
            var ops: [Op] = [.schema(schema.catalog), .insert(id(leaf, 1), entity: leaf.number, [])]
            for serial in 1...4 { ops.append(.insert(id(node, serial), entity: serial == 3 ? sub.number : node.number, [])) }
            for serial in 2...3 { ops.append(.link(id(node, 1), try number("children"), target: id(node, serial), index: nil)) }
            ops.append(.link(id(node, 1), try number("leaf"), target: id(leaf, 1), index: nil))
            try ProgramRun.commit(ops, to: timeline)
        }

        func id(_ entity: Entity, _ serial: Int) -> ObjectID { ObjectID(root: entity.number, serial: UInt64(serial)) }

        func number(_ name: String) throws -> PropertyNumber {
            try #require(node.relationship(name)?.number ?? node.attribute(name)?.number)
        }

        /// Returns the op of a clone of the first node, as the engine makes it.
        func op(_ options: CloneOptions = CloneOptions()) throws -> CloneOp {
            try CloneWriter.plan(timeline.draft(), [id(node, 1)], options).op(time: Timestamp(microsecondsSince1970: 5)) {
                CloneSeed(low: 1, high: 2)
            }
        }

        /// Expects an op to be refused and to leave the draft unchanged. The draft can still be used and published.
        func expectRefusal(_ code: CambiumError.Code, _ op: CloneOp, _ what: String = "", at location: SourceLocation = #_sourceLocation)
            throws
        {
            let digest = timeline.head.digest()
            var draft = timeline.draft()
            var found: CambiumError.Code?
            do throws(CambiumError) { try draft.apply(.clone(op)) } catch { found = error.code }
            #expect(found == code, "\(what)", sourceLocation: location)
            try timeline.publish(draft)
            #expect(timeline.head.digest() == digest, "\(what)", sourceLocation: location)
            #expect(
                timeline.head.invariantFindings() == [] && PageChecker.findings(in: timeline) == [], "\(what)", sourceLocation: location)
        }
    }

    /// Returns a changed copy of an op.
    private func changed(_ op: CloneOp, _ change: (inout CloneOp) -> Void) -> CloneOp {
        var op = op
        change(&op)
        return op
    }

    @Test func `the op of each plan is carried out`() throws {
        let fixture = try Fixture()
        #expect(try fixture.op().objectCount == 4 && fixture.op().time == Timestamp(microsecondsSince1970: 5) && fixture.op().seed != nil)
        for count in [9, 13, 17] {
            try ProgramRun.commit([.clone(try fixture.op())], to: fixture.timeline)
            #expect(fixture.timeline.head.objectCount == count)
        }
        #expect(fixture.timeline.head.invariantFindings() == [] && PageChecker.findings(in: fixture.timeline) == [])
    }

    @Test func `a small clone checks all of its copies instead of searching the many checks of its transaction`() throws {
        let fixture = try Fixture()
        var draft = fixture.timeline.draft()
        for serial in 2...6 { try draft.apply(.insert(fixture.id(fixture.leaf, serial), entity: fixture.leaf.number, [])) }
        let before = draft.pending.objectCount
        let plan = try CloneWriter.plan(draft, [fixture.id(fixture.node, 1)], CloneOptions())
        try draft.apply(.clone(plan.op(time: Timestamp(microsecondsSince1970: 5)) { CloneSeed(low: 1, high: 2) }))
        let after = draft.pending.objectCount
        #expect(before == 5 && after == 9)
    }

    @Test func `hierarchies that differ from the plan are refused`() throws {
        let fixture = try Fixture()
        let op = try fixture.op()
        let (nodes, leaves) = (op.hierarchies[0], op.hierarchies[1])
        func hierarchy(_ first: UInt64, _ counts: [CloneOp.EntityCount]) -> CloneOp.Hierarchy {
            CloneOp.Hierarchy(root: nodes.root, firstSerial: first, counts: counts)
        }
        let sub = nodes.counts[1].entity
        func count(_ number: Int, _ subCount: Int) -> [CloneOp.EntityCount] {
            [CloneOp.EntityCount(nodes.root, number), CloneOp.EntityCount(sub, subCount)]
        }
        let wrong: [(String, [CloneOp.Hierarchy])] = [
            ("none", []), ("one missing", [nodes]), ("another missing", [leaves]), ("in another order", [leaves, nodes]),
            ("one twice", [nodes, leaves, leaves]), ("one more object", [hierarchy(5, count(3, 1)), leaves]),
            ("one object less", [hierarchy(5, count(1, 1)), leaves]), ("another entity", [hierarchy(5, count(1, 2)), leaves]),
            ("as many of one entity", [hierarchy(5, [.init(nodes.root, 3)]), leaves]), ("one of 0", [hierarchy(5, count(3, 0)), leaves]),
            ("entities in another order", [hierarchy(5, count(2, 1).reversed()), leaves]),
            ("a serial that is taken", [hierarchy(4, nodes.counts), leaves]), ("a gap", [hierarchy(6, nodes.counts), leaves]),
            ("very many", [hierarchy(5, count(1 << 37, 1)), leaves]),
        ]
        for (what, hierarchies) in wrong { try fixture.expectRefusal(.corrupted, changed(op) { $0.hierarchies = hierarchies }, what) }
    }

    @Test func `a hash of another set of objects is refused`() throws {
        let fixture = try Fixture()
        for bit in [0, 1, 31, 63] { try fixture.expectRefusal(.corrupted, changed(try fixture.op()) { $0.setHash ^= 1 << UInt64(bit) }) }
    }

    @Test(arguments: [
        (CloneOp.Algorithm.ascendingHashes, "2023-11-14T22:13:20.1234529Z"), (.series, "2023-11-14T22:13:20.1234529Z"),
        (.exactTime, "2023-11-14T22:13:20.123453Z"),
    ])
    func `a clone gets the date of its algorithm`(algorithm: CloneOp.Algorithm, date: String) throws {
        let fixture = try Fixture()
        let op = changed(try fixture.op()) {
            $0.algorithm = algorithm
            $0.time = Timestamp(microsecondsSince1970: 1_700_000_000_123_453)
        }
        try ProgramRun.commit([.clone(op)], to: fixture.timeline)
        let graph = fixture.timeline.head
        let when = graph.column(try #require(fixture.node.attribute("when")))
        let copy = try #require(graph.place(of: fixture.id(fixture.node, 5)))
        #expect(when.value(at: copy).text == date)
    }

    @Test func `a missing time or seed is refused`() throws {
        let fixture = try Fixture()
        try fixture.expectRefusal(.corrupted, changed(try fixture.op()) { $0.time = nil })
        try fixture.expectRefusal(.corrupted, changed(try fixture.op()) { $0.seed = nil })
    }

    @Test func `a time or seed that no attribute needs is refused`() throws {
        let fixture = try Fixture("other")
        #expect(try fixture.op().time == nil && fixture.op().seed == nil)
        try fixture.expectRefusal(.corrupted, changed(try fixture.op()) { $0.time = Timestamp(microsecondsSince1970: 5) })
        try fixture.expectRefusal(.corrupted, changed(try fixture.op()) { $0.seed = CloneSeed(low: 0, high: 0) })
    }

    @Test func `missing, repeated, unknown and other roots are refused`() throws {
        let fixture = try Fixture()
        let op = try fixture.op()
        try fixture.expectRefusal(.invalidInput, changed(op) { $0.roots = [] })
        try fixture.expectRefusal(.invalidInput, changed(op) { $0.roots += $0.roots })
        for id in [fixture.id(fixture.node, 99), fixture.id(fixture.node, 0), ObjectID(root: EntityNumber(rawValue: 77), serial: 1)] {
            try fixture.expectRefusal(.notFound, changed(op) { $0.roots = [id] })
        }
        try fixture.expectRefusal(.corrupted, changed(op) { $0.roots = [fixture.id(fixture.node, 4)] }, "another object")
        try fixture.expectRefusal(.corrupted, changed(op) { $0.roots.append(fixture.id(fixture.node, 4)) }, "one more")
    }

    @Test func `options that lead to another plan are refused`() throws {
        let fixture = try Fixture()
        let op = try fixture.op()
        try fixture.expectRefusal(.corrupted, changed(op) { $0.options.depth = 0 })
        try fixture.expectRefusal(.corrupted, changed(op) { $0.options.keys = CloneKeys(rebuild: "other") })
        let children = try fixture.number("children")
        func rule(_ rule: CloneRule) -> CloneOptions.Rule {
            CloneOptions.Rule(entity: fixture.node.number, relationship: children, rule: rule, isAtRoot: false)
        }
        try fixture.expectRefusal(.corrupted, changed(op) { $0.options.rules = [rule(.skip)] })
        try fixture.expectRefusal(.invalidInput, changed(op) { $0.options.rules = [rule(.share)] })
    }

    @Test func `values that the attributes of the roots cannot hold are refused`() throws {
        let fixture = try Fixture()
        let name = try fixture.number("name")
        for value in [Value.int(1), .data([1]), .json("1")] {
            let given = CloneOptions.RootValue(root: fixture.node.number, attribute: name, value: value)
            try fixture.expectRefusal(.invalidInput, changed(try fixture.op()) { $0.options.rootValues = [given] })
        }
    }

    @Test func `a time outside the years of dates is refused, and other times are accepted`() throws {
        let fixture = try Fixture()
        for time in [Timestamp.min, .max] { try fixture.expectRefusal(.invalidInput, changed(try fixture.op()) { $0.time = time }) }
        for time in [-1, 0].map(Timestamp.init(microsecondsSince1970:)) {
            try ProgramRun.commit([.clone(changed(try fixture.op()) { $0.time = time })], to: fixture.timeline)
        }
        #expect(fixture.timeline.head.objectCount == 13 && fixture.timeline.head.invariantFindings() == [])
    }

    @Test func `an op is refused after the graph of its plan has changed`() throws {
        let fixture = try Fixture()
        let op = try fixture.op()
        let name = Assignment(try fixture.number("name"), .string("n"))
        try ProgramRun.commit([.insert(fixture.id(fixture.node, 5), entity: fixture.node.number, [name])], to: fixture.timeline)
        try fixture.expectRefusal(.corrupted, op, "the first serial differs")
        let fresh = try fixture.op()
        try ProgramRun.commit([.delete([fixture.id(fixture.node, 2)])], to: fixture.timeline)
        try fixture.expectRefusal(.corrupted, fresh, "a child is gone")
    }
}
