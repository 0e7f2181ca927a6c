import Cambium

/// Imports single rows, each linked to an object with many links or with few.
struct Hubs {
    private let settings: Settings
    /// The number of members of the large hub before the first row is imported.
    private let largeCount: Int
    private static let smallCount = 10
    /// The number of rows that are imported one by one for each relationship and each size of hub.
    private static let rowCount = 200
    private var path: String { settings.store("hubs") }

    init(_ settings: Settings) {
        self.settings = settings
        largeCount = settings.isSmall ? 100_000 : 1_000_000
    }

    /// A relationship that links a member to a hub.
    private enum Kind: String, CaseIterable {
        case child, step, tagged, listed, topic

        var title: String {
            switch self {
            case .child: "one-to-many"
            case .step: "ordered one-to-many"
            case .tagged: "many-to-many"
            case .listed: "ordered many-to-many"
            case .topic: "many-to-many, hub at the second end"
            }
        }

        var isToMany: Bool { self == .tagged || self == .listed || self == .topic }

        func row(_ member: Int, hub: Int) -> String {
            "{\"id\":\(member),\"\(rawValue)\":\(isToMany ? "[\(hub)]" : "\(hub)")}\n"
        }
    }

    func run() throws {
        try Tree(path).remove()
        let schema = try Schema(Self.definition)
        let store = try Store.create(at: path, schema: schema, durability: .buffered(every: .seconds(1)))
        let member = try store.schema.required("Member")
        try fill(store, member)
        try store.checkpoint()
        var next = largeCount + Self.rowCount * Self.smallCount
        for kind in Kind.allCases { try measure(kind, store, member, &next) }
        try store.close()
        for kind in Kind.allCases {
            for isLarge in [false, true] {
                let seconds = try replay(kind, isLarge: isLarge, &next)
                let size = isLarge ? largeCount : Self.smallCount
                settings.emit("C6.replay of \(Self.rowCount) rows into hubs, \(kind.title), of \(size)", seconds * 1e3, "ms")
            }
        }
        try Tree(path).remove()
    }

    /// Fills the hubs: hub 0 gets `largeCount` members. Each other hub gets ten members, and later one row.
    private func fill(_ store: Store, _ member: Entity) throws {
        var rows: [UInt8] = []
        for number in 0..<largeCount + Self.rowCount * Self.smallCount {
            let hub = number < largeCount ? 0 : 1 + (number - largeCount) / Self.smallCount
            let links = Kind.allCases.map { "\"\($0.rawValue)\":\($0.isToMany ? "[\(hub)]" : "\(hub)")" }
            rows.append(contentsOf: "{\"id\":\(number),\(links.joined(separator: ","))}\n".utf8)
        }
        let (seconds, report) = try timed { try store.importRows(member, from: [.bytes(rows)]) }
        try check(report.rowCount, is: largeCount + Self.rowCount * Self.smallCount, "rows")
        settings.emit("C1.import into a hub of \(largeCount)", Double(report.rowCount) / seconds, "rows/s")
    }

    private func measure(_ kind: Kind, _ store: Store, _ member: Entity, _ next: inout Int) throws {
        var times: [[Double]] = [[], []]
        for round in 0..<Self.rowCount {
            for isLarge in [false, true] {
                let row = kind.row(next, hub: isLarge ? 0 : 1 + round)
                let (seconds, report) = try timed { try store.importRows(member, from: [.bytes(Array(row.utf8))]) }
                try check(report.counts.inserted, is: 1, "inserted members")
                times[isLarge ? 1 : 0].append(seconds)
                next += 1
            }
        }
        let (small, large) = (Self.median(times[0]), Self.median(times[1]))
        let workload = "C1.import of one row into a hub, \(kind.title)"
        settings.emit("\(workload), of \(Self.smallCount)", small * 1e6, "us")
        settings.emit("\(workload), of \(largeCount)", large * 1e6, "us")
        settings.emit("\(workload), large over small", large / small, "x")
    }

    /// Imports rows one by one after a checkpoint, and measures the opening of the store, which replays them.
    private func replay(_ kind: Kind, isLarge: Bool, _ next: inout Int) throws -> Double {
        let store = try opened()
        try store.checkpoint()
        let member = try store.schema.required("Member")
        for round in 0..<Self.rowCount {
            _ = try store.importRows(member, from: [.bytes(Array(kind.row(next, hub: isLarge ? 0 : 1 + round).utf8))])
            next += 1
        }
        try store.close()
        let (seconds, reopened) = try timed { try opened() }
        try check(reopened.recovery.transactionCount, is: Self.rowCount, "replayed transactions")
        try reopened.close()
        return seconds
    }

    private func opened() throws -> Store { try Store.open(at: path, durability: .buffered(every: .seconds(1))) }

    private static func median(_ times: [Double]) -> Double { times.sorted()[times.count / 2] }

    private static let definition = SchemaDefinition {
        EntityDefinition("Hub", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("children", to: "Member", .toMany, inverse: "child")
            RelationshipDefinition("steps", to: "Member", .orderedToMany, inverse: "step")
            RelationshipDefinition("tags", to: "Member", .toMany, inverse: "tagged")
            RelationshipDefinition("list", to: "Member", .orderedToMany, inverse: "listed")
        }
        EntityDefinition("Member", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("child", to: "Hub", inverse: "children")
            RelationshipDefinition("step", to: "Hub", inverse: "steps")
            RelationshipDefinition("tagged", to: "Hub", .toMany, inverse: "tags")
            RelationshipDefinition("listed", to: "Hub", .toMany, inverse: "list")
            RelationshipDefinition("topic", to: "Topic", .toMany, inverse: "members")
        }
        EntityDefinition("Topic", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("members", to: "Member", .toMany, inverse: "topic")
        }
    }
}
