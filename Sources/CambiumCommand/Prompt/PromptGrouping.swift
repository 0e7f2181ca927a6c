import Cambium

/// The groups and functions of a query in the prompt.
struct PromptGrouping {
    private let line: PromptQuery
    private let graph: Graph
    private let entity: Entity

    init(_ line: PromptQuery, _ graph: Graph, _ entity: Entity) { (self.line, self.graph, self.entity) = (line, graph, entity) }

    /// Returns the groups and functions that the line requests, or `nil` if the line has neither groups nor functions. If there are groups
    /// but no function, the objects of each group are counted.
    func grouping() throws -> Grouping? {
        var aggregates: [Aggregate] = line.has(.count) ? [.count] : []
        for (word, function) in [
            (PromptWord.sum, AggregateFunction.sum), (.min, .min), (.max, .max), (.avg, .avg), (.countDistinct, .countDistinct),
        ] {
            if let clause = line.clauses[word] {
                let operands = try PromptRun.paths(clause, graph, entity) { .function(function, [$0]) }
                aggregates += operands.map { Aggregate(function, of: $0) }
            }
        }
        let keys = try line.clauses[.group].map { try PromptRun.paths($0, graph, entity) { .groupKeys([$0]) } } ?? []
        if aggregates.isEmpty, keys.isEmpty {
            if let having = line.clauses[.having] {
                throw PromptMistake("'having' needs groups. Add 'group by' with paths, or write 'where'.", at: having.start)
            }
            return nil
        }
        if aggregates.isEmpty { aggregates = [.count] }
        let having = try line.clauses[.having].map { clause in try clause.located { try Condition(parsing: clause.text) } }
        var grouping = Grouping(by: keys, aggregates, having: having)
        grouping.havingText = line.clauses[.having]?.text
        return grouping
    }
}
