internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel
import Dispatch

/// Stores the graph from time to time, while writers go on. Docs/CHECKPOINTS.md.
///
/// SENDABLE: what changes is touched while `making` is held, or is under a lock.
final class Checkpointer: @unchecked Sendable {
    let volume: any Volume
    private let timeline: Timeline
    let store: [UInt8]
    let tuning: LogTuning
    private let making = WriterLock()

    // While `making` is held.
    /// The chunks of the newest root, with their checksums.
    @exclusivity(unchecked) private var chunks: [RootRecord.Chunk]
    /// Frozen, and not stored yet.
    @exclusivity(unchecked) private var unstored: Set<Int> = []
    /// Those of them whose memory is the file's.
    @exclusivity(unchecked) private var inFile: Set<Int> = []
    /// Whether the store was closed, so that nothing is written or used again.
    @exclusivity(unchecked) private var isEnded = false
    /// Whether the last checkpoint failed: the system tells once that it could not write what is in the file's memory, and then takes it
    /// for written.
    @exclusivity(unchecked) private var hasFailed = false
    @exclusivity(unchecked) var pageFile: UInt64
    /// As far as checkpoints have needed it. After `end` anybody may read it.
    @exclusivity(unchecked) private(set) var tree: RootTree
    /// Roots that could not be used when the store was opened. They stay until there is a new one: what is left may be all that there is.
    @exclusivity(unchecked) private var passedOver: [TransactionNumber]
    @exclusivity(unchecked) var kept: [TransactionNumber: KeptRoot] = [:]
    @exclusivity(unchecked) var policy: CheckpointPolicy
    /// The file of pages that the store was opened from; nil if the whole log was replayed.
    private let sourceFile: UInt64?
    /// Those of graphs that outlived their store before this one was opened.
    @exclusivity(unchecked) private var leases: ChunkLeases
    /// Whether pages are stored compressed.
    private let isPacked: Bool
    /// Whether chunks were taken for a table since it was last known which chunks roots have.
    @exclusivity(unchecked) private var holdsTableChunks = false

    private let state: Guarded<State>
    private let queue = DispatchQueue(label: "cambium.store.checkpoint", qos: .utility)

    private struct State {
        /// The last transaction in the newest checkpoint.
        var newest: TransactionNumber
        /// Bytes of log since then, or since one could not be made.
        var tailByteCount: Int
        /// What the newest one has, in bytes.
        var storedByteCount: Int
        /// Bytes of memory that pages took when the last one was done.
        var heapByteCount = 0
        /// When the last one was done, as far as this process knows; microseconds since 1970.
        var doneTime: Int64?
        /// Whether one is on its way that nobody waits for.
        var isQueued = false
        var failure: CambiumError?
    }

    /// What is stored, taken while nobody writes.
    struct Snapshot {
        let frozen: FrozenPages
        let transaction: TransactionNumber
        let time: Int64
        let layout: UInt64
        let logPosition: LogPosition
        let schema: SchemaCatalog
        /// Bytes of log behind the checkpoint before.
        let tailByteCount: Int
    }

    /// - Parameters:
    ///   - file: that of the root that the store was opened with; nil where a new one is begun.
    ///   - tailByteCount: the bytes of log behind it.
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
        tree = RootTree(stored.pages?.root)
    }

    private static func byteCount(_ chunks: [RootRecord.Chunk]) -> Int { chunks.count { $0.hasPages } * PageFile.chunkByteCount }

    /// The last transaction in the newest checkpoint.
    var transaction: TransactionNumber { state.withLock { $0.newest } }

    /// Why the last one that was made behind the back of who writes was not; the log has all of it, and the next one is tried later.
    var failure: CambiumError? { state.withLock { $0.failure } }

    /// Bytes of log behind the newest checkpoint, or since one could not be made.
    var tailByteCount: Int { state.withLock { $0.tailByteCount } }

    /// Waits until none is being made, and refuses whatever comes later: other writers may have the files then.
    func end() { making.hold { isEnded = true } }

    /// Only while `making` is held.
    private func checkNotEnded() throws(CambiumError) {
        if isEnded { throw CambiumError(.notWritable, "The store was closed.") }
    }

    // MARK: When

    /// Counts the bytes that were logged. Only while nobody else writes.
    ///
    /// - Returns: whether a checkpoint is due, because the bytes are many, memory or pages are short, or the last checkpoint is old.
    ///   Then the caller calls `makeSoon`.
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

    /// Has a checkpoint made that `note` has found due.
    func makeSoon(_ make: @escaping @Sendable () throws -> Void) {
        // A block that has not begun when the store is gone holds nothing of it.
        queue.async { [weak self] in self?.attempt(make) }
    }

    /// Makes a checkpoint before the store is closed, if the next opening would take long without it.
    func makeAtClosing(_ make: () throws -> Void) {
        if state.withLock({ $0.tailByteCount >= tuning.closingCheckpointByteCount }) { attempt(make) }
    }

    /// Names the chunks that versions of this process map from files, so that later writers leave them alone. Only with the store's lock.
    ///
    /// Throws if the disk refuses; then nobody may write to the store for as long as somebody has a graph of it.
    ///
    /// - Parameter name: a number that no lease of the store has.
    /// - Returns: nil if no chunk is mapped. Later writers leave the chunks alone for as long as somebody has the lease.
    func lease(_ name: UInt64, _ whileNobodyWrites: (() -> Void) -> Void) throws(CambiumError) -> ChunkLease? {
        var mapped: (ofSource: [Int], ofStorage: [Int]) = ([], [])
        whileNobodyWrites { mapped = timeline.mappedChunks }
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

    /// How many chunks the table of a checkpoint takes.
    func tableChunkCount(_ transaction: TransactionNumber, _ schema: SchemaCatalog, chunkCount: Int) throws(CambiumError) -> Int {
        try RootRecord.tableChunkCount(transaction, schema: schema, chunkCount: chunkCount, isPacked: isPacked, tuning: tuning)
    }

    // MARK: Making

    /// Makes a checkpoint.
    ///
    /// - Parameters:
    ///   - take: takes the snapshot, while nobody writes; nil where there is nothing new.
    ///   - makeDurable: makes the log durable up to the position that the snapshot names.
    ///   - whileNobodyWrites: calls its closure then.
    func make(
        take: () throws -> Snapshot?, makeDurable: () throws -> Void, whileNobodyWrites: (() -> Void) -> Void
    ) throws -> CheckpointReceipt {
        try making.hold {
            try checkNotEnded()
            // The last checkpoint failed. If its root is there nevertheless, it has its table.
            if holdsTableChunks { try reclaim(keptChunks(), whileNobodyWrites) }
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
                // What was logged meanwhile is behind it.
                state.tailByteCount = max(0, state.tailByteCount - snapshot.tailByteCount)
                state.storedByteCount = Self.byteCount(chunks)
            }
            try dropPassedOver(but: snapshot.transaction)
            let droppedCount = try dropRoots()
            let taken = try keptChunks()
            giveUpMemory(of: taken ?? chunks.map(\.isOwned), whileNobodyWrites)
            try reclaim(taken, whileNobodyWrites)
            return CheckpointReceipt(transaction: snapshot.transaction, byteCount: byteCount, droppedCount: droppedCount)
        }
    }

    /// Opens chunks again that only dropped roots had, releases all disk space that nobody needs, and removes files that no root names.
    func reclaimChunks(whileNobodyWrites: (() -> Void) -> Void) throws {
        try whileNoneIsMade { try reclaim(keptChunks(), keepsSpares: false, whileNobodyWrites) }
    }

    /// Only while `making` is held.
    ///
    /// - Parameter taken: as `keptChunks`.
    private func reclaim(_ taken: [Bool]?, keepsSpares: Bool = true, _ whileNobodyWrites: (() -> Void) -> Void) throws {
        // Where one cannot be read, somebody may have opened it when it was sound: nothing is used again until it is gone.
        guard let taken else { return }
        try removeUnnamedFiles()
        try leases.removeEnded(from: volume)
        let owners = ChunkOwners(isRooted: taken, leased: leases.chunks(of: pageFile))
        var rest: ChunkRelease?
        whileNobodyWrites { rest = timeline.beginReuse(owners, keepsSpares: keepsSpares) }
        holdsTableChunks = false
        while var step = rest, !step.isDone {
            whileNobodyWrites { timeline.take(&step) }
            // The system may take long, so others may write.
            step.releaseTaken()
            rest = step
        }
    }

    /// Removes the files of pages that no root names. Only while `making` is held, and if every root can be read.
    private func removeUnnamedFiles() throws(CambiumError) {
        try PageFileWriter.removeFiles(volume, except: Set(kept.values.map(\.pageFile)).union([pageFile]))
    }

    /// Where memory is short, has the file take the place of what it has, in steps that writers do not notice.
    ///
    /// - Parameter taken: for each chunk, whether a root has it: those that only moments of the past need, too.
    private func giveUpMemory(of taken: [Bool], _ whileNobodyWrites: (() -> Void) -> Void) {
        // What is compressed is not what it is in memory.
        let packed = kept.values.reduce(into: Set<Int>()) { if $1.pageFile == pageFile { $0.formUnion($1.packed) } }
        let stored = taken.indices.filter { taken[$0] && !packed.contains($0) }
        let isShort = timeline.budget.isTight
        for first in stride(from: 0, to: stored.count, by: Self.replacedCountMax) where isShort {
            whileNobodyWrites {
                if timeline.budget.isHalfUsed { timeline.replace(stored[first..<min(first + Self.replacedCountMax, stored.count)]) }
            }
        }
        whileNobodyWrites { state.withLock { $0.heapByteCount = timeline.reservedByteCount } }
    }

    /// Chunks that are replaced at a time: 1 MiB.
    private static let replacedCountMax = 16

    /// - Returns: the bytes that were written; nil where the transaction has a checkpoint that somebody reads. Then its chunks stay as they
    ///   are, and those that were written are written by the next one.
    private func write(_ snapshot: Snapshot, inFile: Set<Int>) throws -> Int? {
        let live = snapshot.frozen.image.live
        let taken = try keptChunks()
        // The files of a checkpoint that failed take space on the disk that this one needs.
        try PageFileWriter.removeInterrupted(volume)
        if taken != nil { try removeUnnamedFiles() }
        var writer = try PageFileWriter(volume, pageFile, isNamed: !chunks.isEmpty)
        defer { writer.close() }
        let fresh = unstored.filter { live[$0] > 0 }.sorted()
        // What a chunk has in its place that is mapped there is what is in memory.
        let mapped = self.inFile
        let stored = try writer.write(
            fresh,
            { [isPacked] chunk in
                if inFile.contains(chunk) { return .none }
                return isPacked && !mapped.contains(chunk) ? .packed : .asItIs
            }
        ) { chunk, body in timeline.withBytes(ofChunk: chunk, body) }
        var next = live.enumerated().map { chunk, live in
            var next = live > 0 && chunk < chunks.count ? chunks[chunk] : RootRecord.Chunk()
            next.live = live
            return next
        }
        for (chunk, stored) in zip(fresh, stored) {
            next[chunk] = RootRecord.Chunk(live: live[chunk], checksum: stored.checksum, packedByteCount: stored.packedByteCount)
        }
        if let taken {
            // Who opens the store next writes into these first: otherwise each process would make the file larger.
            for chunk in live.indices where live[chunk] == 0 && (chunk >= taken.count || !taken[chunk]) { next[chunk] = .unused }
        }
        for chunk in snapshot.frozen.tables { next[chunk] = .table }
        let end = LogReader.Prefix(transaction: snapshot.transaction, time: snapshot.time, position: snapshot.logPosition)
        try tree.advance(to: end, in: volume)
        let root = RootRecord(
            store: store, transaction: snapshot.transaction, time: snapshot.time, fanOutShift: UInt8(PageImage.fanOutShift),
            isPacked: isPacked, layout: snapshot.layout, logPosition: snapshot.logPosition, pageFile: pageFile,
            epoch: snapshot.frozen.image.epoch, pageDirectory: snapshot.frozen.image.directory, schema: snapshot.schema, chunks: next,
            tree: tree.tree)
        // If it fails, either of the two roots of the transaction may be there.
        kept[snapshot.transaction] = nil
        guard let recordByteCount = try writer.finish(root, tuning: tuning) else { return nil }
        chunks = next
        unstored.subtract(fresh)
        self.inFile.subtract(fresh)
        kept[snapshot.transaction] = KeptRoot(root, recordByteCount: recordByteCount)
        return writer.byteCount
    }

    /// Removes the roots that could not be used, now that there is one that can; who has one of them open keeps what it is in.
    private func dropPassedOver(but newest: TransactionNumber) throws {
        for number in passedOver where number != newest {
            if try volume.exists(RootRecord.path(number)) { try volume.remove(RootRecord.path(number)) }
            kept[number] = nil
        }
        if !passedOver.isEmpty { try volume.syncDirectory(RootRecord.directory) }
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

    /// Has a policy followed from the next checkpoint on.
    func set(_ policy: CheckpointPolicy) { making.hold { self.policy = policy } }
}
