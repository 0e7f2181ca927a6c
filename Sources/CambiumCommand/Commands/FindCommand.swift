import ArgumentParser
import Cambium
import CambiumJSON

struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Find the objects of an entity.",
        discussion: Discussion.text(
            examples: "cambium find notes Note --where 'any tags.name == \"trip\"' --limit 10",
            "cambium find notes Note --where 'created > $t' --set t=2026-11-01T00:00:00Z",
            "cambium find notes Note --select title,items.@count --sort -items.@count",
            "cambium find notes Item --count --group-by note.title --having 'count > 2'",
            "cambium find notes Note --identity 1 --json", "cambium find notes Note --query recent --set days=7 --count",
            "cambium find notes Note --where 'title contains \"paris\"' --sort title --watch"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The entity; its sub-entities are listed, too.", completion: .custom(NameCompletion.entities)) var entity: String
    @OptionGroup(title: "Condition") var condition: ConditionOptions
    @OptionGroup(title: "Order and pages") var order: OrderOptions
    @OptionGroup(title: "Values") var values: SelectOptions
    @OptionGroup(title: "Functions") var functions: AggregateOptions
    @OptionGroup(title: "Groups") var groups: GroupOptions
    @OptionGroup(title: "Nested objects") var include: IncludeOptions
    @OptionGroup(title: "Moment") var point: PointOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @Flag(help: "Print the steps of the query, with estimated and actual numbers of objects, instead of the objects.") var explain = false
    @Flag(
        help: """
            List the objects, and then the differences as other processes commit: + for an object that is new in the list, - for one \
            that leaves the list, > for one that moves, ~ for one with another value.
            """)
    var watch = false

    private var aggregates: AggregateRequest { AggregateRequest(functions: functions, groups: groups) }

    func validate() throws {
        try aggregates.validate()
        if let first = condition.set.first, condition.where == nil, condition.query == nil, groups.having == nil {
            throw ValidationError("--set gives a value to $\(first.name), but there is no condition. Add --where, or omit --set.")
        }
        if aggregates.isUsed, !values.select.isEmpty {
            throw ValidationError(
                "--select lists values of single objects, but aggregates combine objects. Use --group-by instead of --select.")
        }
        if aggregates.isUsed, order.after != nil {
            throw ValidationError("--after continues a list of objects, but aggregates combine objects. Remove --after.")
        }
        if include.isUsed, aggregates.isUsed || !values.select.isEmpty {
            throw ValidationError("--include and --depth nest whole objects, but the output has no objects. Remove both options.")
        }
        if order.cursor { try validateCursor() }
        if watch { try validateWatch() }
    }

    /// Refuses options that replace the list of objects, because `--cursor` prints the end of this list.
    private func validateCursor() throws {
        let others = [("--select", !values.select.isEmpty), ("the aggregates", aggregates.isUsed), ("--explain", explain)]
        if let other = others.first(where: \.1)?.0 {
            throw ValidationError("--cursor needs a list of whole objects. Remove \(other), or remove --cursor.")
        }
    }

    /// Refuses options that do not fit `--watch`.
    private func validateWatch() throws {
        let others = [
            ("--select", !values.select.isEmpty), ("the aggregates", aggregates.isUsed), ("--after", order.after != nil),
            ("--cursor", order.cursor), ("--at", point.at != nil), ("--explain", explain),
        ]
        if let other = others.first(where: \.1)?.0 {
            throw ValidationError("--watch lists the objects of the newest graph. Remove \(other), or remove --watch.")
        }
    }

    func run() throws {
        if watch {
            try FindWatch(path: store, isJSON: output.json, textOption: condition.textOption).run(
                { graph in
                    let entity = try graph.schema.required(self.entity)
                    return try QueryRequest(condition: condition, order: order, isLive: true).query(entity, graph)
                }, including: include.tree(from:_:))
        }
        let graph = try point.open(store).graph
        let entity = try graph.schema.required(self.entity)
        let isForGroups = aggregates.isUsed && !aggregates.isCountAlone
        let query = try QueryRequest(condition: condition, order: order, isForGroups: isForGroups).query(entity, graph)
        let tree = try include.tree(from: graph.schema.required(query.entity), graph.schema)
        // Errors in the other options already name their option. So an error without an option refers to the condition.
        try QueryRequest.named(condition.textOption) { try print(query, graph, tree) }
    }

    private func print(_ query: Query, _ graph: Graph, _ tree: IncludeTree) throws {
        let results = FindResults(graph: graph, isJSON: output.json)
        let entity = try graph.schema.required(query.entity)
        if aggregates.isCountAlone {
            if explain { return results.print(try graph.explainedCount(query).plan) }
            return results.print(count: try graph.count(query))
        }
        if let grouping = try aggregates.grouping(of: entity, graph) {
            for text in order.sort {
                try QueryRequest.named("--sort") {
                    try graph.check(.groupSort(SortKey.list(parsing: text), grouping), of: entity, in: text)
                }
            }
            if explain { return results.print(try graph.explainedAggregate(query, grouping).plan) }
            return results.print(try graph.aggregate(query, grouping), grouping)
        }
        if !values.select.isEmpty {
            let operands = try values.operands(of: entity, graph)
            let (rows, ids, plan) = try graph.selected(
                operands, query, repeated: values.distinct ? .remove : .keep, isExplained: explain)
            return explain ? results.print(plan) : results.print(rows, ids, operands)
        }
        let answer = try graph.answer(query, isExplained: explain)
        if explain { return results.print(answer.plan) }
        // A cursor that is too long is refused before the first object is printed.
        let cursor = try order.cursor ? results.cursor(of: answer) : nil
        try results.print(answer, including: tree)
        if order.cursor { return results.print(cursor: cursor) }
        if let last = answer.ids.last, answer.ids.count == query.limit, !output.json, Terminal.isInteractive {
            Terminal.error("There may be more objects. Add --after \(graph.text(of: last)) for the next page.")
        }
    }
}
