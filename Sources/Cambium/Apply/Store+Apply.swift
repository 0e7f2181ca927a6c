import CambiumGraph
package import CambiumLog
import CambiumModel

extension Store {
    /// Writes the transactions of another store, as far as this one lacks them, with their numbers, authors, messages, requests and times:
    /// each object has the same id as there. Docs/APPLY.md has the rules.
    ///
    /// Where nothing is new nothing is written. This store has to be one that the source was applied to before, or one with the same
    /// schema and no other transaction. A time that is before that of this store's first transaction becomes that, and the record keeps
    /// by how much.
    ///
    /// Throws `.notFound` where there is no source; `.conflict` where this store has a transaction that the source has not: then nothing
    /// was written; `.damaged` where the source's log is corrupt, `.ioFailure`: then the transactions before are here, and applying again
    /// goes on behind them. Readers see each transaction as it gets durable. Complexity: O(what is applied, both graphs, and the log behind
    /// their checkpoints), and memory for the source's graph.
    public func apply(from source: String) throws -> ApplyReport { try apply(from: SystemVolume(root: source)) }

    package func apply(from source: any Volume) throws -> ApplyReport { try apply(from: source, pace: .standard) }

    func apply(from source: any Volume, pace: ApplyRun.Pace) throws -> ApplyReport {
        var run = ApplyRun(self, source, pace, createdCount: 0)
        try run.run()
        return run.report
    }

    /// As `apply(from:)`, to the store at a path, which is made where there is none: then it has the source's durability and the same
    /// root.
    ///
    /// Throws as `apply(from:)`, and `.cannotCreate` where something else is at the target, `.locked` where another process writes to it.
    public static func apply(from source: String, to target: String) throws -> ApplyReport {
        let (source, target) = (SystemVolume(root: source), SystemVolume(root: target))
        // Before anything is made.
        try StoreSettings.checkPresence(source)
        try target.checkIsOutside(of: source)
        return try target.withDirectory { try apply(from: source, to: target) }
    }

    static func apply(
        from source: any Volume, to target: any Volume, surroundings: Surroundings = .system, tuning: LogTuning = .standard,
        pace: ApplyRun.Pace = .standard
    ) throws -> ApplyReport {
        let isNew = try !StoreSettings.isPresent(target)
        let store =
            try isNew
            ? created(target, from: LogReader(source), surroundings, tuning)
            : open(target, durability: nil, surroundings: surroundings, tuning: tuning, memory: .standard)
        do {
            var run = ApplyRun(store, source, pace, createdCount: isNew ? 1 : 0)
            try run.run()
            try store.close()
            return run.report
        } catch {
            // Why it failed is what counts; what closing could not do, the next opening does.
            try? store.close()
            throw error
        }
    }

    /// A new store with the first transaction of another one.
    private static func created(
        _ target: any Volume, from reader: LogReader, _ surroundings: Surroundings, _ tuning: LogTuning
    ) throws -> Store {
        let first = try reader.firstRecord()
        var settings = reader.settings
        settings.store = surroundings.randomBytes(16)
        settings.indexSecret = surroundings.randomBytes(16)
        return try create(
            target, settings, durability: nil, surroundings: surroundings, tuning: tuning, memory: .standard
        ) { store in
            let (pending, _) = try store.committer.commit(first)
            try store.waitForDisk()
            _ = try store.committer.outcome(pending)?.get()
        }
    }

    /// Returns when all that was committed is as durable as the store promises.
    func waitForDisk() throws { _ = try transact(Author(), for: "apply") { _ in } }
}
