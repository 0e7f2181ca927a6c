internal import CambiumBytes
import CambiumGraph
package import CambiumLog
public import CambiumModel

extension Store {
    /// Creates a store in a directory that does not exist yet, is empty, or contains only the files of an interrupted creation.
    ///
    /// The store exists once its first transaction, which contains the schema, is durable. Throws `.cannotCreate` if anything else is in
    /// the directory, and `.locked` if another process is creating a store there. Throws `.ioFailure` if a file operation fails, and
    /// `.invalidInput` for the durability `.memory`. After an error, the directory is unchanged.
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
    /// An existing store keeps its schema; `migrate(to:)` changes it. Throws as `open` and `create` do.
    ///
    /// ```swift
    /// let store = try Store.open(at: "notes", creating: schema)
    /// ```
    ///
    /// - Parameters:
    ///   - path: The directory of the store.
    ///   - schema: The schema of a new store.
    ///   - durability: The durability of this store object. If it is `nil`, a new store is `.synced`, and an existing store has the
    ///     durability with which it was created.
    ///   - author: The author of the first transaction of a new store.
    ///   - environment: The clock and the source of random bytes.
    ///   - memory: The memory budget for the pages of the graph.
    ///   - limit: The time for which the call waits while another process has the store open for writing.
    public static func open(
        at path: String, creating schema: Schema, durability: Durability? = nil, author: Author = Author(),
        environment: StoreEnvironment = .system, memory: MemoryBudget = .standard, waitingUpTo limit: Duration = .zero
    ) throws -> Store {
        var attemptCount = 0
        while true {
            attemptCount += 1
            do {
                return try open(at: path, durability: durability, environment: environment, memory: memory, waitingUpTo: limit)
            } catch let error as CambiumError where error.code == .notFound {
                do {
                    return try create(
                        at: path, schema: schema, durability: durability ?? .synced, author: author, environment: environment,
                        memory: memory)
                } catch let error as CambiumError where error.code == .cannotCreate {
                    // Another process may have created the store in the meantime, or may still be creating it. So another attempt follows.
                    if attemptCount == creationAttemptMax { throw error }
                }
            }
        }
    }

    /// The maximum number of attempts to open or create a store. Without a maximum, the attempts would never end if the directory contains
    /// other files.
    private static let creationAttemptMax = 10

    /// Creates a store that exists only as long as the process. It has no checkpoints and no earlier moments; otherwise, it behaves like a
    /// store on disk. Throws as `create` does if the first transaction, which contains the schema, cannot be committed.
    public static func inMemory(
        schema: Schema, author: Author = Author(), environment: StoreEnvironment = .system, memory: MemoryBudget = .standard
    ) throws -> Store {
        try Timeline.checkMemory()
        let timeline = Timeline(memory: memory, key: HashKey(secret: environment.randomBytes(16)))
        let writer = WriterState(timeline, nil, nil, .memory, environment)
        let store = Store(CommitQueue(writer, nil), nil, recovery: RecoveryReport())
        try store.begin(schema, author)
        return store
    }

    /// Creates a store on a volume. The first transaction contains the schema.
    package static func create(
        _ volume: any Volume, schema: Schema, durability: Durability, author: Author = Author(),
        environment: StoreEnvironment = .system, tuning: LogTuning = .standard,
        memory: MemoryBudget = .standard
    ) throws -> Store {
        let setting: StoreSettings.Durability =
            if case .buffered(let interval) = durability { .buffered(microseconds: max(1, interval.microseconds)) } else { .synced }
        let now = environment.now()
        try ClockLimit.check(now, after: .min)
        let settings = StoreSettings(
            store: environment.randomBytes(16), indexSecret: environment.randomBytes(16),
            creationTime: now.microsecondsSince1970,
            durability: setting)
        return try create(volume, settings, durability: durability, environment: environment, tuning: tuning, memory: memory) {
            try $0.begin(schema, author)
        }
    }

    /// Creates a store and opens it.
    ///
    /// - Parameter begin: writes the first transaction, which contains the schema.
    static func create(
        _ target: any Volume, _ settings: StoreSettings, durability: Durability?, environment: StoreEnvironment, tuning: LogTuning,
        memory: MemoryBudget, begin: (Store) throws -> Void
    ) throws -> Store {
        try StoreCreation.make(in: target, store: settings.store) { volume in
            try LogWriter.create(volume, settings, saltSeed: environment.randomBytes(16))
            let store = try open(
                volume, try volume.lock(LogWriter.lockFileName), durability: durability, environment: environment, tuning: tuning,
                memory: memory, requiring: .nothing)
            do {
                try begin(store)
                try store.close()
            } catch {
                store.abandon()
                throw error
            }
        } open: { lock in
            try open(target, lock, durability: durability, environment: environment, tuning: tuning, memory: memory)
        }
    }

    /// Writes the first transaction, which contains the schema.
    private func begin(_ schema: Schema, _ author: Author) throws {
        _ = try transact(author) { try $0.record(.schema(schema.catalog)) }
    }

    /// Opens a store for writing: takes its lock, and replays the log after the newest checkpoint. Cuts off the incomplete bytes that a
    /// crash left at the end of the log.
    ///
    /// Throws `.notFound` if there is no store, `.locked` if another process is writing to the store, and `.corrupted` if the log of the
    /// store is corrupt. In these cases, nothing was changed. Complexity: O(chunks + bytes of the log after the newest checkpoint), or
    /// O(bytes of the log) if no checkpoint can be used.
    ///
    /// - Parameters:
    ///   - path: The directory of the store.
    ///   - durability: The durability of this store object; `nil` for the durability that the store was created with.
    ///   - environment: The clock and the source of random bytes.
    ///   - memory: The memory budget for the pages of the graph.
    ///   - limit: The time for which the call waits while this process or another one has the store open for writing. The call blocks its
    ///     thread, tries again at most every 50 ms, and throws `.locked` at the end of this time. By default, it throws at once.
    public static func open(
        at path: String, durability: Durability? = nil, environment: StoreEnvironment = .system, memory: MemoryBudget = .standard,
        waitingUpTo limit: Duration = .zero
    ) throws -> Store {
        if durability == .memory {
            throw CambiumError(.invalidInput, "A store on disk cannot have the durability .memory. Choose .synced or .buffered.")
        }
        return try open(
            SystemVolume(root: path), durability: durability, environment: environment, memory: memory, waitingUpTo: limit)
    }

    package static func open(
        _ volume: any Volume, durability: Durability?, environment: StoreEnvironment = .system, tuning: LogTuning = .standard,
        memory: MemoryBudget = .standard, waitingUpTo limit: Duration = .zero
    ) throws -> Store {
        // Checks first, so that a directory without a store does not get a lock file.
        try StoreSettings.checkPresence(volume)
        let lock = try volume.lock(LogWriter.lockFileName, waitingUpTo: limit)
        do {
            try StoreCreation.removeFinishedMark(volume)
            return try open(volume, lock, durability: durability, environment: environment, tuning: tuning, memory: memory)
        } catch {
            lock.unlock()
            throw error
        }
    }

    /// Opens a store. The caller holds the lock of the store. If this method succeeds, the returned object takes over the lock.
    ///
    /// - Parameter content: the transactions that the log must have.
    private static func open(
        _ volume: any Volume, _ lock: any VolumeLock, durability: Durability?, environment: StoreEnvironment, tuning: LogTuning,
        memory: MemoryBudget, requiring content: ReplayedStore.Content = .store
    ) throws -> Store {
        let loaded = try LoadedCheckpoint(LogReader(volume), memory: memory, tuning: tuning)
        let newFile = environment.randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) }
        let replayed = try ReplayedStore(OwnedCheckpoint(loaded, newFile: newFile), requiring: content)
        let recorded = Durability(replayed.reader.settings.durability)
        return try Store(replayed, lock, durability ?? recorded, environment, tuning)
    }

    /// Creates the store object for a store that was opened and replayed, and takes over the lock of the store. If the initializer throws,
    /// the caller keeps the lock.
    private convenience init(
        _ replayed: consuming ReplayedStore, _ lock: any VolumeLock, _ durability: Durability, _ environment: StoreEnvironment,
        _ tuning: LogTuning
    ) throws {
        let (timeline, pages, reader) = (replayed.timeline, replayed.pages, replayed.reader)
        timeline.limit(to: PageCapacity(chunkCountMax: tuning.chunkCountMax))
        let log = try LogWriter(reader, replayed.end, preallocates: durability == .synced, tuning: tuning) { environment.randomBytes(16) }
        log.lock = lock
        pages.memory.lock = lock
        Heap.trim()
        let sealing = Sealing(log, tuning)
        sealing.tidy()
        // A shared lock on a checkpoint record keeps a writer from dropping the checkpoint. This store object is now the only writer, and
        // knows which chunks (64 KiB of pages) are in use. So it does not need the shared lock.
        pages.stored?.releaseShare()
        let storeLock = StoreLock(lock, of: log, pageFile: pages.file, sourceFile: pages.stored?.root.pageFile)
        let commits = CommitQueue(WriterState(timeline, log, storeLock, durability, environment), sealing)
        let tail = NewestCheckpoint(loggedByteCount: -replayed.end.byteCount, replayWork: -replayed.replayWork)
        let checkpointer = Checkpointer(commits, log, pages, tail, tuning: tuning, policy: CheckpointPolicy(reader.settings))
        self.init(commits, CheckpointScheduler(checkpointer), recovery: replayed.recovery)
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
