import Cambium
import Glibc

/// Measures queries about people that follow one another, and about the rows of the generated data.
///
/// Writes the people as CSV into the directory of the data, where harness/bench_queries.py asks other programs the same questions.
struct Queries {
    private let settings: Settings
    private static let seed: UInt64 = 22
    private static let cityCount = 100

    init(_ settings: Settings) { self.settings = settings }

    private var personCount: Int { settings.isSmall ? 10_000 : 100_000 }
    private var title: String { "C9.query, \(personCount) people" }

    private struct Person {
        let age: Int
        let city: String
        let score: Double
    }

    func run() throws {
        var random = SplitMix(seed: FollowedPeople.seed)
        let lists = FollowedPeople.lists(of: personCount, &random)
        let people = self.people()
        if !settings.isSmall { try write(people, lists) }
        let store = try Store.inMemory(schema: Schema(Self.definition))
        try fill(store, people, lists)
        let graph = store.graph
        try attributes(graph, people)
        try sorted(graph, people, lists)
        try paths(graph, people, lists)
        try store.close()
        try scan()
    }

    // MARK: Data

    private func people() -> [Person] {
        var random = SplitMix(seed: Self.seed)
        return (0..<personCount).map { _ in
            let age = 18 + random.below(70)
            // About half of the people get one of the first tenth of the cities, and the others get any city.
            let city = random.below(2) == 0 ? random.below(Self.cityCount / 10) : random.below(Self.cityCount)
            return Person(age: age, city: "city \(city)", score: Double(random.next() >> 11) / Double(1 << 53))
        }
    }

    private func write(_ people: [Person], _ lists: [[Int]]) throws {
        var text = "id,age,city,name,score\n"
        for (index, person) in people.enumerated() { text += "\(index),\(person.age),\(person.city),person \(index),\(person.score)\n" }
        try write(text, to: "people.csv")
        text = "source,target\n"
        for (index, list) in lists.enumerated() { for other in list { text += "\(index),\(other)\n" } }
        try write(text, to: "follows.csv")
    }

    private func write(_ text: String, to name: String) throws {
        let path = "\(settings.data)/\(name)"
        guard let file = fopen(path, "w") else { throw Failure("cannot write \(path): \(String(cString: strerror(errno)))") }
        let isWritten = fputs(text, file) >= 0
        guard fclose(file) == 0, isWritten else { throw Failure("cannot write \(path)") }
    }

    private static var definition: SchemaDefinition {
        SchemaDefinition {
            EntityDefinition("Person", indexes: [["score"]]) {
                AttributeDefinition("age", .int32)
                AttributeDefinition("city", .string)
                AttributeDefinition("name", .string)
                AttributeDefinition("score", .double)
                RelationshipDefinition("follows", to: "Person", .toMany, inverse: "followers")
                RelationshipDefinition("followers", to: "Person", .toMany, inverse: "follows")
            }
        }
    }

    private func fill(_ store: Store, _ people: [Person], _ lists: [[Int]]) throws {
        let person = try store.schema.required("Person")
        let follows = try person.requiredRelationship("follows")
        let ids = try store.write { transaction in
            try people.enumerated().map { index, each in
                let name = Value.string("person \(index)")
                return try transaction.insert(
                    "Person", ["age": .int(Int64(each.age)), "city": .string(each.city), "name": name, "score": .double(each.score)])
            }
        }.result
        let blockCount = 5000
        for start in stride(from: 0, to: lists.count, by: blockCount) {
            try store.write { transaction in
                for index in start..<min(start + blockCount, lists.count) {
                    for other in lists[index] { try transaction.link(ids[index], follows, ids[other]) }
                }
            }
        }
    }

    // MARK: Measuring

    /// Emits the median duration of some runs in milliseconds. Each run has a number, by which it may differ from the others.
    private func measure(_ name: String, runCount: Int, _ body: (Int) throws -> Void) throws {
        var seconds: [Double] = []
        for run in 0..<runCount { seconds.append(try timed { try body(run) }.seconds) }
        settings.emit("\(title): \(name), p50", seconds.sorted()[runCount / 2] * 1e3, "ms")
    }

    private func attributes(_ graph: Graph, _ people: [Person]) throws {
        try measure("filter and count", runCount: 200) { run in
            let city = "city \(run % Self.cityCount)"
            let count = try graph.count(Query("Person", where: "age > 50 and city == $city", ["city": Operand(stringLiteral: city)]))
            if run < 3 { try check(count, is: people.count { $0.age > 50 && $0.city == city }, "people who are counted") }
        }
        let scores = Grouping(by: [try Operand(parsing: "city")], [Aggregate(.avg, of: try Operand(parsing: "score"))])
        try measure("mean by group", runCount: 100) { _ in
            try check(graph.aggregate(Query("Person"), scores).count, is: Self.cityCount, "groups")
        }
    }

    private func sorted(_ graph: Graph, _ people: [Person], _ lists: [[Int]]) throws {
        var inDegrees = [Int](repeating: 0, count: people.count)
        for list in lists { for other in list { inDegrees[other] += 1 } }
        let most = inDegrees.indices.sorted { (-inDegrees[$0], $0) < (-inDegrees[$1], $1) }[..<3].map { UInt64($0 + 1) }
        try measure("3 people with most followers", runCount: 50) { _ in
            let found = try graph.find(Query("Person", sort: "-followers.@count", limit: 3))
            try check(found.map(\.serial) == most, "the people with most followers")
        }
        var query = try Query("Person", where: "score between {$low, $high}", [:], sort: "score", limit: 20)
        try measure("first 20 of a range of 1% by index", runCount: 1000) { run in
            let low = Double(run % 99) / 100
            query.arguments = ["low": Operand(floatLiteral: low), "high": Operand(floatLiteral: low + 0.01)]
            try check(graph.find(query).count, is: 20, "people in a range")
        }
    }

    private func paths(_ graph: Graph, _ people: [Person], _ lists: [[Int]]) throws {
        let follows = ["follows", "follows"]
        let all = lists.reduce(0) { $0 + $1.reduce(0) { $0 + lists[$1].count } }
        try measure("all paths of 2 hops", runCount: 30) { _ in
            try check(graph.pathCount(from: Query("Person"), along: follows) == .int(Int64(all)), "paths")
        }
        let ends = lists.map { list in list.count { people[$0].age > 25 } }
        let some = zip(people, lists).reduce(0) { sum, each in each.0.age < 50 ? sum + each.1.reduce(0) { $0 + ends[$1] } : sum }
        try measure("paths of 2 hops, filtered at both ends", runCount: 30) { _ in
            let count = try graph.pathCount(from: Query("Person", where: "age < 50"), along: follows, to: "age > 25")
            try check(count == .int(Int64(some)), "paths with conditions")
        }
    }

    /// Counts rows of the generated data, if its store exists.
    private func scan() throws {
        let path = settings.store("synth\(settings.synth.rawValue)")
        guard access(path, F_OK) == 0 else { return }
        let graph = try ReadOnlyStore(at: path).graph
        let query = try Query("row", where: "value < 200 and count >= 500")
        var seconds: [Double] = []
        for _ in 0..<50 {
            let (duration, count) = try timed { try graph.count(query) }
            try check(count, is: settings.synth.scanHitCount, "rows that match")
            seconds.append(duration)
        }
        settings.emit("C4.scan with predicate", Double(settings.synth.rowCount) / seconds.sorted()[25], "objects/s", variant: "(query)")
    }
}
