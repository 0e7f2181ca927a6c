import Cambium
import CambiumGraph
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog

/// A closed store with several segments and checkpoints, with every feature, and with the expected state of each of its moments.
struct CorruptStore {
    var files: [String: [UInt8]]
    /// The exports of the graph after each transaction, beginning with the first.
    let exports: [String]
    let envelopes: [String]
    let graph: Graph
    let root: String

    /// Makes the store. Some transactions have a file for their ops, and all transactions of a round lie between two checkpoints.
    init(roundCount: Int = 5, widensAt wideningRound: Int? = nil) throws {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: Archiving.tuning)
        var exports = [store.graph.export]
        for round in 0..<roundCount {
            if round == wideningRound { exports.append(try Self.widen(store)) }
            for step in Self.steps(round) {
                try step(store)
                exports.append(store.graph.export)
            }
            try store.checkpoint()
        }
        graph = store.graph
        try store.close()
        (files, self.exports, envelopes) = (volume.contents, exports, try Self.envelopes(volume))
        root = try Verification(volume).root
        try #require(exports.count == envelopes.count)
    }

    private static func widen(_ store: Store) throws -> String {
        var definition = Notes.definition
        definition.entities[0].attributes.append(AttributeDefinition("added", .int32, .optional))
        _ = try store.migrate(to: definition)
        return store.graph.export
    }

    /// Returns the steps of one round: objects of all kinds, links, a clone, deletions, a label, a request and a long value.
    private static func steps(_ round: Int) -> [(Store) throws -> Void] {
        let base = Int64(round * 10)
        return [
            { store in
                try store.importing(
                    "Note",
                    """
                    {"id":\(base),"title":"first","items":[{"key":"a\(round)","tags":["red","t\(round)"]}],\
                    "memos":[{"text":"x"},{"text":"y"}]}
                    {"id":\(base + 1),"title":"\(String(repeating: "long ", count: 200))","related":[\(base)],"created":null}
                    """)
            },
            { store in
                try store.write(Author(actor: "jane", message: "round \(round)", requestID: "request \(round)")) {
                    let note = $0.find(try $0.schema.required("Note"), identity: [.int(base)])
                    _ = try $0.clone(try #require(note), CloneRequest(excluding: ["items"], rootValues: ["id": .int(base + 2)]))
                }
            },
            { store in try store.label("round \(round)") },
            { store in
                try store.write { transaction in
                    let note = transaction.find(try transaction.schema.required("Note"), identity: [.int(base + 1)])
                    let last = try transaction.insert("Tag", ["name": .string("last \(round)")])
                    try transaction.delete(try #require(note), last)
                }
            },
        ]
    }

    private static func envelopes(_ volume: any Volume) throws -> [String] {
        var found: [String] = []
        try TransactionLog(volume).forEach { found.append("\($0.number) \($0.metadata)") }
        return found
    }

    var segments: [String] { files.keys.filter { $0.hasPrefix("log/") && $0.hasSuffix(".log") }.sorted() }

    /// Repairs the store with its current files, and expects that the new store is sound and correct.
    ///
    /// - Returns: The repair and the new store, or `nil` if nothing could be saved.
    func repaired() throws -> (repair: Repair, store: Store)? {
        let (old, target) = (MemoryVolume(contents: files), MemoryVolume())
        let repair: Repair
        do {
            repair = try Repair(old, to: target, environment: fixedEnvironment(seed: 5))
        } catch let error as CambiumError {
            #expect(error.code == .corrupted && target.contents["store.json"] == nil, "\(error)")
            return nil
        }
        #expect(old.contents == files)
        try compare(repair, with: target)
        return (repair, try Store.reopened(target))
    }

    /// Expects that each transaction is unchanged or missing, and that every moment without missing changes is unchanged.
    private func compare(_ repair: Repair, with target: any Volume) throws {
        let found = try Self.envelopes(target)
        #expect(repair.transactionCount == found.count && (repair.missing.isEmpty || !repair.findings.isEmpty))
        let timeline = Timeline()
        _ = try LogReader(target).scan { record in
            var draft = timeline.draft()
            try Replay.replay(&draft, record)
            try timeline.publish(draft)
            let place = Int(record.number.rawValue) - 1
            let gap = repair.missing.first { $0.contains(record.number) }
            if gap == nil { #expect(found[place] == envelopes[place]) }
            if let gap, gap.upperBound != record.number { return }
            #expect(timeline.head.export == exports[place], "transaction \(record.number), \(repair.findings)")
        }
    }
}
