import Cambium
import CambiumBytes
import CambiumLog
import Synchronization
import TestFixtures
import Testing

@testable import CambiumExchange
@testable import CambiumStore

/// Imports of more rows than one read returns. A second thread reads the rows ahead.
@Suite struct ImportAheadTests {
    private static let count = 2 * RowSource.rowCountMax + 17

    private func row(_ number: Int) -> String {
        #"{"id":\#(number),"title":"row \#(number)","items":["\#(number)a","\#(number)"]}"#
    }

    private func rows(_ changed: [Int: String] = [:]) -> [UInt8] {
        Array((1...Self.count).map { changed[$0] ?? row($0) }.joined(separator: "\n").utf8)
    }

    /// - Parameter ahead: Whether the source can be read twice. A source that cannot be read twice is not read ahead.
    private func source(_ rows: [UInt8], ahead: Bool = true) -> ImportSource {
        let bytes = ImportSource.bytes(rows)
        return ImportSource(name: "rows", isRepeatable: ahead, open: bytes.open)
    }

    private func imported(
        _ rows: [UInt8], ahead: Bool = true, into store: Store, _ change: (inout ImportOptions) -> Void = { _ in },
        reached: (ImportReport) -> Void = { _ in }
    ) throws -> ImportReport {
        var options = ImportOptions()
        change(&options)
        return try store.importRows(try store.schema.required("Note"), from: [source(rows, ahead: ahead)], options, reached: reached)
    }

    @Test(arguments: [nil, 100, 256, 300] as [Int?])
    func `the log has the same bytes whether or not a second thread reads the rows`(batch: Int?) throws {
        let bad = rows([400: #"{"id":"x"}"#, 401: "{bad", 700: #"{"title":"no id"}"#])
        let volumes = try [true, false].map { ahead in
            let volume = MemoryVolume()
            let store = try Store.notes(volume)
            for _ in 0..<2 {
                let report = try imported(bad, ahead: ahead, into: store) {
                    $0.onError = .skip
                    $0.batchRowCount = batch
                }
                #expect(report.errors.map(\.row) == [400, 401, 700] && report.rowCount == Self.count)
            }
            #expect(store.graph.transaction.rawValue == UInt64(2 + (batch.map { (Self.count - 1) / $0 } ?? 0)))
            try store.close()
            return volume.contents
        }
        #expect(volumes[0] == volumes[1])
    }

    @Test(arguments: [true, false])
    func `other writers do not wait for the rows of a small batch, even if these come from a pipe`(isHooked: Bool) throws {
        let store = try Store.notes()
        let isLocked = Guarded<[Bool]>([])
        let lines = (1...4).map { Array((row($0) + "\n").utf8) }
        let pipe = ImportSource(name: "pipe", isRepeatable: false) {
            var rest = lines[...]
            return { buffer in
                isLocked.withLock { $0.append(store.writer.lock.isHeldByCaller) }
                guard let line = rest.popFirst() else { return 0 }
                buffer.copyBytes(from: line)
                return line.count
            }
        }
        var options = ImportOptions()
        options.batchRowCount = 2
        let hooks = isHooked ? ImportHooks(finish: { _, _, _ in }) : ImportHooks()
        let note = try store.schema.required("Note")
        #expect(try store.importRows(note, from: [pipe], options, hooks: hooks).counts.inserted == 4)
        #expect(isLocked.withLock { $0.count } > lines.count)
        // A hook must see the effects of all previous rows, so its rows are read in the transaction.
        #expect(isLocked.withLock { $0.contains(true) } == isHooked)
    }

    @Test func `the first bad row is reported, even if later rows were read ahead`() throws {
        let store = try Store.notes()
        var reached = ImportReport()
        let bad = rows([300: #"{"id":300,"related":[{"title":"no id"}]}"#, 301: "{bad", 302: #"{"id":"x"}"#])
        #expect(throws: CambiumError.self) { try imported(bad, into: store, reached: { reached = $0 }) }
        #expect(reached.errors.map(\.row) == [300] && reached.errors.map(\.pointer) == ["/related/0"])
        #expect(reached.errors.map(\.code) == [.missingIdentity] && store.graph.objectCount == 0)
    }

    @Test(arguments: [true, false]) func `an error of an earlier row takes precedence over a failure of the input`(hasBadRow: Bool) throws {
        let store = try Store.notes()
        let bytes = rows(hasBadRow ? [600: #"{"id":"x"}"#] : [:])
        let failing = ImportSource(name: "rows", isRepeatable: true) {
            let read = try ImportSource.bytes(bytes).open()
            return { buffer in
                let count = try read(buffer)
                if count == 0 { throw CambiumError(.ioFailure, "The disk is gone.") }
                return count
            }
        }
        let refusal = code { _ = try store.importRows(try store.schema.required("Note"), from: [failing]) }
        #expect(refusal == (hasBadRow ? .invalidInput : .ioFailure) && store.graph.objectCount == 0)
    }

    /// The number of existing readers, and the number of their reads.
    private final class Readers: Sendable {
        let living = Atomic(0)
        let count = Atomic(0)
    }

    private final class Reading: Sendable {
        let readers: Readers

        init(_ readers: Readers) {
            self.readers = readers
            readers.living.add(1, ordering: .relaxed)
        }

        deinit { readers.living.subtract(1, ordering: .relaxed) }
    }

    @Test func `no reader remains after an import has failed`() throws {
        let store = try Store.notes()
        let line = Array((#"{"id":1}"# + "\n").utf8)
        let readers = Readers()
        // This source never ends.
        let endless = ImportSource(name: "endless", isRepeatable: true) {
            let reading = Reading(readers)
            return { buffer in
                reading.readers.count.add(1, ordering: .relaxed)
                let count = min(buffer.count, 4096) / line.count * line.count
                for index in 0..<count { buffer[index] = line[index % line.count] }
                return count
            }
        }
        let bad = source(rows([700: "{bad"]))
        #expect(throws: CambiumError.self) { try store.importRows(try store.schema.required("Note"), from: [bad, endless]) }
        #expect(readers.living.load(ordering: .relaxed) == 0 && store.graph.objectCount == 0)
        try store.write { _ = try $0.insert("Note", ["id": .int(1)]) }
    }

    @Test func `rows that break a rule found at the end are skipped, and the other rows are read again`() throws {
        var definition = Notes.schema.definition
        definition.entities[0].unique = [["title"]]
        let store = try Store.inMemory(schema: try Schema(definition))
        let repeated = rows([500: #"{"id":500,"title":"row 1"}"#, 700: #"{"id":700,"title":"row 2"}"#])
        let report = try imported(repeated, into: store) { $0.onError = .skip }
        #expect(report.errors.map(\.row) == [500, 700] && report.errors.map(\.code) == [.duplicate, .duplicate])
        #expect(report.counts.inserted == Self.count - 2)
    }

    @Test func `a document larger than the limit for rows in flight is imported among small ones`() throws {
        let store = try Store.notes()
        let ids = (1...9000).map { "\"x\($0)\"" }.joined(separator: ",")
        let large = rows([300: #"{"id":300,"items":[\#(ids)]}"#, 301: #"{"id":301,"title":"\#(String(repeating: "x", count: 9 << 20))"}"#])
        _ = try imported(large, into: store)
        #expect(try store.graph.count(of: store.schema.required("Item")) == 9000 + 2 * (Self.count - 2))
        #expect(try imported(large, into: store).transaction == nil)
    }

    /// Returns a schema with so many entities that a second thread encodes the ops of one row.
    private func chain() throws -> Schema {
        var definition = SchemaDefinition {}
        for number in 0..<OpEncoding.opCountMin {
            let next = "E\((number + 1) % OpEncoding.opCountMin)"
            definition.entities.append(
                EntityDefinition("E\(number)", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    RelationshipDefinition("next", to: next, inverse: nil)
                })
        }
        return try Schema(definition)
    }

    @Test(arguments: [LogTuning.standard, .tiny])
    func `ops that a second thread encodes replay to the same graph`(tuning: LogTuning) throws {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: try chain(), durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        var row = #"{"id":1}"#
        for _ in 1..<OpEncoding.opCountMin { row = #"{"id":1,"next":\#(row)}"# }
        #expect(try store.importing("E0", row).entities.count == OpEncoding.opCountMin)
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
        #expect(store.graph.linkCount == OpEncoding.opCountMin - 1)
    }

    @Test func `rows of an entity update existing objects of its sub-entities at any depth`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Part", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    RelationshipDefinition("parts", to: "Part", .toMany, inverse: "whole")
                    RelationshipDefinition("whole", to: "Part", inverse: "parts")
                }
                EntityDefinition("Wheel", parent: "Part") {
                    AttributeDefinition("spokes", .int64, .optional)
                    RelationshipDefinition("spare", to: "Part", inverse: nil)
                }
            })
        let store = try Store.inMemory(schema: schema)
        try store.importing("Wheel", #"[{"id":1},{"id":2},{"id":3}]"#)
        let rows = #"{"id":1,"spokes":11,"parts":[{"id":2,"spokes":22,"spare":{"id":3,"spokes":33}},{"id":4}]}"#
        let report = try store.importing("Part", rows) { $0.unknown = .report }
        #expect(report.unknownKeys.isEmpty && report.entities["Wheel"]?.updated == 3 && report.entities["Part"]?.inserted == 1)
        let refused = store.refusal("Part", #"{"id":1,"parts":[{"id":2,"spare":{"id":3,"spokes":"x"}}]}"#)
        #expect(refused?.code == .typeMismatch && refused?.pointer == "/parts/0/spare/spokes")
    }
}
