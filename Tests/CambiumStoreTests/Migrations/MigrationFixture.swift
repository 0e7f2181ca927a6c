import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog

/// A store with notes, items, memos and tags, whose migrations are checked against its log.
struct MigratedNotes {
    let volume: MemoryVolume
    let store: Store

    init(durability: Durability = .synced) throws {
        volume = MemoryVolume()
        store = try Store.notes(volume, durability: durability)
        try store.importing(
            "Note",
            #"""
            {"id":1,"title":"Paris","rating":4.5,"items":[{"key":"a","count":1,"tags":["red","blue"]},{"key":"b","tags":["red"]}],
             "memos":[{"text":"x"},{"text":"y"},{"text":"z"}],"related":[2]}
            {"id":2,"title":"12","items":[{"key":"c","count":3}]}
            {"id":3,"title":"12"}
            """#)
    }

    /// Migrates the store. Expects that the invariants hold and that a verification of the log finds the same digest.
    @discardableResult
    func migrate(
        _ change: (inout SchemaDefinition) -> Void, program: ((Graph, inout WriteTransaction) throws -> Void)? = nil
    ) throws -> MigrationReport {
        var definition = store.schema.definition
        change(&definition)
        let report =
            if let program { try store.migrate(to: definition, Author(), program) } else { try store.migrate(to: definition) }
        try check()
        return report
    }

    func check() throws {
        #expect(store.graph.invariantFindings() == [])
        let verification = try Verification(volume)
        #expect(verification.findings == [] && verification.digest == store.graph.digest())
    }

    /// Returns the values of an attribute, by ascending id.
    func values(_ entity: String, _ attribute: String) throws -> [Value] {
        let graph = store.graph
        let entity = try graph.schema.required(entity)
        let column = graph.column(try entity.requiredAttribute(attribute))
        return graph.objects(of: entity).compactMap { graph.place(of: $0).map(column.value(at:)) }
    }

    /// Returns the serials of the targets of a relationship, by ascending id of the owner.
    func members(_ entity: String, _ relationship: String) throws -> [[UInt64]] {
        let graph = store.graph
        let entity = try graph.schema.required(entity)
        let relationship = try entity.requiredRelationship(relationship)
        return graph.objects(of: entity).map { id in (graph.members(relationship, of: id) ?? []).map(\.serial) }
    }

    func refusal(_ change: (inout SchemaDefinition) -> Void) throws -> CambiumError? {
        let before = (store.graph.transaction, store.graph.digest())
        do {
            try migrate(change)
            return nil
        } catch let error as CambiumError {
            #expect((store.graph.transaction, store.graph.digest()) == before)
            try check()
            return error
        }
    }
}
