import Cambium
import CambiumBytes
import CambiumJSON
import CambiumLog
import CambiumTesting
import TestFixtures
import Testing

/// Rows with the same keys in another order, at every level.
@Suite struct KeyOrderTests {
    private static let definition = SchemaDefinition {
        EntityDefinition("P", identity: ["k"]) {
            AttributeDefinition("k", .int64)
            AttributeDefinition("t", .string, default: "d")
            AttributeDefinition("u", .string, .optional, default: "e")
            RelationshipDefinition("one", to: "T", inverse: "ps")
            RelationshipDefinition("set", to: "T", .toMany)
            RelationshipDefinition("list", to: "P", .orderedToMany, inverse: "back")
            RelationshipDefinition("back", to: "P", inverse: "list")
        }
        EntityDefinition("T", identity: ["name"]) {
            AttributeDefinition("name", .string)
            AttributeDefinition("must", .int64, .optional)
            RelationshipDefinition("ps", to: "P", .toMany, inverse: "one")
            RelationshipDefinition("pair", to: "P")
        }
    }

    @Test(arguments: [
        [#"{"k":7,"one":"b","set":[{"name":"b"}]}"#, #"{"k":7,"set":[{"name":"b"}],"one":"b"}"#],
        [#"{"k":7,"one":{"name":"b","must":1},"set":[{"name":"b"}]}"#, #"{"k":7,"set":[{"name":"b"}],"one":{"name":"b","must":1}}"#],
    ])
    func `a stated value or link takes precedence over an absent key of the same row`(rows: [String]) throws {
        for row in rows {
            let store = try Store.inMemory(schema: try Schema(Self.definition))
            try store.importing("T", #"{"name":"b","must":2}"#)
            for _ in 0..<2 {
                try store.importing("P", row) { $0.missing = .clear }
                #expect(try store.graph.json("P/1").contains(#""one":"T/1""#), "\(row)")
                #expect(try store.graph.json("T/1").contains(#""must":1"#) == row.contains("must"), "\(row)")
            }
        }
    }

    @Test func `a row's own list keeps a member that another part of the row mentions`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Site", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    RelationshipDefinition("recent", to: "Tag", .toMany, inverse: "site")
                    RelationshipDefinition("first", to: "Tag")
                }
                EntityDefinition("Tag", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("title", .string, .optional)
                    RelationshipDefinition("site", to: "Site", inverse: "recent")
                }
            })
        for _ in 0..<2 {
            let row = #"{"id":1,"recent":[{"id":10}],"first":{"id":10,"title":"late"}}"#
            try store.importing("Site", row) { $0.missing = .clear }
            #expect(try store.graph.json("Site/1").contains(#""recent":["Tag/1"]"#))
            #expect(try store.graph.json("Tag/1").contains(#""title":"late","site":"Site/1""#))
        }
    }

    @Test(arguments: UInt64(1)...UInt64(LongTests.caseCount(3000, usual: 60)))
    func `the order of the keys of a row decides nothing`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let first = (0..<3).map { _ in Self.person(&random, 0).text }
        let rows = (0..<4).map { _ in Self.person(&random, 0) }
        var options = ImportOptions()
        options.onError = .skip
        options.missing = random.pick(ImportOptions.MissingKey.allCases) ?? .keep
        options.null = random.pick(ImportOptions.NullValue.allCases) ?? .clear
        options.mismatch = random.pick(ImportOptions.Mismatch.allCases) ?? .error
        options.existing = random.pick(ImportOptions.Existing.allCases) ?? .update
        options.toMany = random.pick(ImportOptions.ToMany.allCases) ?? .replace
        options.references = random.pick(ImportOptions.Reference.allCases) ?? .create
        let expected = try Self.result(first, rows.map(\.text), options)
        for _ in 0..<3 {
            let shuffled = rows.map { Self.shuffled($0, &random).text }
            let found = try Self.result(first, shuffled, options)
            #expect(found == expected, "seed \(seed), \(options): \(rows.map(\.text)) and \(shuffled)")
        }
    }

    /// Imports rows into a new store. Returns the objects, and the rows that were skipped.
    private static func result(_ first: [String], _ rows: [String], _ options: ImportOptions) throws -> [String] {
        let store = try Store.inMemory(schema: try Schema(definition))
        try store.importing("P", first.joined(separator: "\n")) { $0.onError = .skip }
        let report = try store.importing("P", rows.joined(separator: "\n")) { $0 = options }
        return [store.graph.export] + report.errors.map { "\($0.row)" }
    }

    // MARK: Random rows

    private static func person(_ random: inout SplitMix64, _ depth: Int) -> JSONValue {
        var members: [JSONValue.Member] = [.init("k", .number("\(Int.random(in: 0..<4, using: &random))"))]
        for name in ["t", "u"] where random.isTrue(1, outOf: 2) { members.append(.init(name, text(&random))) }
        if random.isTrue(1, outOf: 2) { members.append(.init("one", tag(&random, depth))) }
        if random.isTrue(1, outOf: 2) { members.append(.init("set", list(&random) { tag(&$0, depth) })) }
        if random.isTrue(1, outOf: 2) { members.append(.init("list", list(&random) { other(&$0, depth) })) }
        if random.isTrue(1, outOf: 3) { members.append(.init("back", other(&random, depth))) }
        return .object(members)
    }

    private static func tag(_ random: inout SplitMix64, _ depth: Int) -> JSONValue {
        let name = JSONValue.string(random.pick(["a", "b", "c"]) ?? "a")
        if depth > 2 || random.isTrue(1, outOf: 2) { return random.isTrue(1, outOf: 8) ? .null : name }
        var members: [JSONValue.Member] = [.init("name", name)]
        let musts: [JSONValue] = [.number("1"), .number("2"), .null, .bool(true)]
        if random.isTrue(1, outOf: 2) { members.append(.init("must", random.pick(musts) ?? .null)) }
        if random.isTrue(1, outOf: 2) { members.append(.init("ps", list(&random) { other(&$0, depth) })) }
        if random.isTrue(1, outOf: 3) { members.append(.init("pair", other(&random, depth))) }
        return .object(members)
    }

    private static func other(_ random: inout SplitMix64, _ depth: Int) -> JSONValue {
        if depth < 2, random.isTrue(1, outOf: 2) { return person(&random, depth + 1) }
        return .number("\(Int.random(in: 0..<5, using: &random))")
    }

    private static func list(_ random: inout SplitMix64, _ element: (inout SplitMix64) -> JSONValue) -> JSONValue {
        .array((0..<Int.random(in: 0...2, using: &random)).map { _ in element(&random) })
    }

    private static func text(_ random: inout SplitMix64) -> JSONValue {
        random.pick([.string("x"), .string("y"), .null, .number("1")]) ?? .null
    }

    private static func shuffled(_ value: JSONValue, _ random: inout SplitMix64) -> JSONValue {
        switch value {
        case .object(let members):
            .object(members.shuffled(using: &random).map { .init($0.key, shuffled($0.value, &random)) })
        case .array(let elements): .array(elements.map { shuffled($0, &random) })
        default: value
        }
    }
}
