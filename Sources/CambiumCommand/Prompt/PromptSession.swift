import Cambium
import CambiumJSON

/// The state of a prompt: the store, the moment that lines read, and the parameters of conditions.
final class PromptSession {
    enum Outcome { case goOn, quit }

    /// The maximum number of members that `show` prints for each relationship.
    private static let memberCountMax = 10

    private let follower: StoreFollower
    private let past: EarlierGraphs
    /// The moment that the lines of the prompt read; `nil` for the newest moment.
    private var moment: (name: String, graph: Graph)?
    private var arguments: [String: Operand] = [:]
    /// The number of rows that are shown unless the query has a limit; `nil` for all rows.
    private let rowCountMax: Int?
    /// Returns the maximum width of a printed table, in columns of the terminal; `nil` for no limit.
    private let width: () -> Int?

    /// Opens a store. New transactions of another process are visible to the next line.
    init(_ store: String, at start: Moment?, rowCountMax: Int?, width: @escaping () -> Int?) throws {
        follower = try StoreFollower(of: store)
        past = EarlierGraphs(of: store)
        self.rowCountMax = rowCountMax
        self.width = width
        if let start { moment = (start.text, try past.graph(at: start.point())) }
    }

    /// The graph that lines read. If it is the graph of the newest moment, `run` first adds the transactions that were committed since the
    /// previous line.
    var graph: Graph { moment?.graph ?? follower.graph }

    /// The text that is shown before the line that the person writes.
    var prompt: String { (moment.map { "at \($0.name)" } ?? "cambium") + "> " }

    /// Runs a line and prints its answer. Throws `CancellationError` if the task is cancelled while a query runs or lines are printed.
    func run(_ line: String) throws -> Outcome {
        if moment == nil { try follower.advance() }
        switch try statement(line) {
        case .nothing: break
        case .find(let query): try find(query)
        case .explain(let query):
            let answer = try PromptRun(query, graph, arguments).answer(rowCountMax: nil)
            FindResults(graph: graph, isJSON: false).print(answer.plan)
        case .show(let parts, let include):
            let memberCountMax = rowCountMax.map { _ in Self.memberCountMax }
            try PromptObject(graph, memberCountMax: memberCountMax).show(parts, include)
        case .schema(let entity): try showSchema(entity)
        case .set(let assignment): try set(assignment)
        case .at(let clause): try move(to: clause)
        case .help: try print(PromptHelp.lines(graph.schema))
        case .quit: return .quit
        }
        return .goOn
    }

    private func statement(_ line: String) throws -> PromptStatement {
        let parser = PromptParser(line)
        do {
            return try parser.statement()
        } catch {
            // A line may begin with a command that the prompt lacks, such as 'walk'. The error must then name this word, and not a later
            // one.
            if let entity = parser.entity { _ = try PromptRun.entity(entity, graph.schema) }
            throw error
        }
    }

    private func find(_ query: PromptQuery) throws {
        let start = ContinuousClock.now
        let answer = try PromptRun(query, graph, arguments).answer(rowCountMax: rowCountMax)
        let duration = start.duration(to: .now)
        try print(answer.lines(graph, width: width()))
        Terminal.print(answer.summary(duration))
    }

    private func showSchema(_ entity: PromptClause?) throws {
        guard let entity else { return try print(SchemaText(graph.schema).lines) }
        let found = try entity.located { try graph.schema.required(entity.text) }
        try print(SchemaText(graph.schema).lines(of: found))
    }

    private func print(_ lines: [String]) throws {
        for line in lines {
            try Task.checkCancellation()
            Terminal.print(line)
        }
    }

    private func set(_ clause: PromptClause?) throws {
        guard let clause else {
            if arguments.isEmpty { Terminal.print("No parameter has a value. Write 'set name=value' for $name.") }
            for (name, value) in arguments.sorted(by: { $0.key < $1.key }) { Terminal.print("$\(name) = \(value)") }
            return
        }
        guard let assignment = AssignmentArgument(argument: clause.text), !assignment.name.contains(where: \.isWhitespace) else {
            throw PromptMistake("Expected a parameter and its value without spaces around '=', such as 'set limit=10'.", at: clause.start)
        }
        if assignment.name.hasPrefix("$") {
            throw PromptMistake("Write the name of the parameter without '$', such as 'set limit=10' for $limit.", at: clause.start)
        }
        // A text in quotation marks is a JSON string, as in conditions.
        let isQuoted = !assignment.isJSON && assignment.text.unicodeScalars.first == "\""
        let argument = isQuoted ? AssignmentArgument(argument: "\(assignment.name):=\(assignment.text)") : assignment
        arguments[assignment.name] = try clause.located { try (argument ?? assignment).operand() }
    }

    private func move(to clause: PromptClause?) throws {
        guard let clause, clause.text != "now" else {
            moment = nil
            return Terminal.print("Lines read the newest moment.")
        }
        guard let point = Moment(argument: clause.text) else {
            throw PromptMistake("Expected a moment: \(Moment.forms), but found \(Excerpt.quoted(clause.text)).", at: clause.start)
        }
        let graph = try clause.located { try past.graph(at: point.point()) }
        moment = (clause.text, graph)
        Terminal.print("The next lines read transaction \(graph.transaction). 'at now' returns to the newest one.")
    }
}
