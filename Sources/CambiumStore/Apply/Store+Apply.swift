import CambiumGraph
package import CambiumLog
import CambiumModel

extension Store {
    /// Copies the missing transactions from another store to this store.
    ///
    /// The transactions keep their numbers, authors, messages, requests and times, and each object has the same id in both stores.
    /// Docs/Operate/APPLY.md has the rules.
    ///
    /// If the source has no new transactions, nothing is written. This store must be an earlier state of the source. Either the source was
    /// applied to this store earlier, or this store has only one transaction, with the same schema as the source's first transaction. A
    /// transaction that is older than this store's first transaction gets the time of that first transaction. The log of this store also
    /// records the difference, so the original time is not lost.
    ///
    /// Throws `.notFound` if there is no source. Throws `.conflict`, and writes nothing, if this store has a transaction that the source
    /// lacks. Throws `.corrupted` if the source's log is corrupt or has lost its end, and `.ioFailure` if a disk operation fails. After
    /// `.corrupted` or `.ioFailure`, this store contains the transactions before the failure, and applying the source again continues after
    /// them. Readers see each transaction once it is durable.
    ///
    /// Complexity: O(bytes of the applied transactions, of both graphs, and of both logs after their checkpoints), and memory for the
    /// source's graph.
    public func apply(from source: String) throws -> ApplyReport { try apply(from: SystemVolume(root: source)) }

    package func apply(from source: any Volume) throws -> ApplyReport { try apply(from: source, pace: .standard) }

    func apply(from source: any Volume, pace: ApplyRun.Pace) throws -> ApplyReport {
        var run = ApplyRun(self, source, pace, createdCount: 0)
        try run.run()
        return run.report
    }

    /// Applies the changes of one store to the store at a path, as `apply(from:)` does.
    ///
    /// If there is no store at the path, a new store is created. The new store gets the durability of the source. The Merkle tree of the
    /// new store gets the same root as the tree of the source.
    ///
    /// Throws as `apply(from:)` does. Also throws `.cannotCreate` if something other than a store is at the target, and `.locked` if
    /// another process is writing to the target.
    ///
    /// - Parameters:
    ///   - source: The directory of the store to read the changes from.
    ///   - target: The directory of the store that gets the changes.
    ///   - limit: The time for which the call waits while another process has the target open for writing, as `open` does.
    public static func apply(from source: String, to target: String, waitingUpTo limit: Duration = .zero) throws -> ApplyReport {
        let (source, target) = (SystemVolume(root: source), SystemVolume(root: target))
        // Checks the source first, so that a wrong path of the source creates no target.
        try StoreSettings.checkPresence(source)
        try target.checkIsOutside(of: source)
        return try target.withDirectory { try apply(from: source, to: target, waitingUpTo: limit) }
    }

    static func apply(
        from source: any Volume, to target: any Volume, environment: StoreEnvironment = .system, tuning: LogTuning = .standard,
        pace: ApplyRun.Pace = .standard, waitingUpTo limit: Duration = .zero
    ) throws -> ApplyReport {
        let isNew = try !StoreSettings.isPresent(target)
        let store =
            try isNew
            ? created(target, from: LogReader(source), environment, tuning)
            : open(target, durability: nil, environment: environment, tuning: tuning, memory: .standard, waitingUpTo: limit)
        do {
            var run = ApplyRun(store, source, pace, createdCount: isNew ? 1 : 0)
            try run.run()
            try store.close()
            return run.report
        } catch {
            // Ignores an error of closing, because the caller needs the error of the run. The work that closing could not do is done when
            // the store is next opened.
            try? store.close()
            throw error
        }
    }

    /// Creates a store with the first transaction of another store.
    private static func created(
        _ target: any Volume, from reader: LogReader, _ environment: StoreEnvironment, _ tuning: LogTuning
    ) throws -> Store {
        let first = try reader.firstRecord()
        var settings = reader.settings
        settings.store = environment.randomBytes(16)
        settings.indexSecret = environment.randomBytes(16)
        return try create(
            target, settings, durability: nil, environment: environment, tuning: tuning, memory: .standard
        ) { store in
            try store.waitForDisk(for: store.pipeline.copy(first).pending)
        }
    }

    /// Waits until everything that was committed is as durable as the store promises.
    func waitForDisk() throws { _ = try transact(Author(), for: "apply") { _ in } }

    /// Waits as `waitForDisk()` does. If the disk failed, throws the error of `pending`: the error of waiting would state that the call
    /// changed nothing.
    func waitForDisk(for pending: PendingCommit?) throws {
        let waited = Result { try waitForDisk() }
        _ = try pending?.outcome?.get()
        try waited.get()
    }
}
