import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Comparisons of objects with the other members of their hub, and aggregates of these members.
struct HubCacheTests {
    private static let definition = SchemaDefinition {
        EntityDefinition("Owner") { RelationshipDefinition("items", to: "Item", .toMany, inverse: "owner") }
        EntityDefinition("Item") {
            AttributeDefinition("price", .double, .optional)
            AttributeDefinition("limit", .double, .optional)
            AttributeDefinition("count", .int16, .optional)
            AttributeDefinition("most", .int64, .optional)
            AttributeDefinition("exact", .decimal, .optional)
            AttributeDefinition("name", .string, .optional)
            AttributeDefinition("title", .string, .optional)
            RelationshipDefinition("owner", to: "Owner", inverse: "items")
            RelationshipDefinition("next", to: "Item")
        }
    }
    private static let hubSizes = [60, 40, 20, 1]
    private static let decimals: [Value] = ["-1", "0", "1.5", "9"].map { DecimalNumber($0).map(Value.decimal) ?? Value.null }
    private static let values: [String: [Value]] = [
        "price": [.null, .double(-0.0), .double(0), .double(1.5), .double(9)], "limit": [.null, .double(0), .double(2), .double(9)],
        "count": [.int(1), .int(2), .int(3)], "exact": decimals, "most": [.null, .int(0), .int(1), .int(3), .int(70_000)],
        "name": [.null, .string("a"), .string("B"), .string("\u{e9}")], "title": [.string("A"), .string("b"), .string("e\u{301}")],
    ]

    private let graph: Graph
    private let item: Entity

    init() throws {
        var random = SplitMix64(for: "hubs")
        let schema = try Schema(Self.definition)
        item = try schema.required("Item")
        let owner = try schema.required("Owner")
        let (link, next) = (try item.requiredRelationship("owner").number, try item.requiredRelationship("next").number)
        var ops: [Op] = [.schema(schema.catalog)]
        var serial: UInt64 = 0
        for (index, size) in Self.hubSizes.enumerated() {
            let hub = ObjectID(root: owner.root, serial: UInt64(index + 1))
            ops.append(.insert(hub, entity: owner.number, []))
            // In one hub, all items have the same price.
            for _ in 0..<size {
                serial += 1
                let id = ObjectID(root: item.root, serial: serial)
                let assigned = item.attributes.map { attribute in
                    let value = random.pick(Self.values[attribute.name] ?? []) ?? .null
                    return Assignment(attribute.number, index == 2 && attribute.name == "price" ? .double(0) : value)
                }
                ops.append(.insert(id, entity: item.number, assigned))
                // Some items of large hubs have no owner. A small hub keeps its size, because it has just enough members.
                if size <= 20 || random.isTrue(19, outOf: 20) { ops.append(.link(id, link, target: hub, index: nil)) }
                if serial > 1, random.isTrue(2, outOf: 3) {
                    let target = ObjectID(root: item.root, serial: UInt64.random(in: 1..<serial, using: &random))
                    ops.append(.link(id, next, target: target, index: nil))
                }
            }
        }
        let timeline = Timeline()
        try ProgramRun.commit(ops, to: timeline)
        graph = timeline.head
    }

    /// An item, the values of its siblings, and the value with which a condition compares them.
    private struct Compared {
        let id: ObjectID
        let values: [QueryValue]
        let own: QueryValue
    }

    /// Returns each item with the values of its siblings, which are read once for each owner, one value at a time.
    private func compared(_ siblings: String, with own: String, throughNext: Bool) throws -> [Compared] {
        let left = graph.column(try item.requiredAttribute(siblings))
        let binder = ConditionBinder(context: QueryContext(graph.reader, graph.layout), arguments: [:])
        let right = try binder.reader(Operand(parsing: own), item)
        func value(_ id: ObjectID?, _ column: Column) -> QueryValue {
            id.flatMap { graph.place(of: $0) }.map { QueryValue.value(column.value(at: $0)) } ?? .null
        }
        var valuesByOwner: [ObjectID: [QueryValue]] = [:]
        for owner in graph.objects(of: try graph.schema.required("Owner")) {
            valuesByOwner[owner] = try graph.members("items", of: owner).map {
                value(try throughNext ? graph.members("next", of: $0).first : $0, left)
            }
        }
        return try graph.objects(of: item).map { id in
            let values = try graph.members("owner", of: id).first.flatMap { valuesByOwner[$0] } ?? []
            return Compared(id: id, values: values, own: right.value(try #require(graph.place(of: id)).row))
        }
    }

    /// Returns the ids of the items that satisfy a comparison, from the number of the siblings' values that satisfy it.
    private func expected(_ quantifier: Quantifier?, _ items: [Compared], _ counts: [Int]) -> [ObjectID] {
        zip(items, counts).filter { item, count in
            switch quantifier {
            case .all: count == item.values.count
            case .any, nil: count > 0
            case .some(.none): count == 0
            }
        }.map(\.0.id)
    }

    @Test(arguments: [
        ("price", "limit", ""), ("count", "most", ""), ("price", "most", ""), ("price", "owner.items.@avg.limit", ""),
        ("name", "title", ""), ("name", "title", "[cd]"),
    ])
    func `a comparison with siblings has the result of a comparison with each of them`(
        left: String, right: String, folding: String
    ) throws {
        for throughNext in [false, true] {
            let items = try compared(left, with: right, throughNext: throughNext)
            for relation in ["==", "!=", "<", "<=", ">", ">="] {
                let paths = throughNext ? ["owner.items.next"] : ["owner.items", "owner.items.owner.items"]
                var counts: [Int]?
                for (text, path) in ["any", "all", "none"].flatMap({ text in paths.map { (text, $0) } }) {
                    let condition = try Condition(parsing: "\(text) \(path).\(left) \(relation)\(folding) \(right)")
                    guard case .comparison(let comparison) = condition.form else { continue }
                    let test = ValueTest(comparison.relation, comparison.folding)
                    let known = counts ?? items.map { one in one.values.count { test.holds($0, [one.own]) } }
                    counts = known
                    let expected = expected(comparison.quantifier, items, known)
                    #expect(try graph.find(Query("Item", where: condition)).sorted() == expected.sorted(), "\(condition)")
                }
            }
        }
    }

    @Test(arguments: [("price", "exact"), ("exact", "limit"), ("exact", "most"), ("count", "owner.items.@sum.count")])
    func `values of siblings are prepared for a comparison with decimal numbers or with a sum`(left: String, right: String) throws {
        let items = try compared(left, with: right, throughNext: false)
        for text in ["any owner.items.\(left) == \(right)", "all owner.items.\(left) <= \(right)", "any owner.items.\(left) > \(right)"] {
            let condition = try Condition(parsing: text)
            guard case .comparison(let comparison) = condition.form else { continue }
            let test = ValueTest(comparison.relation, comparison.folding)
            let counts = items.map { one in one.values.count { test.holds($0, [one.own]) } }
            let expected = expected(comparison.quantifier, items, counts)
            #expect(try graph.find(Query("Item", where: condition)).sorted() == expected.sorted(), "\(condition)")
        }
    }

    @Test func `objects are compared with the objects to which a hub leads`() throws {
        func next(_ id: ObjectID) throws -> ObjectID? { try graph.members("next", of: id).first }
        let cases: [(id: ObjectID, siblings: [ObjectID?], own: ObjectID?)] = try graph.objects(of: item).map { id in
            let owner = try graph.members("owner", of: id).first
            let siblings = try owner.map { try graph.members("items", of: $0) } ?? []
            return (id, try siblings.map(next), try next(id))
        }
        func check(_ condition: String, _ holds: ([ObjectID?], ObjectID?) -> Bool) throws {
            let expected = cases.filter { holds($0.siblings, $0.own) }.map { $0.id }
            #expect(try graph.find(Query("Item", where: condition)).sorted() == expected.sorted(), "\(condition)")
        }
        for path in ["owner.items.next", "owner.items.owner.items.next"] {
            try check("any \(path) == next") { $0.contains($1) }
            try check("none \(path) == next") { !$0.contains($1) }
            try check("all \(path) == next") { siblings, own in siblings.allSatisfy { $0 == own } }
            try check("any \(path) != next") { siblings, own in siblings.contains { $0 != own } }
            try check("next in \(path)") { $1 != nil && $0.contains($1) }
        }
        let context = QueryContext(graph.reader, graph.layout)
        let binder = ConditionBinder(context: context, arguments: [:])
        let left = try binder.reader(Operand(parsing: "owner.items.next"), item)
        #expect(HubCache(left, .equal, try binder.reader(Operand(parsing: "next"), item), [], context) != nil)
    }

    @Test func `the values of a hub are prepared once as many values have been read as it has members`() throws {
        let context = QueryContext(graph.reader, graph.layout)
        let binder = ConditionBinder(context: context, arguments: [:])
        func cache(_ left: String, _ right: String, _ relation: Comparison.Relation = .greater) throws -> HubCache? {
            let (left, right) = (try binder.reader(Operand(parsing: left), item), try binder.reader(Operand(parsing: right), item))
            return HubCache(left, relation, right, [], context)
        }
        let found = try #require(try cache("owner.items.price", "limit"))
        let ids = graph.objects(of: item).filter { (try? graph.members("owner", of: $0).first?.serial) == 1 }
        let row = try #require(ids.first.flatMap { graph.place(of: $0) }).row
        let hub = try #require(found.hub(of: row))
        found.addReads(ids.count - 1, of: hub)
        let isEarly = found.values(of: hub, from: row) != nil
        found.addReads(1, of: hub)
        let isPrepared = found.values(of: hub, from: row) != nil
        #expect(!isEarly && isPrepared)
        let distant = try #require(try cache("owner.items.owner.items.price", "limit"))
        #expect(distant.values(of: hub, from: row) != nil)
        for right in ["most", "exact", "owner.items.@max.price", "owner.items.@avg.count", "owner.items.@sum.count"] {
            #expect(try cache("owner.items.price", right) != nil, "\(right)")
        }
        let others = [try cache("next.price", "limit"), try cache("owner.items.name", "most")]
        #expect(others.allSatisfy { $0 == nil })
    }

    @Test func `the values of hubs on a path over several relationships take limited memory`() throws {
        let context = QueryContext(graph.reader, graph.layout)
        let binder = ConditionBinder(context: context, arguments: [:])
        let left = try binder.reader(Operand(parsing: "owner.items.owner.items.price"), item)
        let right = try binder.reader(Operand(parsing: "limit"), item)
        func cache(_ byteCountMax: Int) throws -> HubCache {
            try #require(HubCache(left, .equal, right, [], context, byteCountMax: byteCountMax))
        }
        let unlimited = try cache(.max)
        var rows: [UInt32: UInt32] = [:]
        for id in graph.objects(of: item) {
            let row = try #require(graph.place(of: id)).row
            if let hub = unlimited.hub(of: row) { rows[hub] = row }
        }
        let counts = rows.compactMap { unlimited.values(of: $0.key, from: $0.value)?.byteCount }
        #expect(counts.count == Self.hubSizes.count && unlimited.values.count == counts.count)
        let limited = try cache(try #require(counts.max()))
        for (hub, row) in rows { #expect(limited.values(of: hub, from: row) != nil && limited.values[hub] != nil) }
        #expect(limited.values.count < counts.count)
        let least = try cache(1)
        for (hub, row) in rows where unlimited.values[hub]?.byteCount != 0 { #expect(least.values(of: hub, from: row) == nil) }
    }

    @Test(arguments: ["items.@min.price", "items.@sum.price", "items.@countDistinct.name", "items.next.@avg.limit", "@max.items.price"])
    func `the aggregate of a hub is computed once, and is the aggregate of each of its objects`(path: String) throws {
        func reader() throws -> AggregateReader {
            let binder = ConditionBinder(context: QueryContext(graph.reader, graph.layout), arguments: [:])
            return try #require(try binder.reader(Operand(parsing: "owner.\(path)"), item) as? AggregateReader)
        }
        let shared = try reader()
        for id in graph.objects(of: item) {
            let row = try #require(graph.place(of: id)).row
            // A new reader knows no hub, so it reads all values.
            #expect(try shared.value(row) == reader().value(row))
        }
        // One of the four owners has too few items for a hub.
        #expect(shared.hubResults.count == 3)
    }

    @Test func `a hub with few members is shared if they may lead to many objects`() throws {
        let binder = ConditionBinder(context: QueryContext(graph.reader, graph.layout), arguments: [:])
        func reader(_ path: String) throws -> AggregateReader {
            try #require(try binder.reader(Operand(parsing: path), item) as? AggregateReader)
        }
        let (distant, near) = (try reader("owner.items.owner.items.@max.price"), try reader("owner.items.@max.price"))
        for id in graph.objects(of: item) {
            let row = try #require(graph.place(of: id)).row
            #expect(distant.value(row) == near.value(row))
        }
        #expect(distant.hubResults.count == Self.hubSizes.count && near.hubResults.count == Self.hubSizes.count - 1)
    }
}
