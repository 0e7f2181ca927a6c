import Cambium
import CambiumJSON

/// Prints the results of a query.
struct FindResults {
    let graph: Graph
    let isJSON: Bool

    func print(count: Int) { Terminal.print(isJSON ? "{\"count\":\(count)}" : Readable.count(count)) }

    func print(_ answer: QueryAnswer, including tree: IncludeTree) throws {
        let objects = ObjectWriter(graph)
        var writer = JSONWriter()
        for place in answer.places {
            writer.removeAll()
            objects.write(place, including: tree, to: &writer)
            if isJSON {
                writer.endLine()
                Terminal.write(writer.bytes)
            } else {
                Terminal.print(ObjectText.line(try JSONValue(parsing: writer.bytes)))
            }
        }
    }

    /// The maximum length of a program argument in Linux (`MAX_ARG_STRLEN`), without the zero byte at its end.
    private static let argumentByteCountMax = 131_071

    /// Returns the text of the cursor at the end of an answer; `nil` for an empty answer. Throws `.limitExceeded` if no command line can
    /// contain the text.
    func cursor(of answer: QueryAnswer) throws(CambiumError) -> String? {
        guard let text = answer.cursor?.description, let last = answer.ids.last else { return nil }
        guard text.utf8.count > Self.argumentByteCountMax else { return text }
        throw CambiumError(
            .limitExceeded,
            "The cursor contains the long sort key of \(graph.text(of: last)), so it has \(Readable.of(text.utf8.count, "byte")). An "
                + "argument has at most \(Readable.count(Self.argumentByteCountMax)). Omit --cursor, and add --after "
                + "\(graph.text(of: last)) for the next page.")
    }

    /// Prints the cursor of the last object in an answer. The next page continues after this cursor.
    func print(cursor: String?) {
        if isJSON {
            print(json: .object([JSONValue.Member("_cursor", cursor.map { .string($0) } ?? .null)]))
        } else {
            Terminal.print("cursor  \(cursor ?? "none")")
        }
    }

    /// Prints selected values.
    ///
    /// - Parameter ids: The object of each row; empty if duplicate rows were removed.
    func print(_ rows: [[QueryValue]], _ ids: [ObjectID], _ operands: [Operand]) {
        let titles = operands.titles
        for (index, row) in rows.enumerated() {
            var members = zip(titles, row).map { JSONValue.Member($0, json($1)) }
            if index < ids.count { members.insert(JSONValue.Member("_id", .string(graph.text(of: ids[index]))), at: 0) }
            printRow(Self.unique(members))
        }
    }

    /// Returns the members without repeated keys. A key is repeated if a path was selected twice, for example.
    private static func unique(_ members: [JSONValue.Member]) -> [JSONValue.Member] {
        var keys: Set<String> = []
        return members.filter { keys.insert($0.key).inserted }
    }

    func print(_ rows: [AggregateRow], _ grouping: Grouping) {
        let keyTitles = grouping.keys.titles
        let titles = Dictionary(grouping: grouping.aggregates, by: \.function).mapValues { $0.compactMap(\.operand).titles }
        for row in rows {
            var members: [JSONValue.Member] = []
            if !grouping.keys.isEmpty {
                let keys = zip(keyTitles, row.group).map { JSONValue.Member($0, json($1)) }
                members.append(JSONValue.Member("group", .object(Self.unique(keys))))
            }
            for function in AggregateFunction.allCases {
                let results = zip(grouping.aggregates, row.values).filter { $0.0.function == function }
                if results.isEmpty { continue }
                let given = results.filter { $0.0.operand != nil }
                let named = zip(titles[function] ?? [], given).map { JSONValue.Member($0, json($1.1)) }
                members.append(JSONValue.Member(function.rawValue, named.isEmpty ? json(results[0].1) : .object(Self.unique(named))))
            }
            printRow(members)
        }
    }

    func print(_ plan: QueryPlan) {
        if isJSON { return print(json: plan.json) }
        for step in plan.steps {
            let noun = step.kind == .sort || step.kind == .limit ? "row" : "object"  // These steps may count groups.
            let estimate = step.estimatedCount.map { ", \(Readable.count($0)) expected" } ?? ""
            Terminal.print(
                "\(step.kind.rawValue.padded(to: 8))  \(step.name.map { "\($0): " } ?? "")\(Readable.of(step.objectCount, noun))"
                    + "\(estimate), \(Readable.count(step.readCount)) read")
        }
        Terminal.print(Readable.seconds(plan.duration))
    }

    private func print(json value: JSONValue) { Terminal.printJSON { $0.write(value) } }

    private func printRow(_ members: [JSONValue.Member]) {
        if isJSON { return print(json: .object(members)) }
        let texts = members.flatMap { member -> [String] in
            guard case .object(let parts) = member.value else { return ["\(member.key): \(ObjectText.text(member.value))"] }
            return parts.map { part in
                member.key == "group"
                    ? "\(part.key): \(ObjectText.text(part.value))" : "\(member.key).\(part.key): \(ObjectText.text(part.value))"
            }
        }
        Terminal.print(texts.joined(separator: "  "))
    }

    private func json(_ value: QueryValue) -> JSONValue {
        switch value {
        case .object(let id): return .string(graph.text(of: id))
        case .list(let values): return .array(values.map(json))
        // A sum may be infinite. JSON has no number for infinity, so the sum is written as a string.
        case .value(.double(let number)) where !number.isFinite: return .string(number.description)
        case .value(let value):
            var writer = JSONWriter()
            value.write(to: &writer)
            return (try? JSONValue(parsing: writer.bytes)) ?? .null  // A value is written as valid JSON.
        }
    }
}

extension Operand {
    /// The path or the aggregate as a key in a row of the results. Unlike in a condition, no name has a `#` before it.
    var title: String { description.replacing("#", with: "") }
}

extension [Operand] {
    /// The titles of the operands. If two different operands have the same title, such as `self` and `#self`, a `#` distinguishes them.
    var titles: [String] {
        map { operand in contains { $0.title == operand.title && $0 != operand } ? operand.description : operand.title }
    }
}

extension QueryPlan {
    /// The plan as one JSON object, for programs.
    fileprivate var json: JSONValue {
        let rows = steps.map { step in
            var members = [JSONValue.Member("step", .string(step.kind.rawValue))]
            if let name = step.name { members.append(JSONValue.Member(step.kind == .index ? "index" : "name", .string(name))) }
            if let estimate = step.estimatedCount { members.append(JSONValue.Member("estimated", .number(String(estimate)))) }
            members.append(JSONValue.Member("rows", .number(String(step.objectCount))))
            members.append(JSONValue.Member("read", .number(String(step.readCount))))
            return JSONValue.object(members)
        }
        let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
        return .object([JSONValue.Member("plan", .array(rows)), JSONValue.Member("microseconds", .number(String(microseconds)))])
    }
}
