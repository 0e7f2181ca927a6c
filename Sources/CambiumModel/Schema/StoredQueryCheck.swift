/// Checks the stored queries of a schema: their texts, and the names and types in these texts.
package struct StoredQueryCheck {
    private let schema: Schema

    /// The number of mistakes after which the check ends. The number is limited, because each message about an unknown name reads all names
    /// of an entity.
    private static let mistakeCountMax = 100

    /// The maximum number of `like` and `matches` patterns in all queries of a schema. The number is limited, because the check compiles
    /// each pattern.
    static let patternCountMax = 1000
    /// The number of patterns in the queries that were checked so far.
    private var patternCount = 0

    package init(_ schema: Schema) { self.schema = schema }

    /// Checks all stored queries, and throws one error with all mistakes. Complexity: O(bytes of the texts + mistakes · properties of the
    /// schema).
    mutating func check() throws(CambiumError) {
        var mistakes = SchemaMistakes()
        for definition in schema.definition.entities {
            guard let entity = schema.entity(definition.name) else { continue }
            for query in definition.queries where mistakes.all.count < Self.mistakeCountMax {
                let place = SchemaPlace.entity(entity.name)["queries"][query.name]
                for (key, message) in self.mistakes(query, in: entity) { mistakes.add(place[key].pointer, message) }
            }
        }
        try mistakes.throwIfAny()
    }

    /// Returns the mistakes of a query that an entity declares. `key` is a key in the JSON form of the query, and the value of this key
    /// contains the mistake.
    ///
    /// The patterns of this query, and of the queries that were checked earlier, count toward `patternCountMax`.
    package mutating func mistakes(_ query: QueryDefinition, in source: Entity) -> [(key: String, message: String)] {
        var entity = source
        if let name = query.target {
            guard let target = schema.entity(name) else { return [("of", "the schema has no entity '\(name)'")] }
            entity = target
        }
        let found = entity
        let check = ConditionCheck(schema, source: source)
        var mistakes: [(key: String, message: String)] = []
        if let text = query.condition {
            let message = Self.mistake(in: text) { () throws(CambiumError) in
                let condition = try Condition(parsing: text)
                patternCount += condition.patternCount
                guard patternCount <= Self.patternCountMax else {
                    throw CambiumError(
                        .limitExceeded,
                        "Together, the queries have more than \(Self.patternCountMax) comparisons with 'like' or 'matches'. Use fewer.")
                }
                do throws(QueryMistake) { try check.check(condition, found) } catch { throw error.error(in: text) }
            }
            if let message { mistakes.append(("where", message)) }
        }
        if let text = query.sort {
            let message = Self.mistake(in: text) { () throws(CambiumError) in
                let keys = try SortKey.list(parsing: text)
                try SortKey.check(count: keys.count)
                do throws(QueryMistake) { for key in keys { try check.check(key, found) } } catch { throw error.error(in: nil) }
            }
            if let message { mistakes.append(("sort", message)) }
        }
        if let limit = query.limit, limit < 0 { mistakes.append(("limit", "the limit must be at least 0")) }
        return mistakes
    }

    /// Returns the mistake in `text`, with its line and column if they are known.
    private static func mistake(in text: String, _ body: () throws(CambiumError) -> Void) -> String? {
        do throws(CambiumError) {
            try body()
            return nil
        } catch {
            let place = error.place.flatMap { place in place.line.map { "\($0):\(place.column ?? 1): " } } ?? ""
            return place + error.message
        }
    }
}
