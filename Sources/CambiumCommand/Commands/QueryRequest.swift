import ArgumentParser
import Cambium
import CambiumJSON

/// The options for the order in which `find` lists objects, and for the range of objects that it lists.
struct OrderOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Sort by these keys, such as name,-born. A key with - before it descends. 'nulls first' or 'nulls last' may follow a key. "
                + "Repeat the option, or separate keys with commas.", valueName: "keys"), completion: .custom(NameCompletion.paths))
    var sort: [String] = []
    // The parser accepts a minus sign in the value, so that an error can state the negative number.
    @Option(parsing: .unconditional, help: .init("List at most this many objects.", valueName: "count")) var limit: Int?
    @Option(parsing: .unconditional, help: .init("Skip this many objects at the beginning.", valueName: "count")) var offset: Int?
    @Option(
        help: .init(
            "List only objects that follow this object or cursor in the order, such as the last object of a page.", valueName: "id"))
    var after: String?
    @Flag(
        help: """
            Print the cursor of the last object in another line. Pass the cursor to --after for the next page, even if objects were \
            changed or deleted.
            """)
    var cursor = false

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is \(limit), but must be at least 0.") }
        if let offset, offset < 0 { throw ValidationError("--offset is \(offset), but must be at least 0.") }
    }
}

/// The options of `find` that select values to list instead of objects.
struct SelectOptions: ParsableArguments {
    @Option(
        help: .init("List only these values of each object, such as name,owner.name,tags.@count.", valueName: "paths"),
        completion: .custom(NameCompletion.paths))
    var select: [String] = []
    @Flag(help: "With --select, list equal rows once, without ids.") var distinct = false

    func validate() throws {
        if distinct, select.isEmpty { throw ValidationError("--distinct compares selected values. Add --select.") }
    }

    /// Returns whether paths begin with `distinct` and a name, as in SQL. The word alone may be the name of an attribute.
    static func beginsWithDistinct(_ paths: String) -> Bool {
        let words = paths.split(separator: " ")
        return words.count > 1 && words[0].lowercased() == "distinct" && words[1].first != "," && words[1].first != "."
    }

    func operands(of entity: Entity, _ graph: Graph) throws -> [Operand] {
        if select.contains(where: Self.beginsWithDistinct) {
            throw CambiumError(.invalidInput, "'distinct' is not a part of a path. Use --distinct.", place: .init(file: "--select"))
        }
        return try QueryRequest.operands(select, "--select", of: entity, graph) { .values($0) }
    }
}

/// Builds a query from the options of `find`.
struct QueryRequest {
    let condition: ConditionOptions
    let order: OrderOptions
    /// Whether the options `--sort`, `--limit` and `--offset` concern groups instead of objects.
    var isForGroups = false
    /// Whether the query is repeated on later graphs. In such a query, `--identity` becomes a condition on values, because another object
    /// may get these values.
    var isLive = false

    func query(_ entity: Entity, _ graph: Graph) throws -> Query {
        var query = try unordered(entity, graph)
        query.isForStubs = condition.stubs
        if !condition.identity.isEmpty {
            let entity = try graph.schema.required(query.entity)
            let values = try identity(of: entity)
            query =
                isLive
                ? query.narrowed(to: entity.identityValues, values)
                : query.narrowed(to: graph.find(entity, identity: values).map { [$0] } ?? [])
        }
        // The order and the limit of a stored query select the objects to group. `--sort`, `--limit` and `--offset` apply to the groups.
        if isForGroups { query = try Self.named(condition.textOption) { try query.withoutOrder(in: graph) } }
        if !order.sort.isEmpty { query.sort = try sortKeys(of: graph.schema.required(query.entity), graph) }
        query.limit = order.limit ?? query.limit
        query.offset = order.offset ?? 0
        if let after = order.after { query.cursor = try cursor(after, query, graph) }
        return query
    }

    private func sortKeys(of entity: Entity, _ graph: Graph) throws -> [SortKey] {
        var keys: [SortKey] = []
        for text in order.sort {
            let parsed = try Self.named("--sort") { try SortKey.list(parsing: text) }
            // The sort keys of groups are checked when the groups are known.
            if !isForGroups { try Self.named("--sort") { try graph.check(.sort(parsed), of: entity, in: text) } }
            keys += parsed
        }
        return keys
    }

    /// Parses the paths in the values of an option, and checks that they fit the entity. An error states the position in the option's
    /// value.
    ///
    /// - Parameter part: Returns the part of the query that consists of the paths in one value.
    static func operands(
        _ texts: [String], _ option: String, of entity: Entity, _ graph: Graph, _ part: ([Operand]) -> QueryPart
    ) throws -> [Operand] {
        var operands: [Operand] = []
        for text in texts {
            let parsed = try named(option) { try Operand.list(parsing: text) }
            try named(option) { try graph.check(part(parsed), of: entity, in: text) }
            operands += parsed
        }
        return operands
    }

    /// Returns the query with the condition and the parameters in the options. The caller then applies `--sort`, `--limit`, `--offset` and
    /// the cursor.
    private func unordered(_ entity: Entity, _ graph: Graph) throws -> Query {
        let arguments = try condition.set.operands()
        guard let name = condition.query else {
            var query = try Self.named("--where") { try Query(entity.name, where: condition.where) }
            query.arguments = arguments
            return query
        }
        let query = try graph.query(entity.name, named: name, arguments)
        guard let text = condition.where else { return query }
        return try Self.named("--where") { try query.narrowed(by: text, arguments, graph) }
    }

    /// The maximum number of digits in the text of an id without the name of an entity.
    private static let idByteCountMax = 32

    /// Returns the cursor after which the listed objects begin. The text may be an id, or the text of a cursor.
    private func cursor(_ text: String, _ query: Query, _ graph: Graph) throws -> QueryCursor {
        do {
            return try QueryCursor(parsing: text)
        } catch {
            // A short text is an id.
            if text.utf8.count > Self.idByteCountMax, !text.contains("/") { throw error }
        }
        let remedy = "Pass a cursor that --cursor printed; it remains valid if objects are deleted."
        if !text.contains("/"), !text.contains(":") {
            throw CambiumError(.notFound, "'\(Excerpt.plain(text))' is neither a cursor nor an id. \(remedy)")
        }
        if let id = graph.schema.id(text)?.id, !graph.contains(id) {
            throw CambiumError(.notFound, "Object \(text) does not exist, so no page can follow it. \(remedy)")
        }
        let (place, _) = try graph.schema.object(text, in: graph)
        return try graph.cursor(query, after: place)
    }

    /// Adds the name of an option to the position of an error that `body` throws.
    static func named<Result>(_ option: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var error as CambiumError {
            if error.place?.file == nil { error.place?.file = option }
            throw error
        }
    }

    /// Returns the values of the identity in the options.
    private func identity(of entity: Entity) throws -> [Value] {
        let identity = condition.identity
        guard identity.count == entity.identityValues.count else {
            let names = entity.identityValues.map(\.name).joined(separator: ", ")
            let rule = names.isEmpty ? "'\(entity.name)' has no identity" : "The identity of '\(entity.name)' consists of \(names)"
            let remedy = names.isEmpty ? "Omit --identity" : "Give one --identity for each of them"
            throw CambiumError(.unknownName, "\(rule), but --identity has \(Readable.of(identity.count, "value")). \(remedy).")
        }
        return try ObjectIdentity(entity, identity).values()
    }
}

extension Query {
    /// Returns this query, restricted to objects with these identity values.
    fileprivate func narrowed(to identity: [IdentityValue], _ values: [Value]) -> Query {
        let parts = zip(identity, values).map { wanted, value in
            Condition.comparison(Comparison(Operand(.path(QueryPath(wanted.names))), .equal, .value(value)))
        }
        var narrowed = self
        narrowed.condition = .and(parts + [condition].compactMap(\.self))
        return narrowed
    }
}

extension AssignmentArgument {
    /// Returns the value that the assignment gives to a parameter of a condition. The option `--set` and the line `set` of the prompt
    /// contain such assignments.
    func operand() throws(CambiumError) -> Operand {
        if !isJSON { return Operand(.literal(.text(text))) }
        let name = Excerpt.plain(name)
        guard let json = try? JSONValue(parsing: text.utf8) else {
            throw CambiumError(
                .invalidInput, "The value of $\(name) is not JSON: \(Excerpt.quoted(text)). Correct it, or use \(name)=text.")
        }
        return try Self.operand(json, name)
    }

    private static func operand(_ json: JSONValue, _ name: String) throws(CambiumError) -> Operand {
        switch json {
        case .null: return Operand(.literal(.null))
        case .bool(let flag): return Operand(.literal(.bool(flag)))
        case .number(let text): return Operand(.literal(.number(text)))
        case .string(let text): return Operand(.literal(.string(text)))
        case .array(let elements):
            var operands: [Operand] = []
            for element in elements {
                if case .array = element {
                    throw CambiumError(.invalidInput, "The value of $\(name) has a list within a list. Pass one list.")
                }
                operands.append(try operand(element, name))
            }
            return Operand(.list(operands))
        case .object: throw CambiumError(.invalidInput, "The value of $\(name) is a JSON object. Pass a value or a list of values.")
        }
    }
}
