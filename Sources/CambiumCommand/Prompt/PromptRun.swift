import Cambium
import CambiumJSON

/// One query that was entered at the prompt: its parts, resolved in a graph.
struct PromptRun {
    let graph: Graph
    let entity: Entity
    let query: Query
    let grouping: Grouping?
    /// The condition on the groups as it is written in the line.
    private let having: PromptClause?
    /// The paths whose values are shown. Empty if the query has aggregates.
    let operands: [Operand]
    let isDistinct: Bool
    private let isCountAlone: Bool

    /// Resolves the parts of a query. Throws `PromptMistake` with the position of a part that does not fit the schema.
    init(_ line: PromptQuery, _ graph: Graph, _ arguments: [String: Operand]) throws {
        self.graph = graph
        var query = try Self.query(line, graph, try Self.entity(line.entity, graph.schema), arguments)
        let entity = try graph.schema.required(query.entity)
        self.entity = entity
        let grouping = try PromptGrouping(line, graph, entity).grouping()
        let functions = Set(line.clauses.keys).intersection([.sum, .min, .max, .avg, .countDistinct, .group, .having])
        isCountAlone = line.has(.count) && functions.isEmpty
        // The order and the limit of a stored query select the objects to group. The order and the limit of the line apply to the groups.
        if grouping != nil, !isCountAlone { query = try query.withoutOrder(in: graph) }
        for name in grouping?.having?.parameterNames ?? [] { query.arguments[name] = arguments[name] }
        if let sort = line.clauses[.sort] {
            query.sort = try Self.sort(sort)
            let (keys, groups) = (query.sort, isCountAlone ? nil : grouping)
            try sort.located {
                if let groups {
                    try graph.check(.groupSort(keys, groups), of: entity, in: sort.text)
                } else {
                    try graph.check(Query(entity.name, where: .constant(true), sort: keys))
                }
            }
        }
        query.limit = try line.clauses[.limit]?.count("limit") ?? query.limit
        query.offset = try line.clauses[.offset]?.count("offset") ?? 0
        (self.query, self.grouping, having) = (query, grouping, line.clauses[.having])
        isDistinct = line.has(.distinct)
        operands = try Self.operands(line, graph, entity, hasGroups: grouping != nil)
    }

    // MARK: Parts

    /// Returns the entity that a line names. Throws if the word is not an entity.
    static func entity(_ clause: PromptClause, _ schema: Schema) throws(PromptMistake) -> Entity {
        if let entity = schema.entity(clause.text) { return entity }
        let similar = schema.entities.first { $0.name.lowercased() == clause.text.lowercased() }
        let newName = schema.newName(ofEntity: clause.text)
        let remedy =
            newName ?? similar.map { "Write '\($0.name)'." } ?? "Begin the line with the name of an entity, or try 'schema' or 'help'."
        throw PromptMistake(.unknownName, "'\(Excerpt.plain(clause.text))' is neither an entity nor a command. \(remedy)", at: clause.start)
    }

    private static func query(
        _ line: PromptQuery, _ graph: Graph, _ entity: Entity, _ arguments: [String: Operand]
    ) throws -> Query {
        let stored = try line.clauses[.query].map { try Self.stored($0, graph, entity, arguments) }
        guard let condition = line.clauses[.where] else { return try stored ?? Query(entity.name) }
        return try condition.located {
            if let stored { return try stored.narrowed(by: condition.text, arguments, graph) }
            var query = try Query(entity.name, where: condition.text)
            query.keepArguments(arguments)
            try graph.check(query)
            return query
        }
    }

    /// Returns the stored query that a clause names. An error in the query or its arguments gets the position of the clause.
    private static func stored(
        _ clause: PromptClause, _ graph: Graph, _ entity: Entity, _ arguments: [String: Operand]
    ) throws -> Query {
        do throws(CambiumError) {
            var query = try graph.query(entity.name, named: clause.text, arguments)
            query.keepArguments(query.arguments)
            try graph.check(query)
            return query
        } catch {
            // The position in the error refers to the text of the stored query, which is not in the line.
            var error = error
            error.place = nil
            throw PromptMistake(error, at: clause.start)
        }
    }

    /// Returns the sort keys. If the clause contains `asc` or `desc`, throws a separate error that shows the right form, because many
    /// people write these words of SQL by habit.
    private static func sort(_ clause: PromptClause) throws -> [SortKey] {
        for part in clause.parts {
            let words = part.text.split(separator: " ")
            guard let name = words.first, let last = words.dropFirst().last, ["desc", "asc"].contains(last.lowercased()) else { continue }
            throw PromptMistake("Write 'sort -\(name)' for descending order, and 'sort \(name)' for ascending order.", at: part.start)
        }
        return try clause.located { try SortKey.list(parsing: clause.text) }
    }

    private static func operands(_ line: PromptQuery, _ graph: Graph, _ entity: Entity, hasGroups: Bool) throws -> [Operand] {
        guard let select = line.clauses[.select] else {
            if let distinct = line.clauses[.distinct] {
                throw PromptMistake("'distinct' compares selected values. Add 'select' with paths.", at: distinct.start)
            }
            return hasGroups ? [] : try shown(entity, graph.schema).map { try Operand(parsing: $0) }
        }
        if hasGroups {
            throw PromptMistake(
                "'select' lists values of single objects, but 'group by' and functions combine objects. "
                    + "Name the paths in 'group by' instead.",
                at: select.start)
        }
        if SelectOptions.beginsWithDistinct(select.text) {
            throw PromptMistake("Write 'distinct' before 'select', such as 'distinct select name'.", at: select.start)
        }
        return try paths(select, graph, entity) { .values([$0]) }
    }

    /// Returns the operands of a list of paths. Throws if one of the paths does not fit the entity.
    ///
    /// - Parameter queryPart: Returns the part of the query that consists of one path.
    static func paths(
        _ clause: PromptClause, _ graph: Graph, _ entity: Entity, _ queryPart: (Operand) -> QueryPart
    ) throws -> [Operand] {
        try clause.parts.map { part in
            try part.located {
                let operand = try Operand(parsing: part.text)
                try graph.check(queryPart(operand), of: entity, in: part.text)
                return operand
            }
        }
    }

    /// Returns the paths that the prompt shows for whole objects: the attributes, then the to-one relationships. If one attribute
    /// identifies the target of a relationship, the prompt shows this attribute.
    private static func shown(_ entity: Entity, _ schema: Schema) -> [String] {
        let links = entity.relationships.filter { !$0.isToMany }.map { relationship in
            let identity = schema.entity(relationship.destination)?.soleIdentityAttribute
            return escaped(relationship.name) + (identity.map { ".\($0.name)" } ?? "")
        }
        return entity.attributes.map { escaped($0.name) } + links
    }

    /// Returns the name with a preceding #. A name after # is never a word of the query language.
    private static func escaped(_ name: String) -> String { "#" + name }

    // MARK: Answers

    /// Runs the query, and returns its answer.
    ///
    /// - Parameter rowCountMax: The number of rows that are shown unless the query has a limit; `nil` for all rows.
    func answer(rowCountMax: Int?) throws -> PromptAnswer {
        if isCountAlone {
            let (count, plan) = try graph.explainedCount(query)
            return PromptAnswer(titles: ["count"], rows: [[.value(.int(Int64(count)))]], plan: plan)
        }
        if let grouping {
            let (rows, plan) = try explained(grouping)
            let titles = grouping.keys.titles + grouping.aggregates.map(\.title)
            return PromptAnswer(titles: titles, rows: rows.map { $0.group + $0.values }, plan: plan).limited(query, rowCountMax)
        }
        var limited = query
        let cutsEarly = query.limit == nil && !isDistinct
        if cutsEarly { limited.limit = rowCountMax.map { $0 + 1 } }
        let (rows, ids, plan) = try graph.selected(
            operands, limited, repeated: isDistinct ? .remove : .keep, isExplained: true)
        let titles = (isDistinct ? [] : ["_id"]) + operands.titles
        let values = isDistinct ? rows : zip(ids, rows).map { [.object($0)] + $1 }
        var answer = PromptAnswer(titles: titles, rows: values, plan: plan).limited(query, rowCountMax)
        if answer.isCut, cutsEarly { answer.total = try graph.count(query) - query.offset }
        return answer
    }

    /// Runs a query for groups. The other parts of the line were checked earlier, so an error with a position is about the condition on the
    /// groups.
    private func explained(_ grouping: Grouping) throws -> (rows: [AggregateRow], plan: QueryPlan) {
        let answer = Result { try graph.explainedAggregate(query, grouping) }
        guard let having, case .failure(let error as CambiumError) = answer, error.place != nil else { return try answer.get() }
        return try having.located { try answer.get() }
    }
}

extension Aggregate {
    /// The heading of the function's column: its name in sort keys and in conditions on groups.
    fileprivate var title: String { operand.map { "\(function.rawValue).\($0.title)" } ?? function.rawValue }
}
