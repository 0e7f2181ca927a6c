import CambiumGraph
internal import CambiumLog
import CambiumModel

/// The lock of a store's directory, which keeps other writers out until this store can no longer write.
struct StoreLock: Sendable {
    private let lock: any VolumeLock
    private let volume: any Volume
    private let store: [UInt8]
    /// The file of pages to which the next checkpoint is written. It may not exist yet.
    private let pageFile: UInt64
    /// The file of pages from which the store was opened; `nil` if the whole log was replayed.
    private let sourceFile: UInt64?

    init(_ lock: any VolumeLock, of log: LogWriter, pageFile: UInt64, sourceFile: UInt64?) {
        (self.lock, volume, store) = (lock, log.volume, log.store)
        (self.pageFile, self.sourceFile) = (pageFile, sourceFile)
    }

    /// Lets another writer open the store. A lease (a small file) lists the chunks (64 KiB of pages) that graphs of this process map, so
    /// that no process overwrites these chunks. If the lease cannot be created, or if the directory was moved away, the store stays locked
    /// until the last graph that maps chunks has been released.
    ///
    /// - Parameters:
    ///   - mapped: the chunks (64 KiB of pages) that versions of this process map from files.
    ///   - name: the number in the name of the lease. If another lease has this number, the lease gets the next free number.
    func release(for timeline: Timeline, mapped: (ofSource: [Int], ofStorage: [Int]), name: UInt64) {
        do throws(CambiumError) {
            guard let lease = try lease(name, mapped) else { return lock.unlock() }
            // If a copy of the store has taken the place of the directory, the lease is in the copy. Only the lock protects the chunks in
            // the directory that was moved away.
            if !lock.isInPlace { return timeline.keep(LockedLease(lease: lease, lock: lock)) }
            timeline.keep(lease)
            lock.unlock()
        } catch {
            timeline.keep(lock)
        }
    }

    /// Releases the lock without creating a lease, as if the process had died.
    func abandon() { lock.unlock() }

    /// Creates a lease that lists the mapped chunks, so that later writers overwrite none of these chunks while the lease exists. Returns
    /// `nil` if no chunk is mapped. Throws if the lease cannot be created, or if the store is no longer in its directory.
    private func lease(_ name: UInt64, _ mapped: (ofSource: [Int], ofStorage: [Int])) throws(CambiumError) -> ChunkLease? {
        var chunks = [pageFile: mapped.ofStorage]
        if let sourceFile { chunks[sourceFile] = (chunks[sourceFile, default: []] + mapped.ofSource).sorted() }
        chunks = chunks.filter { !$0.value.isEmpty }
        if chunks.isEmpty { return nil }
        // If the directory was moved away, a lease at its old path would protect nothing, but the lock has moved with the directory. If the
        // directory was removed, creating the lease would create the directory again.
        if !lock.isInPlace {
            let settings = try StoreSettings.read(volume)
            guard settings.store == store else {
                throw CambiumError(
                    .ioFailure,
                    "'\(volume.name)' now contains another store, because the open store was moved or removed. "
                        + "Close the open store, and open it at its new path.")
            }
        }
        return try ChunkLease(volume, store: store, name: name, chunks: chunks)
    }
}

/// A lease and the lock of a store, which end together.
private final class LockedLease {
    private let lease: ChunkLease
    private let lock: any VolumeLock

    init(lease: ChunkLease, lock: any VolumeLock) { (self.lease, self.lock) = (lease, lock) }

    deinit { lock.unlock() }
}
