import Cambium

extension Demo {
    /// Answers three questions about the graph, and prints the commands that ask the same questions.
    func ask(_ graph: Graph, _ name: String) throws {
        title("Three queries")
        let dependents = try Query("Package", where: "any depends.name == $name", ["name": .value(.string(name))], sort: "name", limit: 5)
        let count = try graph.count(withoutLimit: dependents)
        try list("packages that depend on \(name)", count, dependents, graph, "name")
        var needed = try Query("Package", sort: "-dependents.@count,name")
        needed.limit = 5
        try list("packages, by the number of packages that depend on them", graph.count(of: "Package"), needed, graph, "dependents.@count")
        try sections(graph)
        let store = "'\(store)'"
        print(command: "find \(store) Package --where 'any depends.name == \"\(name)\"' --sort name --limit 5")
        print(command: "find \(store) Package --sort -dependents.@count --select name,dependents.@count --limit 5")
        print(command: "find \(store) Version --sum installedSize --group-by package.section.name --sort -sum.installedSize --limit 3")
    }

    /// Prints the names of the first objects that a query finds, with one value for each object.
    private func list(_ subject: String, _ count: Int, _ query: Query, _ graph: Graph, _ path: String) throws {
        var rows: [[QueryValue]] = []
        let seconds = try timed { rows = try graph.values(of: [Operand(parsing: "name"), Operand(parsing: path)], query) }
        let names = rows.map { row in path == "name" ? text(row[0]) : "\(text(row[0])) (\(text(row[1])))" }
        let rest = count > rows.count ? ", ..." : ""
        detail("\(Self.count(count)) \(subject): \(names.joined(separator: ", "))\(rest), in \(Self.seconds(seconds))")
    }

    private func sections(_ graph: Graph) throws {
        var query = try Query("Version", sort: "-sum.installedSize")
        query.limit = 3
        let bySection = Grouping(
            by: [try Operand(parsing: "package.section.name")], [Aggregate(.sum, of: try Operand(parsing: "installedSize"))])
        var rows: [AggregateRow] = []
        let seconds = try timed { rows = try graph.aggregate(query, bySection) }
        let texts = rows.map { row in "\(text(row.group[0])) \(Self.bytes(Int(text(row.values[0])) ?? 0))" }
        detail("the largest sections: \(texts.joined(separator: ", ")), in \(Self.seconds(seconds))")
    }

    private func text(_ value: QueryValue) -> String {
        guard case .value(let value) = value, !value.isNull else { return "none" }
        return value.text
    }

    private func print(command arguments: String) { detail("  cambium \(arguments)") }
}

extension Graph {
    /// Returns the number of objects that a query would find without its limit.
    fileprivate func count(withoutLimit query: Query) throws -> Int {
        var all = query
        all.limit = nil
        return try count(all)
    }
}
