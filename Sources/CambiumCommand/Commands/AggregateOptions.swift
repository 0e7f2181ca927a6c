import ArgumentParser
import Cambium

/// The options with which `find` prints functions of the objects, such as sums and counts, instead of the objects.
struct AggregateOptions: ParsableArguments {
    @Flag(help: "Print only the number of objects.") var count = false
    @Option(
        help: .init("Print the sum of this path. Repeat the option, or separate paths with commas.", valueName: "path"),
        completion: .custom(NameCompletion.paths))
    var sum: [String] = []
    @Option(help: .init("Print the least value of this path.", valueName: "path"), completion: .custom(NameCompletion.paths))
    var min: [String] = []
    @Option(help: .init("Print the greatest value of this path.", valueName: "path"), completion: .custom(NameCompletion.paths))
    var max: [String] = []
    @Option(help: .init("Print the mean of this path.", valueName: "path"), completion: .custom(NameCompletion.paths))
    var avg: [String] = []
    @Option(help: .init("Count the different values of this path.", valueName: "path"), completion: .custom(NameCompletion.paths))
    var countDistinct: [String] = []
}

/// The options of `find` that divide the objects into groups. `find` computes the functions for each group.
struct GroupOptions: ParsableArguments {
    @Option(
        help: .init("Print one row for each combination of values of these paths.", valueName: "paths"),
        completion: .custom(NameCompletion.paths))
    var groupBy: [String] = []
    @Option(
        parsing: .unconditional,  // A condition may begin with a minus sign.
        help: .init("Print only rows that satisfy this condition, such as 'count > 5 and sum.price > 100'.", valueName: "condition"))
    var having: String?

    func validate() throws { try Arguments.checkOnce("--having") }
}

/// Converts the options of `find` for functions and groups to a `Grouping`.
struct AggregateRequest {
    let functions: AggregateOptions
    let groups: GroupOptions

    private var paths: [(AggregateFunction, [String], String)] {
        [
            (.sum, functions.sum, "--sum"), (.min, functions.min, "--min"), (.max, functions.max, "--max"), (.avg, functions.avg, "--avg"),
            (.countDistinct, functions.countDistinct, "--count-distinct"),
        ]
    }

    private var hasFunctions: Bool { paths.contains { !$0.1.isEmpty } }

    var isUsed: Bool { functions.count || !groups.groupBy.isEmpty || hasFunctions }

    var isCountAlone: Bool { functions.count && groups.having == nil && groups.groupBy.isEmpty && !hasFunctions }

    func validate() throws {
        if groups.having != nil, !isUsed {
            throw ValidationError("--having selects rows of groups. Add --group-by, or a function such as --count.")
        }
    }

    /// Returns the groups and functions; `nil` if no option requests any. If there are groups but no function, the function counts the
    /// objects of each group.
    func grouping(of entity: Entity, _ graph: Graph) throws -> Grouping? {
        if !isUsed { return nil }
        var aggregates: [Aggregate] = functions.count ? [.count] : []
        for (function, texts, option) in paths {
            let operands = try QueryRequest.operands(texts, option, of: entity, graph) { .function(function, $0) }
            aggregates += operands.map { Aggregate(function, of: $0) }
        }
        if aggregates.isEmpty { aggregates = [.count] }
        let option = "--having"
        let condition = try groups.having.map { text in try QueryRequest.named(option) { try Condition(parsing: text) } }
        let keys = try QueryRequest.operands(groups.groupBy, "--group-by", of: entity, graph) { .groupKeys($0) }
        var grouping = Grouping(by: keys, aggregates, having: condition)
        (grouping.havingText, grouping.havingOption) = (groups.having, option)
        return grouping
    }
}
