import Cambium
import CambiumLog
import CambiumTesting
import TestFixtures

/// Random imports into a store with a hub: an object that has nearly all others as members, by relationships of each kind.
struct HubRun {
    let store: Store
    private let volume = MemoryVolume()
    private var random: SplitMix64
    private var memberCount = 200

    /// The relationships of a member.
    static let relationships = ["child", "step", "tagged", "listed", "ranked", "topics"]
    /// The relationships of a hub.
    private static let memberships = ["children", "steps", "tags", "list", "ranks"]

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        store = try Store.create(volume, schema: Schema(Self.definition), durability: .synced, environment: fixedEnvironment())
        let rows = (0..<memberCount).map { number in
            let links = Self.relationships.map { "\"\($0)\":\(Self.value($0, hub: 0))" }
            return "{\"id\":\(number),\(links.joined(separator: ","))}"
        }
        try store.importing("Member", rows.joined(separator: "\n"))
        try store.importing("Hub", #"{"id":1,"peers":[0]}"#)
        try store.importing("Topic", #"{"id":1,"peers":[1]}"#)
    }

    /// Returns a reference to a hub, in the form that a relationship of a member has.
    static func value(_ name: String, hub: Int) -> String { name == "child" || name == "step" ? "\(hub)" : "[\(hub)]" }

    /// Returns the entity of the hubs to which a relationship of a member leads.
    static func hubEntity(_ name: String) -> String { name == "topics" ? "Topic" : "Hub" }

    /// Returns the digest of the graph after a replay of the log.
    func replayedDigest() throws -> GraphDigest { try Store.reopened(volume).graph.digest() }

    mutating func run() throws {
        for number in 1...12 {
            let before = try objects()
            let isOfMembers = random.isTrue(3, outOf: 5)
            let toMany = random.isTrue(1, outOf: 3) ? ImportOptions.ToMany.replace : .append
            let rows = (0..<Int.random(in: 1...4, using: &random)).map { _ in isOfMembers ? memberRow() : hubRow(toMany) }
            let report = try store.importing(isOfMembers ? "Member" : "Hub", rows.joined(separator: "\n")) { $0.toMany = toMany }
            let after = try objects()
            let changedCount = before.count { after[$0.key] != $0.value }
            let updatedCount = report.entities.values.reduce(0) { $0 + $1.updated }
            if updatedCount != changedCount {
                throw Finding("import \(number) changed \(changedCount) objects and reported \(updatedCount): \(rows)")
            }
            if try replayedDigest() != store.graph.digest() { throw Finding("a replay of import \(number) has another digest: \(rows)") }
        }
    }

    private func objects() throws -> [Substring: Substring] {
        var objects: [Substring: Substring] = [:]
        for line in store.graph.export.split(separator: "\n") { objects[line.prefix { $0 != "," }] = line }
        return objects
    }

    // MARK: Rows

    /// Returns a new or existing member, in one of the hubs or in no hub.
    private mutating func memberRow() -> String {
        if random.isTrue(1, outOf: 2) { memberCount += 1 }
        let id = random.isTrue(1, outOf: 2) ? memberCount - 1 : Int.random(in: 0..<memberCount, using: &random)
        let links = Self.relationships.filter { _ in random.isTrue(1, outOf: 3) }.map { name in
            let isNone = random.isTrue(1, outOf: 6)
            return "\"\(name)\":\(isNone ? "null" : Self.value(name, hub: Int.random(in: 0...2, using: &random)))"
        }
        return "{\(["\"id\":\(id)", links.joined(separator: ",")].filter { !$0.isEmpty }.joined(separator: ","))}"
    }

    /// Returns a hub with a few more members, or with nearly the same members in nearly the same order.
    private mutating func hubRow(_ toMany: ImportOptions.ToMany) -> String {
        let hub = Int.random(in: 0...1, using: &random)
        let names = Self.memberships.filter { _ in random.isTrue(1, outOf: 3) }
        let links = names.map { name in
            var members = (0..<Int.random(in: 0...4, using: &random)).map { _ in Int.random(in: 0...memberCount, using: &random) }
            if toMany == .replace, random.isTrue(3, outOf: 4) { members = changed(current(name, hub)) }
            return "\"\(name)\":[\(members.map(String.init).joined(separator: ","))]"
        }
        let peers = random.isTrue(1, outOf: 4) ? ["\"peers\":[0,\(Int.random(in: 0...2, using: &random))]"] : []
        return "{\((["\"id\":\(hub)"] + links + peers).joined(separator: ","))}"
    }

    /// Returns the ids of a hub's current members.
    private func current(_ name: String, _ hub: Int) -> [Int] {
        let graph = store.graph
        guard let entity = graph.schema.entity("Hub"), let relationship = entity.relationship(name),
            let id = graph.place(entity, identity: .int(Int64(hub))).map(graph.id(of:)),
            let attribute = graph.schema.entity("Member")?.attribute("id")
        else { return [] }
        return (graph.members(relationship, of: id) ?? []).compactMap { member in
            if case .int(let number)? = graph.value(of: attribute, of: member) { Int(number) } else { nil }
        }
    }

    private mutating func changed(_ members: [Int]) -> [Int] {
        var members = members
        for _ in 0..<Int.random(in: 0...3, using: &random) where !members.isEmpty {
            let member = members.remove(at: Int.random(in: members.indices, using: &random))
            if random.isTrue(2, outOf: 3) { members.insert(member, at: Int.random(in: 0...members.count, using: &random)) }
        }
        return members
    }

    private static let definition = SchemaDefinition {
        EntityDefinition("Hub", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("children", to: "Member", .toMany, inverse: "child")
            RelationshipDefinition("steps", to: "Member", .orderedToMany, inverse: "step")
            RelationshipDefinition("tags", to: "Member", .toMany, inverse: "tagged")
            RelationshipDefinition("list", to: "Member", .orderedToMany, inverse: "listed")
            RelationshipDefinition("ranks", to: "Member", .orderedToMany, inverse: "ranked")
            RelationshipDefinition("peers", to: "Hub", .toMany, inverse: "peers")
        }
        EntityDefinition("Member", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("child", to: "Hub", inverse: "children")
            RelationshipDefinition("step", to: "Hub", inverse: "steps")
            RelationshipDefinition("tagged", to: "Hub", .toMany, inverse: "tags")
            RelationshipDefinition("listed", to: "Hub", .toMany, inverse: "list")
            RelationshipDefinition("ranked", to: "Hub", .orderedToMany, inverse: "ranks")
            RelationshipDefinition("topics", to: "Topic", .toMany, inverse: "members")
        }
        EntityDefinition("Topic", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("members", to: "Member", .toMany, inverse: "topics")
            RelationshipDefinition("peers", to: "Topic", .toMany, inverse: "peers")
        }
    }
}
