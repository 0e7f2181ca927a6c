import Cambium
import TestFixtures
import Testing

extension Graph {
    /// Returns a graph with six notes, of which the first four are in two cities.
    static func ofRankedNotes() throws -> Graph {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note") {
                    AttributeDefinition("rank", .int64, .optional)
                    AttributeDefinition("title", .string, .optional)
                    RelationshipDefinition("city", to: "City", inverse: "notes")
                }
                EntityDefinition("City") {
                    AttributeDefinition("born", .date)
                    RelationshipDefinition("notes", to: "Note", .toMany, inverse: "city")
                }
            })
        try store.write { transaction in
            let dates = ["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"]
            let cities = try dates.map { try transaction.insert("City", ["born": try #require(Value(date: $0))]) }
            for rank in 1...6 {
                let city = rank < 5 ? [cities[rank % 2]] : []
                try transaction.insert("Note", ["rank": .int(Int64(rank)), "title": .string("n\(rank)")], links: ["city": city])
            }
        }
        return store.graph
    }

    /// Returns the first key of each group of notes that satisfies a condition on groups. The groups have the functions `count` and
    /// `max.city.born`.
    func groups(
        by key: String, having: String, where condition: String? = nil, _ arguments: [String: Operand] = [:]
    ) throws -> [QueryValue] {
        let aggregates = [Aggregate.count, Aggregate(.max, of: try Operand(parsing: "city.born"))]
        let grouping = Grouping(by: [try Operand(parsing: key)], aggregates, having: try Condition(parsing: having))
        return try aggregate(Query("Note", where: condition, arguments), grouping).map { $0.group[0] }
    }
}

extension Value {
    fileprivate init?(date text: String) {
        guard let value = try? Value(text: text, type: .date) else { return nil }  // The caller reports the text.
        self = value
    }
}
