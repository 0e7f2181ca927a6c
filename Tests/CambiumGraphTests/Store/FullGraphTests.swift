import Cambium
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog
@testable import CambiumStore

/// A graph that has used all of its pages refuses changes with an error. Deletions have a reserve, and they free space.
@Suite struct FullGraphTests {
    private let store: Store
    private let volume = MemoryVolume()
    private let tuning: LogTuning

    /// The size of the graph: a fast test has a quarter of the pages, and a transaction inserts a quarter of the notes.
    private static let scale = LongTests.areWanted ? 4 : 1
    private static let step = Int64(25 * scale)

    /// Makes a store whose graph has at most 128 MiB of pages, or 32 MiB in a fast test, and fills it until an insert is refused.
    init() throws {
        var tuning = LogTuning()
        (tuning.chunkCountMax, tuning.checkpointsInBackground) = (512 * Self.scale, false)
        self.tuning = tuning
        store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        var count: Int64 = 0
        let isRefused = { [store] in
            try Self.isRefused { try Self.insert(store, count * Self.step..<(count + 1) * Self.step) }
        }
        while try !isRefused() { count += 1 }
    }

    private static let text = String(repeating: "long ", count: 4000)

    private static func insert(_ store: Store, _ numbers: Range<Int64>) throws {
        try store.write { transaction in
            for number in numbers { _ = try transaction.insert("Note", ["id": .int(number), "title": .string(text)]) }
        }
    }

    private static func isRefused(_ change: () throws -> Void) throws -> Bool {
        do { try change() } catch let error as CambiumError where error.code == .limitExceeded { return true }
        return false
    }

    private func delete(_ count: Int) throws {
        let ids = store.graph.objects(of: try store.schema.required("Note")).prefix(count)
        try store.write { try $0.delete(Array(ids)) }
    }

    @Test func `a change that does not fit leaves a full graph unchanged`() throws {
        let graph = store.graph
        #expect(graph.objectCount > 0 && graph.objectCount % Int(Self.step) == 0)
        #expect(graph.invariantFindings() == [])
        try store.close()
        let reopened = try Store.open(volume, durability: nil, environment: fixedEnvironment(), tuning: tuning)
        #expect(reopened.graph.digest() == graph.digest())
    }

    @Test func `a full graph refuses every change that needs pages`() throws {
        let note = try #require(Array(store.graph.objects(of: try store.schema.required("Note"))).first)
        #expect(try Self.isRefused { try store.write { _ = try $0.insert("Tag", ["name": .string("x")]) } })
        #expect(try Self.isRefused { try store.write { try $0.set(note, "title", to: .string("x")) } })
        #expect(try Self.isRefused { try store.write { try $0.link(note, "related", note) } })
        #expect(try Self.isRefused { try store.write { _ = try $0.clone(note) } })
        let definition = SchemaDefinition.notes { $0["Tag"][attribute: "y"] = AttributeDefinition("y", .string, .optional) }
        #expect(try Self.isRefused { try store.migrate(to: definition) })
        let rows = Array(#"{"name": "x"}"#.utf8)
        #expect(try Self.isRefused { _ = try store.importRows(try store.schema.required("Tag"), from: [.bytes(rows)], ImportOptions()) })
    }

    @Test(.enabled(if: LongTests.areWanted)) func `deletions make space in a full graph`() throws {
        let before = store.graph.objectCount
        for _ in 0..<4 {
            try delete(before / 20)
            try store.checkpoint()
        }
        #expect(store.graph.objectCount <= before * 17 / 20)
        try store.compact(.checkpoints(1))
        try Self.insert(store, -Self.step..<0)
        #expect(store.graph.invariantFindings() == [])
        #expect(try Verification(volume).isSound)
    }

    @Test func `a deletion that may need more pages than are left is refused`() throws {
        let volume = MemoryVolume()
        var tuning = tuning
        let small = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        let text = String(repeating: "text", count: 50)
        try small.write { transaction in
            for number in 0..<3000 { _ = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string(text)]) }
        }
        try small.checkpoint()
        try small.close()
        tuning.chunkCountMax = try PageFile.byteCount(volume) / PageLayout.chunkByteCount + 3
        let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(), tuning: tuning)
        let notes = Array(store.graph.objects(of: try store.schema.required("Note")))
        let digest = store.graph.digest()
        #expect(try Self.isRefused { try store.write { try $0.delete(notes) } })
        #expect(store.graph.digest() == digest)
        try store.write { try $0.delete(notes[0]) }
    }

    @Test func `a full graph still accepts a request, a label and a digest`() throws {
        try store.write(Author(requestID: "request")) { _ in }
        try store.label("full", store.graph.transaction)
        try store.recordDigest()
        #expect(store.graph.labels["full"] != nil)
    }

    @Test func `a replay applies every logged change even if the page limit is now lower`() throws {
        let digest = store.graph.digest()
        store.abandon()
        var tuning = tuning
        tuning.chunkCountMax = 256 * Self.scale
        let reopened = try Store.open(volume, durability: nil, environment: fixedEnvironment(), tuning: tuning)
        #expect(reopened.graph.digest() == digest)
        #expect(try Self.isRefused { try Self.insert(reopened, -1..<0) })
    }
}
