import Cambium

/// Imports the graph of the Debian archive twice, and follows its dependencies.
struct Debian {
    private let settings: Settings
    private let counts: [String: Int]
    private let names: [String]
    private var input: String { "\(settings.data)/debian.jsonl" }
    private var path: String { settings.store("debian") }

    init(_ settings: Settings) throws {
        self.settings = settings
        names = try File.text("\(settings.data)/names.txt").split(separator: "\n").map(String.init)
        let lines = try File.text("\(settings.data)/debian.counts").split(separator: "\n").map { $0.split(separator: " ") }
        let pairs = try lines.map { line in
            (String(line[0]), try line.last.flatMap { Int($0) }.required("a number in debian.counts"))
        }
        counts = Dictionary(pairs) { $1 }
    }

    func run() throws {
        try Tree(path).remove()
        try File.warm(input)
        let schema = try Schema(Self.definition)
        let (seconds, (store, report)) = try timed {
            let store = try Store.create(at: path, schema: schema)
            return (store, try importRows(into: store))
        }
        let peak = Process.peakMegabytes()
        let total = Double(try count("nodes") + count("edges"))
        try validate(store.graph)
        settings.emit("C1.import debian", total / seconds, "nodes+edges/s")
        settings.emit("C1.import debian |time", seconds * 1e3, "ms")
        settings.emit("C1.import debian |peak RSS", peak, "MB")
        settings.emit("C1.import debian |log", Double(report.logByteCount) / 1e6, "MB")
        let (againSeconds, again) = try timed { try importRows(into: store) }
        try again.checkUnchanged()
        try validate(store.graph)
        settings.emit("C2.reimport unchanged debian", total / againSeconds, "nodes+edges/s")
        try followDependencies(store.graph)
        try store.close()
        settings.emit("C1.import debian |disk", try Tree(path).megabytes(), "MB")
    }

    private func count(_ key: String) throws -> Int { try counts[key].required("\(key) in debian.counts") }

    private func importRows(into store: Store) throws -> ImportReport {
        var options = ImportOptions()
        options.unknown = .error
        return try store.importRows(try store.schema.required("Package"), from: [.file(input)], options)
    }

    private func validate(_ graph: Graph) throws {
        try check(graph.objectCount, is: try count("nodes"), "nodes")
        try check(graph.linkCount, is: try count("edges"), "edges")
    }

    private func followDependencies(_ graph: Graph) throws {
        let package = try graph.schema.required("Package")
        let depends = graph.relation(try package.requiredRelationship("depends"))
        let finder = try graph.finder(package).required("the identity of packages")
        let serialMax = graph.objects(of: package).map(\.serial).max() ?? 0
        /// The number of the query that last reached a package, by serial.
        var seen = [Int](repeating: 0, count: Int(serialMax) + 1)
        var query = 0
        try measureHops("", finder) { origin in
            query += 1
            return Self.reach(origin, depends, graph, &seen, query)
        }
        let walk = try graph.walk(along: ["depends"])
        try measureHops("(by a walk)", finder) { try walk.objects(from: [graph.id(of: $0)], within: 3).count }
    }

    /// - Parameter reach: Returns the number of packages within three hops of a package, including this package.
    @inline(__always) private func measureHops(_ variant: String, _ finder: IdentityFinder, _ reach: (ObjectPlace) throws -> Int) throws {
        var (reachedCount, passCount) = (0, 0)
        let start = now()
        var seconds = 0.0
        repeat {
            for name in names { reachedCount += try reach(try finder.find(name).required("package \(name)")) }
            passCount += 1
            seconds = now() - start
        } while seconds < 0.5
        try check(reachedCount, is: passCount * (try count("reached")), "packages reached")
        settings.emit("C4.3-hop depends (debian)", Double(names.count * passCount) / seconds, "queries/s", variant: variant)
    }

    /// Returns the number of packages within three hops, including the origin.
    private static func reach(
        _ origin: ObjectPlace, _ depends: Relation, _ graph: Graph, _ seen: inout [Int], _ query: Int
    ) -> Int {
        var current = [origin]
        var reachedCount = 1
        seen[Int(graph.id(of: origin).serial)] = query
        for _ in 0..<3 {
            var following: [ObjectPlace] = []
            for place in current {
                depends.forEach(of: place) { target in
                    let serial = Int(graph.id(of: target).serial)
                    if seen[serial] == query { return }
                    seen[serial] = query
                    following.append(target)
                }
            }
            reachedCount += following.count
            swap(&current, &following)
        }
        return reachedCount
    }

    /// The names of the attributes and relationships are the keys in the file. A package stays a stub if another package names it and the
    /// archive does not contain it.
    private static let definition = SchemaDefinition {
        EntityDefinition("Package", identity: ["name"]) {
            AttributeDefinition("name", .string)
            AttributeDefinition("version", .string)
            AttributeDefinition("architecture", .string)
            AttributeDefinition("section", .string)
            AttributeDefinition("priority", .string)
            AttributeDefinition("installedSize", .int64)
            AttributeDefinition("description", .string)
            AttributeDefinition("maintainer", .string)
            RelationshipDefinition("depends", to: "Package", .toMany, inverse: "dependents")
            RelationshipDefinition("dependents", to: "Package", .toMany, inverse: "depends")
            RelationshipDefinition("recommends", to: "Package", .toMany, inverse: "recommendedBy")
            RelationshipDefinition("recommendedBy", to: "Package", .toMany, inverse: "recommends")
            RelationshipDefinition("tags", to: "Tag", .toMany, inverse: "packages")
        }
        EntityDefinition("Tag", identity: ["name"]) {
            AttributeDefinition("name", .string)
            RelationshipDefinition("packages", to: "Package", .toMany, inverse: "tags")
        }
    }
}
