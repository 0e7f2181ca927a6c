import Cambium
import CambiumJSON
import CambiumTesting
import TestFixtures
import Testing

/// Rows that agree with each other result in the same graph, in any order, in any batches and any number of times.
@Suite struct ImportOrderTests {
    private static let mapping = ImportMapping(
        attributes: ["title": "name.full", "created": PropertyMapping(.path("at"), dates: [.secondsSince1970])],
        relationships: ["items": PropertyMapping(.path("parts.keys"), functions: [.split(",")])],
        nested: ["Item": ObjectMapping(attributes: ["count": PropertyMapping(.path("n"), functions: [.integer])])])

    /// Returns a row with all properties of a note, or with some of them.
    private func row(_ number: Int, of count: Int, using generator: inout some RandomNumberGenerator, isWhole: Bool) -> String {
        var members = ["\"id\":\(number)"]
        let related = (1...count).filter { ($0 * number) % 7 == 3 }.map(String.init)
        let all = [
            #""name":{"full":"note \#(number)"}"#, "\"at\":\(number * 1000)", "\"rating\":\(number % 5)",
            "\"parts\":{\"keys\":\"\(number)a,\(number)b\"}", "\"related\":[\(related.shuffled(using: &generator).joined(separator: ","))]",
        ]
        members += all.filter { _ in isWhole || Bool.random(using: &generator) }
        return "{\(members.shuffled(using: &generator).joined(separator: ","))}"
    }

    private func itemRow(_ key: String, using generator: inout some RandomNumberGenerator) -> String {
        "{\"key\":\"\(key)\",\"n\":\"\(key.utf8.count)\",\"tags\":[{\"name\":\"t\(key.utf8.count)\",\"color\":\"c\"},\"t0\"]}"
    }

    /// Returns the graph without ids. Objects and the targets of links appear by their identities.
    private func text(_ graph: Graph) throws -> [String] {
        var names: [String: String] = [:]
        var objects: [JSONValue] = []
        for line in graph.export.split(separator: "\n") {
            let object = try JSONValue(parsing: line.utf8)
            names[object["_id"]?.string ?? ""] = [object["id"], object["key"], object["name"]].compactMap(\.?.text).joined()
            objects.append(object)
        }
        func named(_ value: JSONValue) -> String {
            if case .array(let elements) = value { return elements.map(named).sorted().joined(separator: " ") }
            return value.string.flatMap { names[$0] } ?? value.text
        }
        return objects.map { $0.members.map { "\($0.key)=\(named($0.value))" }.joined(separator: "; ") }.sorted()
    }

    private func run(_ rows: [(entity: String, text: String)], batch: Int?, _ store: Store) throws {
        for entity in ["Note", "Item"] {
            let own = rows.filter { $0.entity == entity }.map(\.text).joined(separator: "\n")
            try store.importing(entity, own) {
                $0.batchRowCount = batch
                $0.mapping = entity == "Note" ? Self.mapping : Self.mapping.nested["Item"].map { ImportMapping(objects: $0) }
            }
        }
    }

    @Test(arguments: UInt64(1)...(LongTests.areWanted ? 20 : 8))
    func `rows in any order and any batches result in the same graph, and a second import changes nothing`(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let count = Int.random(in: 2...25, using: &generator)
        var rows: [(entity: String, text: String)] = []
        for number in 1...count {
            rows.append(("Note", row(number, of: count, using: &generator, isWhole: true)))
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                rows.append(("Note", row(number, of: count, using: &generator, isWhole: false)))
            }
            for key in ["\(number)a", "\(number)b"] { rows.append(("Item", itemRow(key, using: &generator))) }
        }
        let first = try Store.notes()
        try run(rows, batch: nil, first)
        let expected = try text(first.graph)
        #expect(!expected.contains { $0.contains("_stub") && !$0.contains("t0") })
        for _ in 0..<3 {
            let store = try Store.notes()
            let batch = Bool.random(using: &generator) ? nil : Int.random(in: 1...count, using: &generator)
            rows.shuffle(using: &generator)
            try run(rows, batch: batch, store)
            #expect(try text(store.graph) == expected, "seed \(seed), batches of \(batch ?? 0)")
            let before = store.graph.transaction
            try run(rows.shuffled(using: &generator), batch: batch, store)
            #expect(store.graph.transaction == before && store.graph.invariantFindings().isEmpty, "seed \(seed)")
        }
    }

    @Test func `rows may exchange members of relationships that limit their number`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Team", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                RelationshipDefinition("players", to: "Player", .toMany, inverse: "team", min: 2, max: 2)
            }
            EntityDefinition("Player", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                RelationshipDefinition("team", to: "Team", inverse: "players", min: 1)
            }
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        try store.importing("Team", #"[{"id":1,"players":[{"id":1},{"id":2}]},{"id":2,"players":[{"id":3},{"id":4}]}]"#)
        try store.importing("Player", #"[{"id":1,"team":2},{"id":3,"team":1}]"#)
        #expect(try store.graph.json("Team/1").contains(#""players":["Player/2","Player/3"]"#))
        #expect(try store.graph.json("Team/2").contains(#""players":["Player/1","Player/4"]"#))
        let refused = try #require(store.refusal("Player", #"[{"id":2},{"id":1,"team":1},{"id":4}]"#))
        #expect(refused.code == .ruleViolated && refused.row == 2)
        let report = try store.importing("Player", #"[{"id":1,"team":1},{"id":5},{"id":4,"team":2}]"#) { $0.onError = .skip }
        #expect(report.errors.map(\.row) == [1, 2])
        #expect(report.transaction == nil && store.graph.invariantFindings().isEmpty)
    }
}
