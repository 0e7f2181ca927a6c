import CambiumGraph
internal import CambiumLog
import CambiumModel

/// A range of transactions whose changes are lost. A checkpoint contains the state after the last transaction of the range.
struct RepairGap {
    private let range: ClosedRange<TransactionNumber>
    private let salvage: LogSalvage
    /// The time of the transaction before the range.
    private let timeBefore: Timestamp
    /// The time of the checkpoint that contains the state after the range.
    private let stateTime: Timestamp
    /// The requests that the checkpoint lists for the range, in the order of their transactions. Requests up to `metadataEnd` are removed.
    private var requests: ArraySlice<RegisterEntry>
    /// The metadata of the next transactions, up to `metadataEnd`, if the log contains it and it passes verification. If only the
    /// checkpoint names the request of a transaction, the entry contains that request.
    private var metadata: [TransactionNumber: TransactionMetadata] = [:]
    /// The last transaction whose metadata was read; `nil` before the first one.
    private var metadataEnd: TransactionNumber?
    /// The maximum number of transactions whose metadata is in memory.
    private let windowCount: UInt64

    /// The maximum number of transactions in a gap. Each transaction takes some bytes of the new log, so a gap without a limit could fill
    /// the disk.
    static let countMax: UInt64 = 100_000_000
    static let windowCount: UInt64 = 65_536
    static let lostMessage = "The changes of this transaction are lost (cambium repair)."
    static let stateMessage = "The state of a checkpoint, in place of changes that are lost (cambium repair)."

    /// The cause of an error that `write` throws because the draft refused one of the ops that recreate the state of the checkpoint.
    struct RefusedOp: Error {}

    /// - Parameter time: the time of the transaction before the range, in microseconds since 1970.
    init(
        _ range: ClosedRange<TransactionNumber>, _ graph: Graph, _ root: CheckpointRecord, _ salvage: LogSalvage, _ time: Int64,
        windowCount: UInt64
    ) {
        (self.range, self.salvage, self.windowCount) = (range, salvage, windowCount)
        (timeBefore, stateTime) = (Timestamp(microsecondsSince1970: time), Timestamp(microsecondsSince1970: root.time))
        // A checkpoint from another program may contain longer request ids, which no reader of the new log would accept.
        let isValid = { (request: RegisterEntry) in request.name.utf8.count <= TransactionMetadata.requestIDByteCountMax }
        requests = graph.requests.filter { range.contains($0.transaction) && isValid($0) }.sorted { $0.transaction < $1.transaction }[...]
    }

    /// Replaces the metadata in memory with the metadata of `first` and the following transactions.
    private mutating func readMetadata(from first: TransactionNumber) throws {
        let count = min(windowCount - 1, range.upperBound.rawValue - first.rawValue)
        let end = TransactionNumber(rawValue: first.rawValue + count)
        var found: [TransactionNumber: TransactionMetadata] = [:]
        try salvage.readFrames(of: first...end) { found[$0.number] = $0.metadata }
        while let request = requests.first, request.transaction <= end {
            requests.removeFirst()
            if found[request.transaction] != nil { continue }
            found[request.transaction] = TransactionMetadata(
                time: request.transaction == range.upperBound ? stateTime : timeBefore, message: Self.lostMessage, requestID: request.name,
                requestDigest: request.digest)
        }
        (metadata, metadataEnd) = (found, end)
    }

    /// Writes a transaction for each number of the range. The last transaction changes the graph to the state of the checkpoint.
    ///
    /// If an op is refused, throws the error of the refusal, with a `RefusedOp` as its cause. Also throws if the metadata cannot be read or
    /// the log cannot be written.
    mutating func write(_ graph: Graph, _ root: CheckpointRecord, to writer: LogWriter, _ timeline: Timeline) throws {
        let (old, range) = (timeline.head, range)
        let isFirst = old.transaction == .none
        let changesSchema = old.schema.catalog != root.schema
        var draft = timeline.draft()
        for number in sequence(first: range.lowerBound, next: { $0 < range.upperBound ? $0.next : nil }) {
            let isLast = number == range.upperBound
            draft.beginReplayed(number.rawValue)
            var ops = writer.makeOpWriter(number)
            if isFirst ? number == range.lowerBound : isLast && changesSchema { try Self.apply(.schema(root.schema), &draft, &ops) }
            // A new schema must be the first op of its transaction, and the old objects may not fit the new schema. So all objects are
            // deleted one transaction earlier, if the gap has an earlier transaction.
            let deletes = changesSchema && range.lowerBound < range.upperBound ? number.next == range.upperBound : isLast
            if deletes { try Self.deleteAll(of: old, &draft, &ops) }
            if isLast {
                try graph.deriveOps { op throws(CambiumError) in try Self.apply(op, &draft, &ops) }
                for (name, labeled) in graph.labels.sorted(by: { $0.key < $1.key }) where old.labels[name] != labeled {
                    try Self.apply(.label(name, labeled), &draft, &ops)
                }
            }
            try writer.append(metadata(of: number, after: writer.lastTime), ops.finish())
        }
        try timeline.publish(draft)
    }

    private mutating func metadata(of number: TransactionNumber, after time: Int64) throws -> TransactionMetadata {
        if metadataEnd.map({ number > $0 }) ?? true { try readMetadata(from: number) }
        let isLast = number == range.upperBound
        let time = Timestamp(microsecondsSince1970: time)
        var found = metadata[number] ?? TransactionMetadata(time: isLast ? stateTime : time, message: Self.lostMessage)
        if isLast {
            found = TransactionMetadata(
                time: stateTime, message: Self.stateMessage, requestID: found.requestID, requestDigest: found.requestDigest)
        }
        found.time = max(found.time, time)
        return found
    }

    /// The maximum number of objects that one op deletes.
    private static let deletedCountMax = 65_536

    private static func deleteAll(of graph: Graph, _ draft: inout Draft, _ ops: inout OpWriter) throws(CambiumError) {
        for entity in graph.schema.entities where entity.number == entity.root {
            var ids: [ObjectID] = []
            for id in graph.objects(of: entity) {
                ids.append(id)
                guard ids.count == deletedCountMax else { continue }
                try delete(ids, &draft, &ops)
                ids = []
            }
            try delete(ids, &draft, &ops)
        }
    }

    /// Deletes the given objects, except those that a cascade has already deleted.
    private static func delete(_ ids: [ObjectID], _ draft: inout Draft, _ ops: inout OpWriter) throws(CambiumError) {
        var remaining: [ObjectID] = []
        for id in ids where draft.contains(id) { remaining.append(id) }
        if !remaining.isEmpty { try apply(.delete(remaining), &draft, &ops) }
    }

    private static func apply(_ op: Op, _ draft: inout Draft, _ ops: inout OpWriter) throws(CambiumError) {
        do throws(CambiumError) {
            try draft.apply(op)
        } catch {
            throw CambiumError(error.code, error.message, details: error.details, place: error.place, underlying: RefusedOp())
        }
        ops.append(op)
    }
}
