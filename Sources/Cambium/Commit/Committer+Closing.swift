import CambiumGraph
internal import CambiumLog
import CambiumModel

extension Committer {
    /// Waits for the work that is under way, closes the log and releases the lock. Does nothing if the store was closed before.
    ///
    /// Throws `.outcomeUnknown` if earlier commits may not be durable.
    func close() throws(CambiumError) {
        try checkOutsideOfWrites("close")
        if !(writing.hold { isClosed }) { checkpointer?.makeAtClosing { _ = try checkpoint() } }
        let pending = writing.hold { () -> Pending? in
            if isClosed { return nil }
            isClosed = true
            stopTimer()
            return join(nil, timeline.head, durability == .memory ? .memory : .synced, .thread)
        }
        guard let pending else { return }
        defer { releaseLock() }
        checkpointer?.end()
        sealing?.close()
        let settled = Result { () throws(CambiumError) in try settle(pending) }
        let closed = Result { () throws(CambiumError) in
            try writing.hold { () throws(CambiumError) in
                try log?.close(checkpointer?.tree.tree, after: checkpointer?.tree.end)
                show(timeline.head)
            }
        }
        // The caller must learn first whether its commits are durable, and only then why the files could not be closed.
        _ = try settled.get()
        try closed.get()
    }

    /// Ends the background work and releases the lock without closing the log, as the death of the process would.
    func abandon() {
        writing.hold {
            isClosed = true
            stopTimer()
        }
        checkpointer?.end()
        sealing?.abandon()
        lock?.unlock()
    }

    /// The number of superseded versions that readers hold, and three numbers of bytes: of the pages that only these versions reach, of all
    /// pages, and of the memory that pages take.
    var memory: (pinnedVersionCount: Int, pinnedByteCount: Int, pageByteCount: Int, reservedByteCount: Int) {
        writing.hold(for: "memory") {
            (timeline.pinnedVersionCount, timeline.pinnedByteCount, timeline.pageByteCount, timeline.reservedByteCount)
        }
    }

    /// Lets another writer open the store. A lease names the chunks that graphs of this store map, so that no process overwrites them. If
    /// the lease cannot be made, the lock stays until the last of these graphs is gone.
    func releaseLock() {
        guard let lock else { return }
        do throws(CambiumError) {
            let name = environment.randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) }
            if let lease = try checkpointer?.lease(name, whileNoThreadWrites) { timeline.keep(lease) }
            lock.unlock()
        } catch {
            timeline.keep(lock)
        }
    }
}
