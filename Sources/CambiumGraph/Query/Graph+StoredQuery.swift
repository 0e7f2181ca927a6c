public import CambiumModel

extension Graph {
    /// Returns a query that the schema declares for an entity.
    ///
    /// ```swift
    /// let expensive = try graph.find(graph.query("Item", named: "expensive", ["min": 3]))
    /// let rivals = try graph.query("Team", named: "rivals", ["source": .object(team)])
    /// ```
    ///
    /// The query can be changed and run like any other query. If its condition refers to `$source`, this method reads the values of the
    /// source from this graph. The query uses these values even if it runs on a later graph.
    ///
    /// Throws `.unknownName` if there is no such entity or query. Throws `.invalidInput` if the condition refers to `$source` but no object
    /// is passed, and `.notFound` if this object does not exist. Mistakes in other arguments are reported when the query runs. Complexity:
    /// O(bytes of the query + values of the source that the query uses).
    ///
    /// - Parameters:
    ///   - entity: The entity that declares or inherits the query.
    ///   - arguments: A value for each parameter of the condition, including `source`.
    public func query(
        _ entity: String, named name: String, _ arguments: [String: Operand] = [:]
    ) throws(CambiumError) -> Query {
        let entity = try schema.required(entity)
        guard let stored = entity.query(name) else {
            let names = entity.queries.map(\.name).joined(separator: ", ")
            let remedy = names.isEmpty ? "It has no queries." : "It has: \(names)."
            throw CambiumError(.unknownName, "'\(entity.name)' has no query '\(name.excerpt)'. \(remedy)")
        }
        let definition = stored.definition
        var query = try Query(
            definition.target ?? entity.name, where: definition.condition, arguments, sort: definition.sort, limit: definition.limit)
        try takeSource(of: stored, for: &query)
        return query
    }

    /// Replaces the parameters that refer to the source of a stored query, such as `$source.name`, with the values of the source.
    private func takeSource(of stored: StoredQuery, for query: inout Query) throws(CambiumError) {
        let paths = (query.condition?.parameterNames ?? []).compactMap { name in
            QueryDefinition.sourcePath(name).map { (name: name, path: $0) }
        }
        if paths.isEmpty { return }
        let (id, place, entity) = try source(of: stored, query.arguments.removeValue(forKey: QueryDefinition.sourceName))
        let context = QueryContext(reader, layout)
        let binder = ConditionBinder(context: context, arguments: [:])
        for (name, path) in paths where query.arguments[name] == nil {
            if path.names.isEmpty {
                query.arguments[name] = .object(id)
                continue
            }
            do throws(QueryMistake) {
                let values = PathReader(try binder.resolve(path, entity, at: TextOffset(nil)), entity, context)
                query.arguments[name] = values.operand(place.row)
            } catch {
                throw CambiumError(.invalidInput, "The query '\(stored.name)' does not fit the schema: \(error.message)")
            }
        }
    }

    /// Returns the object that the argument `source` names, and the entity that declares the query.
    private func source(
        of stored: StoredQuery, _ argument: Operand?
    ) throws(CambiumError) -> (id: ObjectID, place: ObjectPlace, entity: Entity) {
        guard let entity = schema.entity(stored.entity) else {
            throw CambiumError(
                .unknownName, "The schema has no entity that declares the query '\(stored.name)'. Use a query of this schema.")
        }
        let example = "\(entity.name)/1"
        guard let argument else {
            throw CambiumError(
                .invalidInput,
                "The query '\(stored.name)' refers to an object of '\(entity.name)'. Pass an object as the parameter 'source', such as "
                    + "\(example).")
        }
        guard case .literal(let literal) = argument.form, let id = id(literal) else {
            throw CambiumError(
                .invalidInput, "The parameter 'source' is \(argument.description.excerpt). Pass an object, such as \(example).")
        }
        guard let place = place(of: id), entity.family.contains(self.entity(of: place).number) else {
            throw CambiumError(
                .notFound, "The graph has no object \(argument.description.excerpt) of '\(entity.name)'. Pass another source.")
        }
        return (id, place, entity)
    }

    /// Returns the id that a literal states, or `nil` if the literal is not an id.
    private func id(_ literal: QueryLiteral) -> ObjectID? {
        switch literal {
        case .id(let id): return id
        case .object(let name, let serial):
            guard let root = schema.entity(name)?.root, serial <= ObjectID.serialMax else { return nil }
            return ObjectID(root: root, serial: serial)
        default: return literal.stringText.flatMap { schema.id($0)?.id }
        }
    }
}

extension PathReader {
    /// Returns the value at the end of a path from an object as an argument of a query: a list if the path leads to several values.
    fileprivate func operand(_ row: UInt32) -> Operand {
        if !links.contains(where: \.isToMany) { return value(row).operand }
        var elements: [Operand] = []
        _ = visit(row) { value in
            elements.append(value.operand)
            return true
        }
        return Operand(.list(elements))
    }
}

extension QueryValue {
    fileprivate var operand: Operand {
        switch self {
        case .value(.null): Operand(.literal(.null))
        case .value(let value): .value(value)
        case .object(let id): .object(id)
        case .list(let values): Operand(.list(values.map(\.operand)))
        }
    }
}
