import Cambium
import CambiumLog
import CambiumTesting
import TestFixtures

/// Random rows about few objects, with relationships of each cardinality. Most rows contradict earlier rows.
struct ContradictoryRows {
    let store: Store
    let options: ImportOptions
    let rows: [String]
    private let volume = MemoryVolume()

    private static let toOnes = ["Owner": ["badge"], "Member": ["holder", "owner", "boss"]]
    private static let toManys = [
        "Owner": ["items", "ranks", "tags", "list", "steps", "alone"], "Member": ["tagged", "listed", "walks"],
    ]

    init(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var options = ImportOptions()
        if random.isTrue(1, outOf: 4) { options.missing = .clear }
        if random.isTrue(1, outOf: 4) { options.toMany = .append }
        self.options = options
        store = try Store.create(volume, schema: Schema(Self.definition), durability: .synced, environment: fixedEnvironment())
        if random.isTrue(1, outOf: 2) { try store.importing("Member", Self.rows(&random).joined(separator: "\n")) }
        rows = Self.rows(&random)
    }

    /// Imports the rows, and returns whether the import changed anything.
    func importRows() throws -> Bool {
        let report = try store.importing("Member", rows.joined(separator: "\n")) { $0 = options }
        return report.transaction != nil || report.logByteCount > 0
    }

    /// Returns the digest of the graph after a replay of the log.
    func replayedDigest() throws -> GraphDigest { try Store.reopened(volume).graph.digest() }

    private static func rows(_ random: inout SplitMix64) -> [String] {
        (0..<Int.random(in: 2...12, using: &random)).map { _ in row(&random) }
    }

    private static func row(_ random: inout SplitMix64) -> String {
        let entity = random.isTrue(1, outOf: 3) ? "Owner" : "Member"
        var members = ["\"_entity\":\"\(entity)\"", "\"id\":\(id(&random))"]
        for name in toOnes[entity] ?? [] where random.isTrue(1, outOf: 2) {
            members.append("\"\(name)\":\(random.isTrue(1, outOf: 5) ? "null" : id(&random))")
        }
        for name in toManys[entity] ?? [] where random.isTrue(1, outOf: 3) {
            let ids = (0..<Int.random(in: 0...3, using: &random)).map { _ in id(&random) }
            members.append("\"\(name)\":[\(ids.joined(separator: ","))]")
        }
        return "{\(members.joined(separator: ","))}"
    }

    private static func id(_ random: inout SplitMix64) -> String { "\(Int.random(in: 1...4, using: &random))" }

    private static let definition = SchemaDefinition {
        EntityDefinition("Owner", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("badge", to: "Member", inverse: "holder")
            RelationshipDefinition("items", to: "Member", .toMany, inverse: "owner")
            RelationshipDefinition("ranks", to: "Member", .orderedToMany, inverse: "boss")
            RelationshipDefinition("tags", to: "Member", .toMany, inverse: "tagged")
            RelationshipDefinition("list", to: "Member", .orderedToMany, inverse: "listed")
            RelationshipDefinition("steps", to: "Member", .orderedToMany, inverse: "walks")
            RelationshipDefinition("alone", to: "Member", .orderedToMany)
        }
        EntityDefinition("Member", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("holder", to: "Owner", inverse: "badge")
            RelationshipDefinition("owner", to: "Owner", inverse: "items")
            RelationshipDefinition("boss", to: "Owner", inverse: "ranks")
            RelationshipDefinition("tagged", to: "Owner", .toMany, inverse: "tags")
            RelationshipDefinition("listed", to: "Owner", .toMany, inverse: "list")
            RelationshipDefinition("walks", to: "Owner", .orderedToMany, inverse: "steps")
        }
    }
}
