import Cambium
import CambiumBytes
import CambiumLog
import Dispatch
import Foundation
import TestFixtures
import Testing

@testable import CambiumExchange

@Suite struct AsyncImportTests {
    private struct Row: Codable, Sendable, Equatable {
        var id: Int
        var title: String?
        var created: Date?
        var items: [String]?
    }

    /// An endless sequence of rows that counts how many rows were requested.
    private final class Endless: AsyncSequence, AsyncIteratorProtocol, Sendable {
        typealias Element = Row
        let count = Guarded(0)
        let title: String
        let row: @Sendable (Int) -> Row

        init(title: String = "", row: @escaping @Sendable (Int) -> Row = { Row(id: $0) }) {
            self.title = title
            self.row = row
        }

        func makeAsyncIterator() -> Endless { self }

        func next() async throws -> Row? {
            try Task.checkCancellation()
            let number = count.withLock { count in
                count += 1
                return count
            }
            var next = row(number)
            if !title.isEmpty { next.title = title }
            return next
        }
    }

    private func stream<Element: Sendable>(_ elements: [Element]) -> AsyncStream<Element> {
        AsyncStream { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }

    @Test func `the values of a sequence are rows, and properties that they do not encode are missing`() async throws {
        let store = try Store.notes()
        let note = try store.schema.required("Note")
        let created = Date(timeIntervalSinceReferenceDate: 0.5)
        let rows = [Row(id: 1, title: "Paris", created: created, items: ["a", "b"]), Row(id: 2)]
        let report = try await store.importRows(note, rows: stream(rows))
        #expect(report.counts.inserted == 2 && report.entities["Item"]?.stubs == 2)
        #expect(try store.graph.json("Note/1").contains(#""title":"Paris","rating":null,"created":"2001-01-01T00:00:00.5Z""#))
        #expect(try await store.importRows(note, from: [.rows(rows)]).transaction == nil)
        #expect(try await store.importRows(note, rows: stream([Row]())).rowCount == 0)
    }

    @Test func `values in memory are a source that can be read repeatedly`() throws {
        let store = try Store.notes()
        let note = try store.schema.required("Note")
        let rows = (1...2000).map { Row(id: $0, title: "row \($0)") }
        // No row breaks a rule that is checked afterwards, so the source is read twice only because the test imports it twice.
        let source = ImportSource.rows(rows, name: "mine")
        #expect(source.isRepeatable && source.name == "mine")
        #expect(try store.importRows(note, from: [source]).counts.inserted == 2000)
        #expect(try store.importRows(note, from: [source]).counts.unchanged == 2000)
        #expect(throws: EncodingError.self) { try store.importRows(note, from: [.rows([1.0, .infinity])]) }
    }

    @Test func `a date that no row can contain ends the import of values`() throws {
        let store = try Store.notes()
        let note = try store.schema.required("Note")
        #expect(throws: EncodingError.self) {
            try store.importRows(note, from: [.rows([Row(id: 1), Row(id: 2, created: .distantPast)])])
        }
        #expect(store.graph.objectCount == 0)
    }

    @Test(arguments: [1, 3, 1000]) func `a sequence of bytes may be cut into pieces anywhere`(pieceByteCount: Int) async throws {
        let store = try Store.notes()
        let note = try store.schema.required("Note")
        func pieces(_ text: String) -> AsyncStream<ArraySlice<UInt8>> {
            let bytes = Array(text.utf8)
            return stream(
                stride(from: 0, to: bytes.count, by: pieceByteCount).map { bytes[$0..<min($0 + pieceByteCount, bytes.count)] })
        }
        let rows = (1...300).map { #"{"id":\#($0),"title":"größer"}"# }.joined(separator: "\n")
        #expect(try await store.importRows(note, bytes: pieces(rows)).counts.inserted == 300)
        let report = try await store.importRows(note, bytes: pieces("id,title\n1,kleiner\n301,neu\n"), format: .csv)
        #expect(report.counts.inserted == 1 && report.counts.updated == 1)
    }

    @Test func `an error of a sequence ends the import and leaves nothing`() async throws {
        let store = try Store.notes()
        let note = try store.schema.required("Note")
        let rows = AsyncThrowingStream<Row, any Error> { continuation in
            for id in 1...1000 { continuation.yield(Row(id: id)) }
            continuation.finish(throwing: CambiumError(.ioFailure, "The line was cut."))
        }
        let refusal = await #expect(throws: CambiumError.self) { try await store.importRows(note, rows: rows) }
        #expect(refusal?.message == "The line was cut.")
        #expect(store.graph.objectCount == 0)
    }

    @Test func `an invalid row ends the import and the sequence`() async throws {
        let store = try Store.notes()
        let note = try store.schema.required("Note")
        let rows = Endless { Row(id: $0, items: $0 == 700 ? ["a", "a", ""] : nil) }
        var options = ImportOptions()
        options.references = .error
        await #expect(throws: CambiumError.self) { try await store.importRows(note, rows: rows, options) }
        #expect(store.graph.objectCount == 0)
    }

    @Test func `a cancelled import leaves nothing, and the store accepts other writes`() async throws {
        let store = try Store.notes()
        let note = try store.schema.required("Note")
        let begun = AsyncStream<Void>.makeStream()
        let hooks = ImportHooks(finish: { _, _, _ in begun.continuation.yield() })
        let importing = Task { try await store.importRows(note, rows: Endless(), hooks: hooks) }
        for await _ in begun.stream { break }
        importing.cancel()
        await #expect(throws: CancellationError.self) { try await importing.value }
        #expect(store.graph.objectCount == 0)
        try await store.write { _ = try $0.insert("Note", ["id": .int(1)]) }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [false, true])
    func `a cancelled import that waits for another writer ends while the other writer continues`(isSequence: Bool) async throws {
        let store = try Store.notes()
        let note = try store.schema.required("Note")
        let first = await OpenWrite(store)
        let rows = [Row(id: 2)]
        let sequence = stream(rows)
        let importing = Task {
            if isSequence { return try await store.importRows(note, rows: sequence) }
            return try await store.importRows(note, from: [.rows(rows)])
        }
        while store.metrics.waitingWriterCount == 0 { await Task.yield() }
        importing.cancel()
        await #expect(throws: CancellationError.self) { try await importing.value }
        await first.end()
        try await store.write { _ in }
        #expect(store.graph.objectCount == 1 && store.graph.transaction.rawValue == 2)
    }

    @Test func `an import of files is cancelled between rows`() async throws {
        let store = try Store.notes()
        let note = try store.schema.required("Note")
        let begun = AsyncStream<Void>.makeStream()
        let line = Array((#"{"id":1}"# + "\n").utf8)
        let endless = ImportSource(name: "endless", isRepeatable: true) {
            { buffer in
                begun.continuation.yield()
                let count = min(buffer.count, 4096) / line.count * line.count
                for index in 0..<count { buffer[index] = line[index % line.count] }
                return count
            }
        }
        let importing = Task { try await store.importRows(note, from: [endless]) }
        for await _ in begun.stream { break }
        importing.cancel()
        await #expect(throws: CancellationError.self) { try await importing.value }
        #expect(store.graph.objectCount == 0)
    }

    @Test func `an import reads ahead in a sequence only as far as its buffers hold`() async throws {
        let store = try Store.notes()
        let note = try store.schema.required("Note")
        let rows = Endless(title: String(repeating: "x", count: 64 << 10))
        let applied = Guarded(0)
        let aheadMax = Guarded(0)
        let hooks = ImportHooks(finish: { _, _, _ in
            let count = applied.withLock { count in
                count += 1
                return count
            }
            if count == 200 { throw CambiumError(.invalidInput, "enough") }
            let ahead = rows.count.withLock { $0 } - count
            aheadMax.withLock { $0 = max($0, ahead) }
        })
        await #expect(throws: CambiumError.self) { try await store.importRows(note, rows: rows, hooks: hooks) }
        // The most that the channel and the window that is filled from it can hold.
        let most = (ByteChannel.byteCountMax + ByteWindow.byteCount) / (64 << 10) + 2
        #expect(aheadMax.withLock { $0 } <= most && applied.withLock { $0 } == 200)
    }
}
