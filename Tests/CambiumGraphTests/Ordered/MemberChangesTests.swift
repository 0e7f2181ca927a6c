import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Sums, minima and maxima of owners with many members, which are computed from the members that changed.
@Suite struct MemberChangesTests {
    @Test(arguments: Baskets.Kind.allCases)
    fileprivate func `after random transactions, each value is the one that reading all members gives`(kind: Baskets.Kind) throws {
        var random = SplitMix64(for: "MemberChangesTests")
        for _ in 0..<(LongTests.areWanted ? 200 : 6) {
            var baskets = try Baskets(kind, &random)
            for _ in 0..<30 { try baskets.transact(&random) }
            #expect(baskets.timeline.head.invariantFindings() == [])
            try baskets.replay()
            #expect(baskets.replayed.head.invariantFindings() == [])
            #expect(baskets.replayed.head.derivedTexts == baskets.timeline.head.derivedTexts)
        }
    }

    @Test(arguments: ["sum", "decimal", "whole", "min", "max", "last"], [Baskets.Kind.list, .mutual])
    fileprivate func `a commit reads as much for 4,000 members as for 1,000`(attribute: String, kind: Baskets.Kind) throws {
        let (small, large) = (
            try Baskets.work(kind, memberCount: 1000, [attribute]), try Baskets.work(kind, memberCount: 4000, [attribute])
        )
        #expect(large <= small + 8)
        #expect(small < 40 * Baskets.commitCount)
    }

    @Test func `texts with the same first 300 bytes are compared as a whole`() throws {
        var baskets = try Baskets(.list)
        let start = String(repeating: "x", count: 300)
        try baskets.insert(basket: 1, (0..<50).map { ["text": .string(start + "\($0 * 7 % 50 + 10)")] })
        #expect(try baskets.value("last") == .string(start + "59"))
        try baskets.set(1 + 7, "text", .string(start + "99"))
        #expect(try baskets.value("last") == .string(start + "99"))
        try baskets.set(1 + 7, "text", .null)
        #expect(try baskets.value("last") == .string(start + "58"))
    }

    @Test func `a float sum after many changes equals the sum of a new store, bit by bit`() throws {
        var baskets = try Baskets(.list)
        try baskets.insert(basket: 1, (0..<50).map { _ in ["real": .double(0.1)] })
        try baskets.set(2, "real", .double(1e17))
        try baskets.set(2, "real", .double(0.1))
        #expect(try baskets.value("sum") == .double(5))
    }

    @Test func `while the index of the members is incomplete, all members are read`() throws {
        var baskets = try Baskets(.list, derived: [])
        try baskets.insert(basket: 1, (0..<600).map { ["whole": .int(Int64($0))] })
        try baskets.migrate(derived: ["min"])
        #expect(baskets.timeline.head.hasIncompleteIndexes)
        try baskets.set(1, "whole", .int(5))
        #expect(try baskets.value("min") == .int(1))
        while try baskets.timeline.buildIndexes(rowCountMax: 100) {}
        let work = baskets.timeline.derivedWork
        try baskets.set(2, "whole", .int(7))
        #expect(try baskets.value("min") == .int(2))
        #expect(baskets.timeline.derivedWork < work + 20)
        #expect(baskets.timeline.head.invariantFindings() == [])
    }
}

/// Baskets with lines, whose values are derived.
private struct Baskets {
    /// The relationship from a basket to its lines: a line has one basket, several, or several that it does not know.
    enum Kind: CaseIterable { case list, ordered, mutual, oneWay }

    let timeline = Timeline()
    /// Contains the same transactions. A draft contains several of them.
    let replayed = Timeline()
    private let kind: Kind
    private var pending: [[Op]] = []
    private var nextSerials: (basket: UInt64, line: UInt64) = (1, 1)

    private static let derived: [(name: String, type: AttributeType, derivation: Derivation)] = [
        ("sum", .double, .sum("lines.real")), ("decimal", .decimal, .sum("lines.decimal")), ("whole", .int64, .sum("lines.whole")),
        ("min", .int32, .min("lines.whole")), ("max", .double, .max("lines.real")), ("first", .decimal, .min("lines.decimal")),
        ("last", .string, .max("lines.text")),
    ]
    private static let names = ["real", "decimal", "whole", "text"]

    init(_ kind: Kind, derived: [String]? = nil) throws {
        self.kind = kind
        try migrate(derived: derived ?? Self.derived.map(\.name))
    }

    init(_ kind: Kind, _ random: inout SplitMix64) throws {
        try self.init(kind)
        for size in [0, 30, 35, 80] { try insert(basket: nextSerials.basket, (0..<size).map { _ in values(&random) }) }
    }

    mutating func migrate(derived: [String]) throws {
        var definition = SchemaDefinition {
            EntityDefinition("Basket") {
                RelationshipDefinition(
                    "lines", to: "Line", kind == .ordered ? .orderedToMany : .toMany, inverse: kind == .oneWay ? nil : "basket",
                    onDelete: kind == .mutual ? .nullify : .cascade)
            }
            EntityDefinition("Line") {
                AttributeDefinition("real", .double, .optional)
                AttributeDefinition("decimal", .decimal, .optional)
                AttributeDefinition("whole", .int32, .optional)
                AttributeDefinition("text", .string, .optional)
            }
        }
        if kind != .oneWay {
            definition.entities[1].relationships.append(
                RelationshipDefinition("basket", to: "Basket", kind == .mutual ? .toMany : .toOne, inverse: "lines"))
        }
        for (name, type, derivation) in Self.derived where derived.contains(name) {
            definition.entities[0].attributes.append(AttributeDefinition(name, type, .optional, derived: derivation))
        }
        try commit([.schema(try SchemaMigration(from: timeline.head.schema, to: definition).after.catalog)])
    }

    private func entity(_ name: String) throws -> Entity { try #require(timeline.head.schema.entity(name)) }
    private func basket(_ serial: UInt64) throws -> ObjectID { ObjectID(root: try entity("Basket").number, serial: serial) }
    private func line(_ serial: UInt64) throws -> ObjectID { ObjectID(root: try entity("Line").number, serial: serial) }
    private func assignments(_ values: [String: Value]) throws -> [Assignment] {
        let line = try entity("Line")
        return values.compactMap { name, value in line.attribute(name).map { Assignment($0.number, value) } }
    }

    private func link(_ line: ObjectID, _ basket: ObjectID) throws -> Op {
        if let owner = try entity("Line").relationship("basket") { return .link(line, owner.number, target: basket, index: nil) }
        return .link(basket, try linesRelationship.number, target: line, index: nil)
    }

    private var linesRelationship: Relationship { get throws { try #require(try entity("Basket").relationship("lines")) } }

    mutating func commit(_ ops: [Op]) throws {
        try ProgramRun.commit(ops, to: timeline)
        pending.append(ops)
        if pending.count >= 5 { try replay() }
    }

    mutating func replay() throws {
        var draft = replayed.draft()
        for ops in pending {
            draft.beginReplayed(draft.transaction + 1)
            for op in ops { try draft.apply(op) }
            try DerivedNotes.updateDerived(&draft)
        }
        try replayed.publish(draft)
        pending = []
    }

    /// Inserts a basket with lines.
    mutating func insert(basket serial: UInt64, _ lines: [[String: Value]]) throws {
        var ops: [Op] = [.insert(try basket(serial), entity: try entity("Basket").number, [])]
        nextSerials.basket = serial + 1
        for values in lines { ops += try insertLine(values, in: serial) }
        try commit(ops)
    }

    private mutating func insertLine(_ values: [String: Value], in serial: UInt64) throws -> [Op] {
        let id = try line(nextSerials.line)
        nextSerials.line += 1
        return [
            .insert(id, entity: try entity("Line").number, try assignments(values)),
            try link(id, try basket(serial)),
        ]
    }

    mutating func set(_ serial: UInt64, _ name: String, _ value: Value) throws {
        try commit([.set(try line(serial), try assignments([name: value]))])
    }

    func value(_ name: String) throws -> Value {
        let attribute = try #require(try entity("Basket").attribute(name))
        return try #require(timeline.head.value(of: attribute, of: try basket(1)))
    }

    // MARK: Random transactions

    private func values(_ random: inout SplitMix64) -> [String: Value] {
        var values: [String: Value] = [:]
        for name in Self.names where random.isTrue(4, outOf: 5) { values[name] = value(name, &random) }
        return values
    }

    private func value(_ name: String, _ random: inout SplitMix64) -> Value {
        if random.isTrue(1, outOf: 6) { return .null }
        let number = Int64.random(in: -20...20, using: &random)
        switch name {
        case "real": return .double(Double(number) * [1, 0.1, 1e17, -0.0, 1e-300][Int.random(in: 0..<5, using: &random)])
        case "decimal": return .decimal(DecimalNumber("\(number)E\(Int.random(in: -15...15, using: &random))") ?? .zero)
        case "whole": return .int(number)
        default: return .string(String(repeating: "ä", count: random.isTrue(1, outOf: 4) ? 130 : 1) + "\(number)")
        }
    }

    mutating func transact(_ random: inout SplitMix64) throws {
        let graph = timeline.head
        var lines = Array(graph.objects(of: try entity("Line"))).shuffled(using: &random)
        var baskets = Array(graph.objects(of: try entity("Basket")))
        var ops: [Op] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            guard let line = lines.popLast(), let basket = random.pick(baskets) else { break }
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4:
                let name = Self.names[Int.random(in: 0..<4, using: &random)]
                ops.append(.set(line, try assignments([name: value(name, &random)])))
            case 4..<7:
                if try kind == .list || kind == .ordered || !graph.isLinked(basket, linesRelationship, line) {
                    ops.append(try link(line, basket))
                } else {
                    ops.append(.unlink(basket, try linesRelationship.number, target: line))
                }
            case 7..<9: ops.append(.delete([line]))
            case 9..<11: ops += try insertLine(values(&random), in: basket.serial)
            default:
                ops.append(.insert(try self.basket(nextSerials.basket), entity: try entity("Basket").number, []))
                ops.append(try link(line, try self.basket(nextSerials.basket)))
                nextSerials.basket += 1
                guard baskets.count > 3, random.isTrue(1, outOf: 4) else { break }
                try commit(ops)
                ops = [.delete([basket])]
                baskets.removeAll { $0 == basket }
                lines = []
            }
        }
        try commit(ops)
    }

    // MARK: Work

    static let commitCount = 100

    /// Returns how much a hundred commits read, each of which deletes a line and sets the value of another one. In a list, the deleted line
    /// has the least value of all; without a list, no index finds the next one.
    static func work(_ kind: Kind, memberCount: Int, _ derived: [String]) throws -> Int {
        var baskets = try Baskets(kind, derived: derived)
        let first: UInt64 = kind == .list ? 1 : 200
        let lines = (0..<memberCount).map { number -> [String: Value] in
            let (real, decimal) = (Double(-number), DecimalNumber(Int64(number)))
            return [
                "real": .double(real), "decimal": .decimal(decimal), "whole": .int(Int64(number)), "text": .string("\(9999 - number)"),
            ]
        }
        try baskets.insert(basket: 1, lines)
        let before = baskets.timeline.derivedWork
        for number in first..<first + UInt64(commitCount) {
            let change = Op.set(try baskets.line(500), try baskets.assignments(["real": .double(-1)]))
            try baskets.commit([.delete([try baskets.line(number)]), change])
        }
        #expect(baskets.timeline.head.invariantFindings() == [])
        return baskets.timeline.derivedWork - before
    }
}

extension Graph {
    /// The values of all derived attributes, by ascending id.
    fileprivate var derivedTexts: [String] {
        guard let entity = schema.entity("Basket") else { return [] }
        return objects(of: entity).flatMap { id in
            entity.attributes.filter(\.isDerived).map { "\(id) \($0.name) \((value(of: $0, of: id) ?? .null).text)" }
        }
    }
}
