import Cambium

/// The examples of the docstrings about queries, word for word. The code is compiled only.
enum DocstringQuerySnippets {
    static func query(_ graph: Graph) throws {
        var query = try Query("Person", where: "age > $age and any tags.name == \"red\"", ["age": 30], sort: "-age,name")
        query.limit = 20
        for id in try graph.find(query) { print(graph.name(of: id) ?? "") }
    }

    static func nextPage(_ store: Store, _ graph: Graph) throws -> [ObjectID] {
        var page = try Query("Note", sort: "title", limit: 20)
        page.cursor = try graph.answer(page).cursor
        let next = try store.graph.find(page)
        return next
    }

    static func answer(_ graph: Graph) throws {
        let answer = try graph.answer(Query("Note", sort: "title", limit: 20))
        print(answer.ids.count, answer.plan.steps.map(\.kind), answer.cursor?.description ?? "")
    }

    static func adults(_ graph: Graph) throws -> [ObjectID] {
        let adults = try graph.find(Query("Person", where: "age >= 18", sort: "name", limit: 20))
        return adults
    }

    static func stored(_ graph: Graph, _ team: ObjectID) throws -> ([ObjectID], Query) {
        let expensive = try graph.find(graph.query("Item", named: "expensive", ["min": 3]))
        let rivals = try graph.query("Team", named: "rivals", ["source": .object(team)])
        return (expensive, rivals)
    }

    static func paths(_ graph: Graph) throws -> Value {
        let follows = ["follows", "follows"]
        let paths = try graph.pathCount(from: Query("Person", where: "age < 30"), along: follows, to: "city == \"Paris\"")
        return paths
    }

    static func plan(_ graph: Graph) throws {
        let plan = try graph.answer(Query("Person", where: "age > 30 and city.name == \"Paris\"")).plan
        for step in plan.steps { print(step.kind, step.readCount, step.objectCount) }
    }

    static func values(_ graph: Graph) throws {
        for row in try graph.values(of: [Operand(parsing: "title"), Operand(parsing: "items.name")], Query("Note")) {
            if case .list(let names) = row[1] { print(row[0], names.count) }
        }
    }

    static func cities(_ graph: Graph) throws -> [[QueryValue]] {
        let cities = try graph.values(of: [Operand(parsing: "city.name")], Query("Person"), repeated: .remove)
        return cities
    }

    static func rows(_ graph: Graph, _ query: Query) throws -> [[QueryValue]] {
        let rows = try graph.values(of: [Operand(parsing: "name"), Operand(parsing: "city.name")], query)
        return rows
    }

    static func average() throws -> Aggregate {
        let average = Aggregate(.avg, of: try Operand(parsing: "price"))
        return average
    }

    static func groups(_ graph: Graph) throws {
        let byCity = Grouping(by: [try Operand(parsing: "city.name")], [.count])
        for row in try graph.aggregate(Query("Person"), byCity) { print(row.group, row.values) }
    }

    static func groupsWithCondition(_ graph: Graph) throws {
        let sum = Aggregate(.sum, of: try Operand(parsing: "price"))
        let byShelf = Grouping(by: [try Operand(parsing: "shelf.code")], [.count, sum], having: try Condition(parsing: "count > 2"))
        for row in try graph.aggregate(Query("Product"), byShelf) { print(row.group, row.values) }
    }

    static func functions(_ graph: Graph) throws {
        let age = try Operand(parsing: "age")
        let functions: [AggregateFunction] = [.min, .avg, .max]
        let rows = try graph.aggregate(Query("Person"), Grouping(functions.map { Aggregate($0, of: age) }))
        print(rows.first?.values ?? [])
    }

    // MARK: Conditions

    static func condition() throws -> Condition {
        let condition = try Condition(parsing: "age > 30 and any tags.name == \"red\"")
        return condition
    }

    static func operand(_ graph: Graph) throws {
        let path = try Operand(parsing: "city.name")
        let query = try Query("Person", where: "age between $ages", ["ages": [18, 30]])
        for row in try graph.values(of: [path], query) { print(row[0]) }
    }

    static func sortKeys(_ graph: Graph) throws -> [ObjectID] {
        var query = try Query("Person", where: "age > 30")
        query.sort = [try SortKey(parsing: "-age"), try SortKey(parsing: "name[c]")]
        let people = try graph.find(query)
        return people
    }
}
