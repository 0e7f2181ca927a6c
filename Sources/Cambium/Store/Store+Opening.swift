internal import CambiumBytes
import CambiumGraph
package import CambiumLog
public import CambiumModel

/// The findings of an opening at the end of a log, and its actions.
public struct RecoveryReport: Sendable, Equatable {
    /// Sentences about flaws that did no harm.
    public var notes: [String] = []
    /// The number of bytes after the last transaction that verifies. None of them was known to be durable, and an opening for writing cuts
    /// them off.
    public var cutByteCount = 0
    public var lastTransaction = TransactionNumber.none
    /// The number of transactions that were replayed.
    public var transactionCount = 0
    /// The checkpoint that the replay began with; `.none` if the whole log was replayed.
    public var checkpoint = TransactionNumber.none

    init() {}

    /// - Parameters:
    ///   - end: the end of the log; `nil` if the log was not read to its end.
    ///   - reached: the last transaction that was read in that case.
    init(
        _ reader: LogReader, _ stored: StoredGraph, _ end: LogReader.End?, reached: TransactionNumber = .none, transactionCount: Int
    ) {
        notes = reader.flaws + stored.flaws
        checkpoint = stored.transaction
        lastTransaction = end?.lastTransaction ?? reached
        self.transactionCount = transactionCount
        guard let end else { return }
        if let flaw = end.headFlaw { notes.append(flaw) }
        switch end.verdict {
        case .clean: break
        case .tornTail(let file, let offset, let byteCount):
            cutByteCount = byteCount
            notes.append("\(file): \(byteCount) bytes at offset \(offset) are not a whole transaction; they were never known to be durable")
        case .tornCreation(let file):
            notes.append("\(file): the process ended while it created this segment, which has no transactions")
        }
    }
}

extension Store {
    /// Creates a store in a directory that does not exist yet, is empty, or has only the files of an interrupted creation.
    ///
    /// The store exists once its first transaction, which has the schema, is durable. Throws `.cannotCreate` if anything else is in the
    /// directory, and `.locked` if another process creates a store there. Throws `.ioFailure` if the operating system refuses, and
    /// `.invalidInput` for the durability `.memory`. After an error, everything is as before.
    public static func create(
        at path: String, schema: Schema, durability: Durability = .synced, author: Author = Author(),
        environment: StoreEnvironment = .system, memory: MemoryBudget = .standard
    ) throws -> Store {
        if durability == .memory {
            throw CambiumError(.invalidInput, "A store in memory has no path. Use Store.inMemory.")
        }
        let volume = SystemVolume(root: path)
        return try volume.withDirectory {
            try create(volume, schema: schema, durability: durability, author: author, environment: environment, memory: memory)
        }
    }

    /// Opens a store. If the directory has no store, creates one.
    ///
    /// An existing store keeps its schema; `migrate(to:)` changes it. Without a `durability`, an existing store keeps its own, and a new
    /// store is `.synced`. Otherwise throws as `open` and `create` do.
    ///
    ///     let store = try Store.open(at: "notes", creating: schema)
    public static func open(
        at path: String, creating schema: Schema, durability: Durability? = nil, author: Author = Author(),
        environment: StoreEnvironment = .system, memory: MemoryBudget = .standard
    ) throws -> Store {
        do {
            return try open(at: path, durability: durability, environment: environment, memory: memory)
        } catch let error as CambiumError where error.code == .notFound {
            return try create(
                at: path, schema: schema, durability: durability ?? .synced, author: author, environment: environment, memory: memory)
        }
    }

    /// Creates a store that ends with the process. It has no checkpoints and no earlier moments; otherwise it is the same as a store on
    /// disk.
    public static func inMemory(
        schema: Schema, author: Author = Author(), environment: StoreEnvironment = .system, memory: MemoryBudget = .standard
    ) throws -> Store {
        let timeline = Timeline(memory: memory, key: HashKey(secret: environment.randomBytes(16)))
        let writer = WriterState(timeline, nil, nil, .memory, environment)
        let store = Store(CommitQueue(writer, nil), nil, recovery: RecoveryReport())
        try store.begin(schema, author)
        return store
    }

    /// Creates a store on a volume. The first transaction has the schema.
    package static func create(
        _ volume: any Volume, schema: Schema, durability: Durability, author: Author = Author(),
        environment: StoreEnvironment = .system, tuning: LogTuning = .standard,
        memory: MemoryBudget = .standard
    ) throws -> Store {
        let setting: StoreSettings.Durability =
            if case .buffered(let interval) = durability { .buffered(microseconds: max(1, interval.microseconds)) } else { .synced }
        let settings = StoreSettings(
            store: environment.randomBytes(16), indexSecret: environment.randomBytes(16),
            creationTime: environment.now().microsecondsSince1970,
            durability: setting)
        return try create(volume, settings, durability: durability, environment: environment, tuning: tuning, memory: memory) {
            try $0.begin(schema, author)
        }
    }

    /// Creates a store and opens it.
    ///
    /// - Parameter begin: writes the first transaction, which has the schema.
    static func create(
        _ target: any Volume, _ settings: StoreSettings, durability: Durability?, environment: StoreEnvironment, tuning: LogTuning,
        memory: MemoryBudget, begin: (Store) throws -> Void
    ) throws -> Store {
        let (_, lock) = try StoreCreation.make(in: target, store: settings.store) { volume in
            try LogWriter.create(volume, settings, saltSeed: environment.randomBytes(16))
            let store = try open(
                volume, try volume.lock(LogWriter.lockFileName), durability: durability, environment: environment, tuning: tuning,
                memory: memory, isNew: true)
            do {
                try begin(store)
                try store.close()
            } catch {
                store.abandon()
                throw error
            }
        }
        do {
            return try open(target, lock, durability: durability, environment: environment, tuning: tuning, memory: memory)
        } catch {
            lock.unlock()
            throw error
        }
    }

    /// Writes the first transaction, which has the schema.
    private func begin(_ schema: Schema, _ author: Author) throws {
        _ = try transact(author) { try $0.record(.schema(schema.catalog)) }
    }

    /// Opens a store for writing: takes its lock, replays the log after the newest checkpoint, and cuts off the bytes that a crash left
    /// incomplete.
    ///
    /// Throws `.notFound` if there is no store, `.locked` if another process writes to it, and `.damaged` if its log is corrupt; then
    /// nothing was changed. Complexity: O(chunks + log after the newest checkpoint), or O(log) if no checkpoint can be used.
    ///
    /// - Parameters:
    ///   - path: The directory of the store.
    ///   - durability: The durability of this store object; `nil` for the durability that the store was created with.
    ///   - environment: The clock and the source of random bytes.
    ///   - memory: The budget for the memory of its pages.
    public static func open(
        at path: String, durability: Durability? = nil, environment: StoreEnvironment = .system, memory: MemoryBudget = .standard
    ) throws -> Store {
        if durability == .memory { throw CambiumError(.invalidInput, "A store on disk cannot be in memory. Choose synced or buffered.") }
        return try open(SystemVolume(root: path), durability: durability, environment: environment, memory: memory)
    }

    package static func open(
        _ volume: any Volume, durability: Durability?, environment: StoreEnvironment = .system, tuning: LogTuning = .standard,
        memory: MemoryBudget = .standard
    ) throws -> Store {
        // This check comes before anything is written, even the lock file.
        try StoreSettings.checkPresence(volume)
        let lock = try volume.lock(LogWriter.lockFileName)
        do {
            try StoreCreation.removeFinishedMark(volume)
            return try open(volume, lock, durability: durability, environment: environment, tuning: tuning, memory: memory)
        } catch {
            lock.unlock()
            throw error
        }
    }

    /// Opens a store whose lock the caller holds. If this succeeds, the store takes over the lock.
    ///
    /// - Parameter isNew: whether the store is being created, so that it has no transaction yet.
    private static func open(
        _ volume: any Volume, _ lock: any VolumeLock, durability: Durability?, environment: StoreEnvironment, tuning: LogTuning,
        memory: MemoryBudget, isNew: Bool = false
    ) throws -> Store {
        let reader = try LogReader(volume)
        var settings = reader.settings
        let stored = try StoredGraph(reader, memory: memory, tuning: tuning)
        let newFile = environment.randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) }
        let leases = try ChunkLeases(of: volume, store: reader.settings.store)
        // The timeline does not know its file yet, so this releases no disk space in it. The space of unneeded chunks was released when
        // they became unneeded.
        let pageFile = stored.pageFile(of: reader.settings, leases)
        stored.reuseChunks(of: pageFile, leases)
        let chunkCount = stored.pages?.root.chunks.count ?? 0
        stored.timeline.keepPages(in: PageFileMemory(volume, pageFile ?? newFile, chunkCount: chunkCount))
        var replay = try Replay(stored)
        let end = try replay.run(reader)
        if !isNew { try end.requireTransaction(in: volume) }
        // An index is incomplete if an earlier version without ordered indexes wrote the store, or if a process ended while it built one.
        while try stored.timeline.buildIndexes(rowCountMax: 1 << 18) {}
        try settings.upgrade(in: volume)
        let durability = durability ?? Durability(reader.settings.durability)
        stored.timeline.limit(to: PageCapacity(chunkCountMax: tuning.chunkCountMax))
        let log = try LogWriter(reader, end, preallocates: durability == .synced, tuning: tuning) { environment.randomBytes(16) }
        Heap.trim()
        let sealing = Sealing(log, tuning)
        sealing.tidy()
        // A writer need not share the checkpoint record, because it knows which chunks are in use; and it must be able to drop the record.
        stored.pages?.releaseShare()
        let storeLock = StoreLock(lock, of: log, pageFile: pageFile ?? newFile, sourceFile: stored.pages?.root.pageFile)
        let writer = WriterState(stored.timeline, log, storeLock, durability, environment)
        let report = RecoveryReport(reader, stored, end, transactionCount: replay.transactionCount)
        let commits = CommitQueue(writer, sealing)
        let checkpointer = Checkpointer(
            commits, log, stored, pageFile, leases: leases, tailByteCount: end.byteCount, tuning: tuning,
            policy: CheckpointPolicy(reader.settings), newFile: newFile)
        return Store(commits, CheckpointScheduler(checkpointer), recovery: report)
    }
}

extension Durability {
    init(_ setting: StoreSettings.Durability) {
        switch setting {
        case .synced: self = .synced
        case .buffered(let microseconds): self = .buffered(every: .microseconds(microseconds))
        }
    }
}
