import CambiumGraph
internal import CambiumLog
import CambiumModel

/// Reads the log of a source beside that of a target: compares what both have, and writes what the target lacks.
struct ApplyRun {
    let store: Store
    let source: any Volume
    private(set) var report = ApplyReport()
    /// The first 8 bytes of the commitment of each transaction of the target.
    private var present: [UInt64] = []
    /// The schema that the target begins with, where its first transaction is nothing else.
    private var firstSchema: SchemaCatalog?
    private var lastPending: Committer.Pending?
    /// Since the target was last made durable.
    private var waitingCount = 0
    private var waitingByteCount = 0

    /// How much may be under way to the disk.
    private static let waitingCountMax = 4096
    private static let waitingByteCountMax = 16 << 20

    init(_ store: Store, _ source: any Volume) {
        self.store = store
        self.source = source
    }

    mutating func run() throws {
        guard let volume = store.committer.volume else {
            throw CambiumError(.invalidInput, "A store in memory keeps no log to compare with; apply to one on disk.")
        }
        let reader = try LogReader(source)
        // What was committed before is in the log from here on.
        try store.waitForDisk()
        try readPresent(try LogReader(volume))
        do {
            _ = try reader.scan(makesDurable: true) { record in try take(record) }
        } catch {
            // What was applied stays; why there is no more is what counts.
            try? store.waitForDisk()
            throw error
        }
        try store.waitForDisk()
        try checkLast()
        try compareEnds()
    }

    private mutating func readPresent(_ target: LogReader) throws {
        _ = try target.scan(makesDurable: true) { record in
            if record.number.rawValue == 1 { firstSchema = try Self.onlySchema(record) }
            present.append(try Self.mark(record))
        }
        report.presentCount = present.count
    }

    private static func mark(_ record: LogRecord) throws -> UInt64 {
        try record.commitment().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func onlySchema(_ record: LogRecord) throws -> SchemaCatalog? {
        let ops = try record.ops()
        guard ops.count == 1, case .schema(let catalog) = ops[0] else { return nil }
        return catalog
    }

    private mutating func take(_ record: LogRecord) throws {
        report.lastTransaction = record.number
        let number = Int(record.number.rawValue)
        guard number > present.count else { return try compare(record, present[number - 1]) }
        do {
            let (pending, time) = try store.committer.commit(record)
            if time > record.metadata.time { report.laterTimeCount += 1 }
            lastPending = pending
        } catch {
            // Where the one before was taken back, this one cannot follow, and the disk is what to tell of.
            try checkLast()
            throw error
        }
        report.appliedCount += 1
        waitingCount += 1
        waitingByteCount += record.byteCount
        if waitingCount >= Self.waitingCountMax || waitingByteCount >= Self.waitingByteCountMax {
            try store.waitForDisk()
            try checkLast()
            (waitingCount, waitingByteCount) = (0, 0)
        }
    }

    private func checkLast() throws { _ = try lastPending.flatMap { store.committer.outcome($0) }?.get() }

    private func compare(_ record: LogRecord, _ mark: UInt64) throws {
        if try Self.mark(record) == mark { return }
        // A store that was made for this, with the same schema, is as good as none.
        if record.number.rawValue == 1, let firstSchema, try Self.onlySchema(record) == firstSchema { return }
        let what = record.number.rawValue == 1 ? "begins with another schema than" : "has another transaction \(record.number) than"
        throw CambiumError(
            .conflict,
            "The target \(what) the source, so it is not one that the source was applied to; choose an empty one. Nothing was applied.")
    }

    private mutating func compareEnds() throws {
        let last = report.lastTransaction
        let graph = store.graph
        guard graph.transaction == last, present.count <= Int(last.rawValue) else {
            throw CambiumError(
                .conflict,
                "The target has \(graph.transaction) transactions and the source \(last), so it was changed otherwise, or the source is an "
                    + "older copy. Nothing was applied.")
        }
        let wanted = try ReadOnlyStore(source, point: last == .none ? .latest : .transaction(last)).graph
        report.digest = graph.digest()
        report.objectCount = graph.objectCount
        report.linkCount = graph.linkCount
        guard wanted.digest() == report.digest else {
            throw CambiumError(
                .damaged, "The same transactions came to another graph in the target; 'cambium verify' tells which is wrong.")
        }
    }
}
