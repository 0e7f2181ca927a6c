import Cambium
import CambiumGraph
import CambiumJSON
import CambiumLog
import CambiumModel

/// Runs everything that a program may do with a store: reads, exports, checks, changes, stores and reopens it.
package enum Exercise {
    /// Runs all operations on the store of a volume.
    ///
    /// - Parameter isLazy: whether pages are checked when they are read, as in large graphs. The handler of `Store.onCorruptPages` then
    ///   ends the process if a page is corrupt.
    /// - Throws: the error with which the store is refused, or a `Finding` for a fault.
    @discardableResult
    package static func run(_ volume: any Volume, isLazy: Bool = false) throws -> Outcome {
        var tuning = LogTuning()
        if isLazy { tuning.checkedByteCountMax = 0 }
        let store = try Store.open(volume, durability: nil, environment: SampleStore.environment, tuning: tuning)
        defer { try? store.close() }  // A closed store may be closed again.
        let outcome = Outcome(notes: store.recovery.notes, checkpoint: store.recovery.checkpoint, digest: store.graph.digest())
        try read(store.graph, isLazy: isLazy)
        try change(store)
        try store.checkpoint()
        _ = try store.compact(.all)
        try read(store.graph, isLazy: isLazy)
        let digest = store.graph.digest()
        try store.close()
        let again = try ReadOnlyStore(volume)
        // Unproven pages may show contents that were never stored, if each value is possible by itself.
        guard isLazy || again.graph.digest() == digest else { throw Finding("the store opens with another graph") }
        return outcome
    }

    /// The state of a store when it was opened, before any change.
    package struct Outcome {
        package let notes: [String]
        package let checkpoint: TransactionNumber
        package let digest: GraphDigest
    }

    /// Reads everything that a graph offers.
    ///
    /// - Parameter isLazy: whether the pages are unproven. Invariants are then not checked, because these checks rely on the proof.
    package static func read(_ graph: Graph, isLazy: Bool = false) throws {
        if !isLazy { try Finding.check(graph) }
        _ = graph.digest()
        for entity in graph.schema.entities {
            for id in graph.objects(of: entity) {
                for relationship in entity.relationships { _ = graph.members(relationship, of: id) }
            }
        }
        let objects = ObjectWriter(graph)
        var writer = JSONWriter()
        var failure: (any Error)?
        graph.forEachObject(of: nil) { place in
            objects.write(place, to: &writer)
            do { _ = try JSONValue(parsing: writer.bytes) } catch { failure = error }
            writer.removeAll()
        }
        if let failure { throw Finding("an object is exported as invalid JSON: \(failure)") }
    }

    private static func change(_ store: Store) throws {
        let schema = store.schema
        // A forged schema may lack these entities.
        guard let thing = schema.entity("Thing"), let tag = schema.entity("Tag") else { return }
        let rows = "{\"id\":1,\"title\":\"changed\",\"tags\":[\"tag 0\",\"new\"],\"friends\":[2,3]}"
        _ = try store.importRows(thing, from: [.bytes(Array(rows.utf8))])
        for id in Array(store.graph.objects(of: tag).prefix(6)) { try store.write { try $0.delete(id) } }
        try store.write { transaction in
            for number in 0..<10 { _ = try transaction.insert("Tag", ["name": .string("more \(number)")]) }
        }
        guard let first = store.graph.objects(of: thing).first(where: { store.graph.entity(of: $0) === thing }) else { return }
        try store.write { transaction in
            let step = try transaction.insert("Step", ["text": .string("a")])
            try transaction.link(first, "steps", step, at: 0)
            try transaction.set(first, "tree", to: .json("[1]"))
            _ = try transaction.clone([first], CloneRequest(excluding: ["partner", "friends"], rootValues: ["id": .int(7_000_000)]))
        }
        try store.write { try $0.delete(first) }
    }
}
