import Cambium

/// Inserts objects one by one below a parent with many members and derived attributes, and measures the next opening of the store.
struct Creates {
    private let settings: Settings
    private let memberCount: Int
    private static let createCount = 500
    private var path: String { settings.store("creates") }

    init(_ settings: Settings) {
        self.settings = settings
        memberCount = settings.isSmall ? 30_000 : 300_000
    }

    func run() throws {
        try Tree(path).remove()
        try fill()
        let store = try Store.open(at: path)
        let tracker = try store.graph.find(Query("Tracker"))
        let (seconds, _) = try timed {
            for number in 0..<Self.createCount {
                try store.write { try $0.insert("Issue", ["points": .int(Int64(number))], links: ["tracker": tracker]) }
            }
        }
        settings.emit("C3.one of \(Self.createCount) creates on a large parent, own txn", seconds / Double(Self.createCount) * 1e6, "us")
        try store.close()
        let (opening, again) = try timed { try Store.open(at: path) }
        settings.emit("C6.opening after \(Self.createCount) creates on a large parent", opening * 1e3, "ms")
        try check(again.graph.objectCount, is: 1 + memberCount + Self.createCount, "objects")
        try again.close()
        try Tree(path).remove()
    }

    private func fill() throws {
        let store = try Store.create(at: path, schema: try Schema(Self.definition))
        try store.write { transaction in
            let tracker = try transaction.insert("Tracker")
            for number in 0..<memberCount {
                try transaction.insert("Issue", ["points": .int(Int64(number % 13))], links: ["tracker": [tracker]])
            }
        }
        try store.close()
    }

    private static let definition = SchemaDefinition {
        EntityDefinition("Tracker") {
            AttributeDefinition("issueCount", .int64, derived: .count("issues"))
            AttributeDefinition("points", .int64, derived: .sum("issues.points"))
            AttributeDefinition("most", .int64, .optional, derived: .max("issues.points"))
            RelationshipDefinition("issues", to: "Issue", .orderedToMany, inverse: "tracker", onDelete: .cascade)
        }
        EntityDefinition("Issue") {
            AttributeDefinition("points", .int64)
            RelationshipDefinition("tracker", to: "Tracker", inverse: "issues")
        }
    }
}
