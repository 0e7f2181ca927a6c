package import CambiumModel

/// A condition that a caller can test on any object of the graph, whatever the object's entity is.
///
/// For each entity, names are resolved when the first object of the entity is tested. If the condition does not fit an entity, none of the
/// entity's objects satisfies it. Only one thread at a time may use a filter.
package final class ObjectFilter {
    private let graph: Graph
    private let binder: ConditionBinder
    private let condition: Condition
    /// For each entity of which an object was tested, the bound condition; `nil` if the condition does not fit the entity.
    private var nodes: [EntityNumber: ConditionNode?] = [:]

    /// Creates a filter. Throws `.invalidInput` with the position if the condition does not fit any of the entities.
    ///
    /// - Parameters:
    ///   - text: The text from which the condition was parsed, for the positions in errors.
    ///   - entities: The entities whose objects the caller expects to test.
    package init(
        _ graph: Graph, _ condition: Condition, _ arguments: [String: Operand] = [:], text: String? = nil, among entities: [Entity]
    ) throws(CambiumError) {
        self.graph = graph
        self.condition = condition
        try Query("", where: condition, arguments).check()
        binder = ConditionBinder(context: QueryContext(graph.reader, graph.layout), arguments: arguments)
        try checkFit(entities, text)
    }

    /// Returns whether an object of the graph satisfies the condition.
    package func holds(_ place: ObjectPlace) -> Bool {
        let table = graph.layout.tables[Int(place.table)]
        let rows = graph.reader.rows(table.index)
        let number = rows.entity(place.row, table)
        guard let node = node(number), let page = rows.group(at: Int(place.row &>> PageLayout.rowShift)) else { return false }
        let group = GroupView(index: Int(place.row &>> PageLayout.rowShift), page: page, chunks: graph.reader.chunks)
        return !node.bits(group, GroupBits(place.row) & group.live).isEmpty
    }

    private func node(_ number: EntityNumber) -> ConditionNode? {
        if let known = nodes[number] { return known }
        // Binding fails if the entity lacks a name that the condition uses, or if an attribute has a type that the condition does not
        // accept. Then no object of the entity satisfies the condition.
        let node = graph.schema.entity(number).flatMap { try? binder.bind(condition, $0) }
        nodes[number] = .some(node)
        return node
    }

    /// Throws if the condition fits none of the entities. The mistake may have a different position for each entity. The error reports the
    /// last position in the text, because the entity of this mistake fits the longest part of the condition.
    private func checkFit(_ entities: [Entity], _ text: String?) throws(CambiumError) {
        var farthest: QueryMistake?
        for entity in entities {
            do throws(QueryMistake) {
                nodes[entity.number] = .some(try binder.bind(condition, entity))
                return
            } catch {
                if farthest.map(error.isFarther) ?? true { farthest = error }
            }
        }
        if let farthest { throw farthest.error(in: text) }
    }
}

extension Graph {
    /// Returns a filter for the objects of some entities.
    ///
    /// Throws `.invalidInput` with the position if the text is not a condition, or if the condition does not fit any of the entities.
    package func filter(
        _ condition: String, _ arguments: [String: Operand] = [:], among entities: [Entity]
    ) throws(CambiumError) -> ObjectFilter {
        try ObjectFilter(self, Condition(parsing: condition), arguments, text: condition, among: entities)
    }

    /// Checks a query without running it: throws the errors that the query would throw before it reads objects.
    package func check(_ query: Query) throws(CambiumError) { _ = try QueryRun(query, self) }
}
