import ArgumentParser
import Cambium

/// The functions that `find` computes in place of a list of objects.
struct AggregateOptions: ParsableArguments {
    @Flag(help: "Print only the number of objects.") var count = false
    @Option(help: .init("Add the values of this path. Repeat the option, or separate paths with commas.", valueName: "path"))
    var sum: [String] = []
    @Option(help: .init("Print the least value of this path.", valueName: "path")) var min: [String] = []
    @Option(help: .init("Print the greatest value of this path.", valueName: "path")) var max: [String] = []
    @Option(help: .init("Print the mean of this path.", valueName: "path")) var avg: [String] = []
    @Option(help: .init("Count the different values of this path.", valueName: "path")) var countDistinct: [String] = []
    @Option(help: .init("Print one row for each combination of values of these paths.", valueName: "paths")) var groupBy: [String] = []
    @Option(help: .init("Print only rows that satisfy this condition, such as 'count > 5 and sum.price > 100'.", valueName: "condition"))
    var having: String?

    func validate() throws {
        if having != nil, !isUsed {
            throw ValidationError("--having needs rows of aggregates. Add --group-by or a function such as --count.")
        }
    }

    var isUsed: Bool { count || !groupBy.isEmpty || [sum, min, max, avg, countDistinct].contains { !$0.isEmpty } }

    var isCountAlone: Bool {
        count && having == nil && groupBy.isEmpty && [sum, min, max, avg, countDistinct].allSatisfy(\.isEmpty)
    }

    /// Returns the request; `nil` if no option asks for aggregates. Groups without a function are counted.
    func grouping() throws -> Grouping? {
        if !isUsed { return nil }
        var aggregates: [Aggregate] = count ? [.count] : []
        for (function, texts, option) in [
            (AggregateFunction.sum, sum, "--sum"), (.min, min, "--min"), (.max, max, "--max"), (.avg, avg, "--avg"),
            (.countDistinct, countDistinct, "--count-distinct"),
        ] {
            aggregates += try Self.operands(texts, option).map { Aggregate(function, of: $0) }
        }
        if aggregates.isEmpty { aggregates = [.count] }
        let condition = try having.map { text in
            try FindOptions.named("--having") { try Condition(parsing: text) }
        }
        return Grouping(by: try Self.operands(groupBy, "--group-by"), aggregates, having: condition)
    }

    private static func operands(_ texts: [String], _ option: String) throws -> [Operand] {
        try texts.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map { text in
            try FindOptions.named(option) { try Operand(parsing: String(text)) }
        }
    }
}
