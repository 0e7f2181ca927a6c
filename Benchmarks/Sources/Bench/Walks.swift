import Cambium

/// Measures walks through people that follow one another. A few people have most of the followers.
struct Walks {
    private let settings: Settings

    init(_ settings: Settings) { self.settings = settings }

    private var personCount: Int { settings.isSmall ? 10_000 : 100_000 }
    private var title: String { "C9.walk, \(personCount) people" }

    func run() throws {
        var random = SplitMix(seed: FollowedPeople.seed)
        let lists = FollowedPeople.lists(of: personCount, &random)
        for (variant, isShuffled) in [("", false), ("(links in random order)", true)] {
            let store = try Store.inMemory(schema: Schema(Self.definition))
            let people = try fill(store, lists, isShuffled: isShuffled, &random)
            let graph = store.graph
            let linkCount = lists.reduce(0) { $0 + $1.count }
            try check(graph.linkCount, is: linkCount, "links")
            settings.emit("\(title): links", Double(linkCount), "count", variant: variant)
            let walk = try graph.walk(along: ["follows"])
            try compare(lists, walk, people)
            try hops(walk, people, variant, &random)
            try paths(walk, people, variant, &random)
            try wholeGraph(walk, people, variant)
            try store.close()
        }
    }

    private static var definition: SchemaDefinition {
        SchemaDefinition {
            EntityDefinition("Person") {
                RelationshipDefinition("follows", to: "Person", .toMany, inverse: "followers")
                RelationshipDefinition("followers", to: "Person", .toMany, inverse: "follows")
            }
        }
    }

    private func fill(
        _ store: Store, _ lists: [[Int]], isShuffled: Bool, _ random: inout SplitMix
    ) throws -> [ObjectID] {
        let person = try store.schema.required("Person")
        let follows = try person.requiredRelationship("follows")
        let people = try store.write { transaction in try lists.map { _ in try transaction.insert(person) } }.result
        var links: [(Int, Int)] = []
        for (person, list) in lists.enumerated() { for other in list { links.append((person, other)) } }
        if isShuffled { for index in links.indices { links.swapAt(index, index + random.below(links.count - index)) } }
        for start in stride(from: 0, to: links.count, by: 100_000) {
            try store.write { transaction in
                for (person, other) in links[start..<min(start + 100_000, links.count)] {
                    try transaction.link(people[person], follows, people[other])
                }
            }
        }
        return people
    }

    /// Compares two steps from some people with the generated lists.
    private func compare(_ lists: [[Int]], _ walk: Walk, _ people: [ObjectID]) throws {
        for person in stride(from: 0, to: personCount, by: personCount / 10) {
            let expected = Set(lists[person].flatMap { lists[$0] } + lists[person] + [person])
            let found = try walk.objects(from: [people[person]], within: 2)
            try check(Set(found.map(\.id)) == Set(expected.map { people[$0] }), "two steps reach the right people")
        }
    }

    // MARK: Measuring

    private func hops(_ walk: Walk, _ people: [ObjectID], _ variant: String, _ random: inout SplitMix) throws {
        // The longest walks come first. They follow so many links that the walk collects its links, as it does in a program that asks many
        // questions.
        for (distance, count) in [(3, 200), (2, 2_000), (1, 20_000)] {
            var seconds: [Double] = []
            var (sum, objectCount) = (UInt64(0), 0)
            for start in random.sample(count, of: people) {
                let (duration, found) = try timed { try walk.objects(from: [start], within: distance) }
                seconds.append(duration)
                objectCount += found.count
                for object in found { sum &+= object.id.serial }
            }
            try check(sum > 0, "walks reach people")
            let name = "\(title): \(distance) \(distance == 1 ? "hop" : "hops"), distinct"
            settings.emit("\(name), p50", seconds.sorted()[count / 2] * 1e6, "us", variant: variant)
            if distance == 3 { settings.emit("\(name), slowest", (seconds.max() ?? 0) * 1e3, "ms", variant: variant) }
            settings.emit("\(name), people reached", Double(objectCount) / Double(count), "count", variant: variant)
        }
    }

    private func paths(_ walk: Walk, _ people: [ObjectID], _ variant: String, _ random: inout SplitMix) throws {
        var seconds: [Double] = []
        var (foundCount, stepCount) = (0, 0)
        for _ in 0..<2000 {
            let (start, end) = (people[random.below(people.count)], people[random.below(people.count)])
            let (duration, path) = try timed { try walk.path(from: start, to: end) }
            seconds.append(duration)
            if let path { (foundCount, stepCount) = (foundCount + 1, stepCount + path.count - 1) }
        }
        seconds.sort()
        settings.emit("\(title): shortest path, p50", seconds[seconds.count / 2] * 1e6, "us", variant: variant)
        settings.emit("\(title): shortest path, p99", seconds[seconds.count * 99 / 100] * 1e6, "us", variant: variant)
        settings.emit("\(title): shortest path, steps", Double(stepCount) / Double(max(1, foundCount)), "count", variant: variant)
    }

    private func wholeGraph(_ walk: Walk, _ people: [ObjectID], _ variant: String) throws {
        let (reaching, found) = try timed { try walk.objects(from: [people[0]]) }
        try check(found.count > personCount / 100, "more than a hundredth of the people are reached")
        settings.emit("\(title): all that can be reached", reaching * 1e3, "ms", variant: variant)
        let (joining, components) = try timed { try walk.components() }
        try check(components.sizes.reduce(0, +), is: personCount, "people in components")
        settings.emit("\(title): components", joining * 1e3, "ms", variant: variant)
    }
}
