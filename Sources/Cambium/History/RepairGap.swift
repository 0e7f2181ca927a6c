import CambiumGraph
internal import CambiumLog
import CambiumModel

/// A range of transactions whose changes are lost. A checkpoint contains the state after the last transaction of the range.
struct RepairGap {
    private let range: ClosedRange<TransactionNumber>
    /// The metadata of the transactions that the log still contains and that verify. If the log does not contain a transaction, but the
    /// checkpoint lists its request, the transaction's entry contains that request.
    private var metadata: [TransactionNumber: TransactionMetadata] = [:]

    /// The maximum number of transactions in a gap. Each transaction takes some bytes of the new log, so a gap without a limit could fill
    /// the disk.
    static let countMax: UInt64 = 100_000_000
    static let lostMessage = "The changes of this transaction are lost (cambium repair)."
    static let stateMessage = "The state of a checkpoint, in place of changes that are lost (cambium repair)."

    /// - Parameter time: the time of the transaction before the range, in microseconds since 1970.
    init(
        _ range: ClosedRange<TransactionNumber>, _ graph: Graph, _ root: CheckpointRecord, _ salvage: LogSalvage, _ time: Int64
    ) throws {
        self.range = range
        var found: [TransactionNumber: TransactionMetadata] = [:]
        try salvage.readFrames(of: range) { found[$0.number] = $0.metadata }
        for request in graph.requests where range.contains(request.transaction) && found[request.transaction] == nil {
            let time = Timestamp(microsecondsSince1970: request.transaction == range.upperBound ? root.time : time)
            found[request.transaction] = TransactionMetadata(
                time: time, message: Self.lostMessage, requestID: request.name, requestDigest: request.digest)
        }
        metadata = found
    }

    /// Writes a transaction for each number of the range. The last transaction changes the graph to the state of the checkpoint.
    func write(_ graph: Graph, _ root: CheckpointRecord, to writer: LogWriter, _ timeline: Timeline) throws {
        let old = timeline.head
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
                for (name, labelled) in graph.labels.sorted(by: { $0.key < $1.key }) where old.labels[name] != labelled {
                    try Self.apply(.label(name, labelled), &draft, &ops)
                }
            }
            try writer.append(metadata(of: number, after: writer.lastTime, root), ops.finish())
        }
        try timeline.publish(draft)
    }

    private func metadata(of number: TransactionNumber, after time: Int64, _ root: CheckpointRecord) -> TransactionMetadata {
        let isLast = number == range.upperBound
        let (time, stateTime) = (Timestamp(microsecondsSince1970: time), Timestamp(microsecondsSince1970: root.time))
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
        try draft.apply(op)
        ops.append(op)
    }
}
