import CambiumGraph
internal import CambiumLog
import CambiumModel

/// The state that a checkpoint stores, recorded while no thread writes.
struct CheckpointSnapshot {
    let frozen: FrozenPages
    let transaction: TransactionNumber
    let time: Int64
    let layout: UInt64
    let logPosition: LogPosition
    let schema: SchemaCatalog
    /// The number of bytes that the store had logged when the snapshot was made.
    let loggedByteCount: Int
    /// The work of replaying the transactions that the store had committed when the snapshot was made.
    let replayWork: Int
}

extension Checkpointer {
    /// Waits until every earlier transaction, and everything else that was written to the log, is durable. The writer's lock is free while
    /// this method waits. If the store is being closed, the log stays open until the checkpoint is complete.
    func syncLog() throws(CambiumError) {
        var pending = writer.lock.hold(as: .checkpoint) { queue.join(nil, timeline.head, .synced, .thread) }
        // A checkpoint commits nothing, so its outcome is known even if the sync fails.
        pending.isEmpty = true
        _ = try queue.settle(pending)
        // If another thread's sync failed while this thread was waiting, the log may lack bytes although this sync succeeded. In that case,
        // `beginSync` throws.
        _ = try writer.lock.hold(as: .checkpoint) { () throws(CambiumError) in try log.beginSync() }
    }

    /// Prepares a checkpoint: writes all transactions to the log, records the position after them, and freezes the existing pages (writers
    /// no longer change them). Call this method only while the writer's lock is held.
    ///
    /// - Returns: `nil` if the newest transaction is `stored`.
    func snapshot(unlessAt stored: TransactionNumber?) throws -> CheckpointSnapshot? {
        try writer.checkOpen()
        guard log.lastTransaction != stored else { return nil }
        try queue.writeOthers()
        // If there is an unconfirmed version, the log must be durable before readers see that version. Otherwise, it is sufficient if a
        // later sync makes the log durable before the checkpoint record is written.
        let position = try log.endPosition(syncs: timeline.isUnconfirmed)
        if let ended = log.takeEndedSegment() { queue.sealing?.add(ended) }
        let graph = timeline.head
        timeline.confirm(graph)
        writer.show(graph)
        writer.showPacked(graph)
        let schema = graph.schema.catalog
        let frozen = try timeline.freeze { chunkCount throws(CambiumError) in
            try tableChunkCount(graph.transaction, schema, chunkCount: chunkCount)
        }
        return CheckpointSnapshot(
            frozen: frozen, transaction: graph.transaction, time: log.lastTime,
            layout: graph.fingerprint, logPosition: position, schema: schema,
            loggedByteCount: writer.alarm.loggedByteCount, replayWork: writer.alarm.replayWork)
    }

    /// Returns the number of chunks (64 KiB) that a checkpoint needs for its own table of chunks. The table is in chunks only if it is too
    /// large for the checkpoint record.
    private func tableChunkCount(_ transaction: TransactionNumber, _ schema: SchemaCatalog, chunkCount: Int) throws(CambiumError) -> Int {
        try CheckpointRecord.tableChunkCount(transaction, schema: schema, chunkCount: chunkCount, isPacked: isPacked, tuning: tuning)
    }
}
