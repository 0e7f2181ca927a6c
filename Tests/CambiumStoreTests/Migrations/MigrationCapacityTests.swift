import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

@Suite struct MigrationCapacityTests {
    @Test func `links that do not fit into the graph in another form are refused`() throws {
        var tuning = LogTuning()
        tuning.checkpointsInBackground = false
        let volume = MemoryVolume()
        let small = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        try small.write { transaction in
            let relationship = try transaction.schema.required("Item").requiredRelationship("tags")
            let tags = try (0..<80).map { try transaction.insert("Tag", ["name": .string("\($0)")]) }
            for number in 0..<100 {
                let item = try transaction.insert("Item", ["key": .string("\(number)")])
                for tag in tags { try transaction.link(item, relationship, tag) }
            }
        }
        try small.checkpoint()
        try small.close()
        tuning.chunkCountMax = try PageFile.byteCount(volume) / PageLayout.chunkByteCount + 3
        let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(), tuning: tuning)
        let digest = store.graph.digest()
        let definition = SchemaDefinition.notes { $0["Tag"][relationship: "items"].cardinality = .orderedToMany }
        #expect(code { _ = try store.migrate(to: definition) } == .limitExceeded)
        #expect(store.graph.digest() == digest)
    }
}
