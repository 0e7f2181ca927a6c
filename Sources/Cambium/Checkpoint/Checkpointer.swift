internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel
import Dispatch

/// Stores the graph from time to time, while writers continue. See Docs/CHECKPOINTS.md.
///
/// SENDABLE: mutable state is touched only while `making` is held, or is under a lock.
final class Checkpointer: @unchecked Sendable {
    let volume: any Volume
    private let timeline: Timeline
    let store: [UInt8]
    let tuning: LogTuning
    private let making = WriterLock()

    // These properties are accessed only while `making` is held.
    /// The chunks of the newest checkpoint, with their checksums.
    @exclusivity(unchecked) private var chunks: [CheckpointRecord.Chunk]
    /// The chunks that are frozen and not stored yet.
    @exclusivity(unchecked) private var unstored: Set<Int> = []
    /// The unstored chunks whose memory is the file's.
    @exclusivity(unchecked) private var inFile: Set<Int> = []
    /// Whether the store was closed, so that nothing more is written and no chunk is used again.
    @exclusivity(unchecked) private var isEnded = false
    /// Whether the last checkpoint failed. If the kernel cannot write the memory of a file, it reports the failure only once, and then
    /// treats the bytes as written. So the next checkpoint writes these bytes itself.
    @exclusivity(unchecked) private var hasFailed = false
    @exclusivity(unchecked) var pageFile: UInt64
    /// The tree over the log, as far as checkpoints have needed it. After `end`, any thread may read it.
    @exclusivity(unchecked) private(set) var tree: CheckpointTree
    /// The checkpoints that could not be used when the store was opened. They stay until there is a new one, because they may be all that
    /// is left of the data.
    @exclusivity(unchecked) private var passedOver: [TransactionNumber]
    @exclusivity(unchecked) var kept: [TransactionNumber: KeptCheckpoint] = [:]
    @exclusivity(unchecked) var policy: CheckpointPolicy
    /// The file of pages that the store was opened from; `nil` if the whole log was replayed.
    private let sourceFile: UInt64?
    /// The leases of graphs that outlived their store before this one was opened.
    @exclusivity(unchecked) private var leases: ChunkLeases
    /// Whether pages are stored compressed.
    private let isPacked: Bool
    /// Whether chunks were taken for a table since the chunks of all checkpoints were last counted.
    @exclusivity(unchecked) private var holdsTableChunks = false

    private let state: Guarded<State>
    private let queue = DispatchQueue(label: "cambium.store.checkpoint", qos: .utility)

    private struct State {
        /// The last transaction in the newest checkpoint.
        var newest: TransactionNumber
        /// The number of bytes of log after the newest checkpoint, or since the last automatic checkpoint failed.
        var tailByteCount: Int
        /// The number of bytes of the chunks with pages in the newest checkpoint.
        var storedByteCount: Int
        /// The number of bytes of memory that pages took when the last checkpoint was done.
        var heapByteCount = 0
        /// The time from which the age of the last checkpoint counts, in microseconds since 1970: the first commit after the last automatic
        /// attempt, or after the opening. It is `nil` before that commit.
        var doneTime: Int64?
        /// Whether an automatic checkpoint is on its way.
        var isQueued = false
        var failure: CambiumError?
    }

    /// The state that is stored, taken while no thread writes.
    struct Snapshot {
        let frozen: FrozenPages
        let transaction: TransactionNumber
        let time: Int64
        let layout: UInt64
        let logPosition: LogPosition
        let schema: SchemaCatalog
        /// The number of bytes of log after the preceding checkpoint.
        let tailByteCount: Int
    }

    /// - Parameters:
    ///   - file: the file of the checkpoint that the store was opened with; `nil` if a new file is begun.
    ///   - tailByteCount: the number of bytes of log after that checkpoint.
    ///   - newFile: a number that no file of the store had before.
    init(
        _ volume: any Volume, log: LogWriter, _ stored: StoredGraph, _ file: UInt64?, leases: ChunkLeases, tailByteCount: Int,
        tuning: LogTuning, policy: CheckpointPolicy, newFile: UInt64
    ) throws(CambiumError) {
        self.volume = volume
        self.leases = leases
        sourceFile = stored.pages?.root.pageFile
        self.policy = policy
        isPacked = policy.compression == .lz4
        timeline = stored.timeline
        self.tuning = tuning
        store = log.store
        if let root = stored.pages?.root, let file {
            chunks = root.chunks
            pageFile = file
            state = Guarded(
                State(newest: root.transaction, tailByteCount: tailByteCount, storedByteCount: Self.byteCount(root.chunks)))
        } else {
            chunks = []
            pageFile = newFile
            state = Guarded(State(newest: .none, tailByteCount: tailByteCount, storedByteCount: 0))
            if let root = stored.pages?.root { unstored = Set(root.chunks.indices) }
        }
        passedOver = stored.passedOver
        tree = CheckpointTree(stored.pages?.root)
    }

    private static func byteCount(_ chunks: [CheckpointRecord.Chunk]) -> Int { chunks.count { $0.hasPages } * PageFile.chunkByteCount }

    /// The last transaction in the newest checkpoint.
    var transaction: TransactionNumber { state.withLock { $0.newest } }

    /// The error of the last automatic checkpoint; `nil` if it did not fail. The log has everything all the same, and another attempt
    /// follows later.
    var failure: CambiumError? { state.withLock { $0.failure } }

    /// The number of bytes of log after the newest checkpoint, or since the last automatic checkpoint failed.
    var tailByteCount: Int { state.withLock { $0.tailByteCount } }

    /// Waits until no checkpoint is being made, and refuses all later ones, because other writers may have the files then.
    func end() { making.hold { isEnded = true } }

    /// Throws `.notWritable` if the store was closed. Call it only while `making` is held.
    private func checkNotEnded() throws(CambiumError) {
        if isEnded { throw CambiumError(.notWritable, "The store was closed.") }
    }

    // MARK: When

    /// Counts the bytes that were logged. Call it only while no other thread writes.
    ///
    /// - Returns: whether a checkpoint is due, because there are many bytes, memory or pages are short, or the last checkpoint is old. If
    ///   so, the caller calls `makeSoon`.
    func note(_ byteCount: Int, at time: Int64) -> Bool {
        let (budget, heap) = (timeline.budget, timeline.reservedByteCount)
        let isFull = timeline.isInReserve
        return state.withLock { state in
            state.tailByteCount += byteCount
            if state.isQueued || !tuning.checkpointsInBackground { return false }
            let limit = max(tuning.checkpointByteCount, state.storedByteCount / 16)
            let isMemoryShort = budget.isTight && heap > state.heapByteCount + budget.byteCount / 8
            let isOld = state.tailByteCount >= tuning.oldByteCount && time &- (state.doneTime ?? time) >= tuning.checkpointInterval
            if state.doneTime == nil { state.doneTime = time }
            guard state.tailByteCount >= limit || isMemoryShort || isOld || isFull else { return false }
            state.isQueued = true
            return true
        }
    }

    /// Makes a checkpoint in the background, after `note` has found it due.
    func makeSoon(_ make: @escaping @Sendable () throws -> Void) {
        // A block that has not begun must not keep the store alive.
        queue.async { [weak self] in self?.attempt(make) }
    }

    /// Makes a checkpoint before the store is closed, if the next opening would take long without it.
    func makeAtClosing(_ make: () throws -> Void) {
        if state.withLock({ $0.tailByteCount >= tuning.closingCheckpointByteCount }) { attempt(make) }
    }

    /// Creates a lease that names the chunks that versions of this process map from files, so that later writers do not use them. Only for
    /// a caller that has the store's lock.
    ///
    /// Throws if the disk refuses. Then no other process may write to the store until the last graph of it is gone.
    ///
    /// - Parameter name: a number that no lease of the store has.
    /// - Returns: `nil` if no chunk is mapped. Later writers do not use the chunks as long as the lease exists.
    func lease(_ name: UInt64, _ whileNoThreadWrites: (() -> Void) -> Void) throws(CambiumError) -> ChunkLease? {
        var mapped: (ofSource: [Int], ofStorage: [Int]) = ([], [])
        whileNoThreadWrites { mapped = timeline.mappedChunks }
        var chunks = [pageFile: mapped.ofStorage]
        if let sourceFile { chunks[sourceFile] = (chunks[sourceFile, default: []] + mapped.ofSource).sorted() }
        chunks = chunks.filter { !$0.value.isEmpty }
        return chunks.isEmpty ? nil : try ChunkLease(volume, store: store, name: name, chunks: chunks)
    }

    private func attempt(_ make: () throws -> Void) {
        var failure: CambiumError?
        do { try make() } catch { failure = error as? CambiumError ?? CambiumError(.ioFailure, "\(error)") }
        state.withLock { state in
            state.isQueued = false
            state.failure = failure
            state.doneTime = nil
            if failure != nil { state.tailByteCount = 0 }
        }
    }

    /// Returns the number of chunks that the table of a checkpoint takes.
    func tableChunkCount(_ transaction: TransactionNumber, _ schema: SchemaCatalog, chunkCount: Int) throws(CambiumError) -> Int {
        try CheckpointRecord.tableChunkCount(transaction, schema: schema, chunkCount: chunkCount, isPacked: isPacked, tuning: tuning)
    }

    // MARK: Making

    /// Makes a checkpoint.
    ///
    /// - Parameters:
    ///   - take: takes the snapshot while no thread writes; returns `nil` if there is nothing new.
    ///   - makeDurable: makes the log durable up to the position that the snapshot names.
    ///   - whileNoThreadWrites: calls its closure while no thread writes.
    func make(
        take: () throws -> Snapshot?, makeDurable: () throws -> Void, whileNoThreadWrites: (() -> Void) -> Void
    ) throws -> CheckpointReceipt {
        try making.hold {
            try checkNotEnded()
            // The last checkpoint failed. If its record exists nevertheless, the chunks of its table stay taken.
            if holdsTableChunks { try reclaim(keptChunks(), whileNoThreadWrites) }
            guard let snapshot = try take() else {
                return CheckpointReceipt(transaction: transaction, byteCount: 0, droppedCount: 0)
            }
            if !snapshot.frozen.tables.isEmpty { holdsTableChunks = true }
            unstored.formUnion(snapshot.frozen.fresh)
            inFile.subtract(snapshot.frozen.fresh)
            inFile.formUnion(snapshot.frozen.inFile)
            let isWrittenAgain = hasFailed
            hasFailed = true
            snapshot.frozen.disk.run()
            try makeDurable()
            let written = try write(snapshot, inFile: isWrittenAgain ? [] : inFile)
            hasFailed = false
            guard let byteCount = written else {
                return CheckpointReceipt(transaction: snapshot.transaction, byteCount: 0, droppedCount: 0)
            }
            state.withLock { state in
                state.newest = snapshot.transaction
                // The bytes that were logged during the checkpoint follow it.
                state.tailByteCount = max(0, state.tailByteCount - snapshot.tailByteCount)
                state.storedByteCount = Self.byteCount(chunks)
            }
            try dropPassedOver(except: snapshot.transaction)
            let droppedCount = try dropCheckpoints()
            let taken = try keptChunks()
            releaseMemory(of: taken ?? chunks.map(\.isOwned), whileNoThreadWrites)
            try reclaim(taken, whileNoThreadWrites)
            return CheckpointReceipt(transaction: snapshot.transaction, byteCount: byteCount, droppedCount: droppedCount)
        }
    }

    /// Makes chunks available again that only dropped checkpoints had. Releases all disk space without an owner, and removes files that no
    /// checkpoint names.
    func reclaimChunks(whileNoThreadWrites: (() -> Void) -> Void) throws {
        try whileNoneIsMade { try reclaim(keptChunks(), keepsSpares: false, whileNoThreadWrites) }
    }

    /// Makes unneeded chunks available again, and removes unneeded files. Call it only while `making` is held.
    ///
    /// - Parameter taken: the result of `keptChunks`.
    /// - Parameter keepsSpares: whether some MiB of empty chunks keep their memory and disk space.
    private func reclaim(_ taken: [Bool]?, keepsSpares: Bool = true, _ whileNoThreadWrites: (() -> Void) -> Void) throws {
        // If a record is corrupt, a process may have opened that checkpoint while it was sound. So nothing is used again until the record
        // is gone.
        guard let taken else { return }
        try removeUnnamedFiles()
        try leases.removeEnded(from: volume)
        let owners = ChunkOwners(isRooted: taken, leased: leases.chunks(of: pageFile))
        var rest: ChunkRelease?
        whileNoThreadWrites { rest = timeline.beginReuse(owners, keepsSpares: keepsSpares) }
        holdsTableChunks = false
        while var step = rest, !step.isDone {
            whileNoThreadWrites { timeline.take(&step) }
            // The kernel may take long for this, so writers may use the lock.
            step.releaseTaken()
            rest = step
        }
    }

    /// Removes the files of pages that no checkpoint names. Call it only while `making` is held, and only if every checkpoint record can be
    /// read.
    private func removeUnnamedFiles() throws(CambiumError) {
        try PageFileWriter.removeFiles(volume, except: Set(kept.values.map(\.pageFile)).union([pageFile]))
    }

    /// If memory is short, maps stored chunks from the file in place of memory, in steps that writers do not notice.
    ///
    /// - Parameter taken: for each chunk, whether a checkpoint has it, even if only earlier moments need it.
    private func releaseMemory(of taken: [Bool], _ whileNoThreadWrites: (() -> Void) -> Void) {
        // The file has other bytes for a compressed chunk than memory has.
        let packed = kept.values.reduce(into: Set<Int>()) { if $1.pageFile == pageFile { $0.formUnion($1.packed) } }
        let stored = taken.indices.filter { taken[$0] && !packed.contains($0) }
        let isShort = timeline.budget.isTight
        for first in stride(from: 0, to: stored.count, by: Self.replacedCountMax) where isShort {
            whileNoThreadWrites {
                if timeline.budget.isHalfUsed { timeline.replace(stored[first..<min(first + Self.replacedCountMax, stored.count)]) }
            }
        }
        whileNoThreadWrites { state.withLock { $0.heapByteCount = timeline.reservedByteCount } }
    }

    /// The number of chunks that are replaced at a time: 1 MiB.
    private static let replacedCountMax = 16

    /// Writes the chunks that are not stored yet, and the checkpoint record.
    ///
    /// - Returns: the number of bytes that were written; `nil` if a reader shares the record that the transaction already has. Then the
    ///   chunks of that checkpoint stay as they are, and the next checkpoint writes these chunks again.
    private func write(_ snapshot: Snapshot, inFile: Set<Int>) throws -> Int? {
        let live = snapshot.frozen.image.live
        let taken = try keptChunks()
        // The files of a failed checkpoint take disk space that this one needs.
        try PageFileWriter.removeInterrupted(volume)
        if taken != nil { try removeUnnamedFiles() }
        var writer = try PageFileWriter(volume, pageFile, isNamed: !chunks.isEmpty)
        defer { writer.close() }
        let fresh = unstored.filter { live[$0] > 0 }.sorted()
        // A chunk that is mapped from the file must be there as it is in memory, so it is not compressed.
        let mapped = self.inFile
        let stored = try writer.write(
            fresh,
            { [isPacked] chunk in
                if inFile.contains(chunk) { return .none }
                return isPacked && !mapped.contains(chunk) ? .packed : .asItIs
            }
        ) { chunk, body in timeline.withBytes(ofChunk: chunk, body) }
        var next = live.enumerated().map { chunk, live in
            var next = live > 0 && chunk < chunks.count ? chunks[chunk] : CheckpointRecord.Chunk()
            next.live = live
            return next
        }
        for (chunk, stored) in zip(fresh, stored) {
            next[chunk] = CheckpointRecord.Chunk(live: live[chunk], checksum: stored.checksum, packedByteCount: stored.packedByteCount)
        }
        if let taken {
            // The next process that opens the store writes into these chunks first. Otherwise each process would make the file larger.
            for chunk in live.indices where live[chunk] == 0 && (chunk >= taken.count || !taken[chunk]) { next[chunk] = .unused }
        }
        for chunk in snapshot.frozen.tables { next[chunk] = .table }
        let end = LogPrefix(transaction: snapshot.transaction, time: snapshot.time, position: snapshot.logPosition)
        try tree.advance(to: end, in: volume)
        let root = CheckpointRecord(
            store: store, transaction: snapshot.transaction, time: snapshot.time, fanOutShift: UInt8(PageImage.fanOutShift),
            isPacked: isPacked, layout: snapshot.layout, logPosition: snapshot.logPosition, pageFile: pageFile,
            epoch: snapshot.frozen.image.epoch, pageDirectory: snapshot.frozen.image.directory, schema: snapshot.schema, chunks: next,
            tree: tree.tree)
        // If this fails, the transaction may have its old record or the new one.
        kept[snapshot.transaction] = nil
        guard let recordByteCount = try writer.finish(root, tuning: tuning) else { return nil }
        chunks = next
        unstored.subtract(fresh)
        self.inFile.subtract(fresh)
        kept[snapshot.transaction] = KeptCheckpoint(root, recordByteCount: recordByteCount)
        return writer.byteCount
    }

    /// Removes the checkpoints that could not be used, because there is one now that can be used. A process that has one of them open keeps
    /// the file of its pages.
    private func dropPassedOver(except newest: TransactionNumber) throws {
        for number in passedOver where number != newest {
            if try volume.exists(CheckpointRecord.path(number)) { try volume.remove(CheckpointRecord.path(number)) }
            kept[number] = nil
        }
        if !passedOver.isEmpty { try volume.syncDirectory(CheckpointRecord.directory) }
        passedOver = []
        try PageFile.removeDamageMark(volume)
    }

    /// Calls `body` while no checkpoint is made. Throws `.notWritable` if the store was closed.
    func whileNoneIsMade<Result>(_ body: () throws -> Result) throws -> Result {
        try making.hold {
            try checkNotEnded()
            return try body()
        }
    }

    /// Sets the policy for the following checkpoints.
    func set(_ policy: CheckpointPolicy) { making.hold { self.policy = policy } }
}
