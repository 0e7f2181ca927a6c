import CambiumGraph
internal import CambiumLog
import CambiumModel

extension Committer {
    /// Waits for what is under way, closes the log and gives up the lock. Nothing if that was done before.
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
        defer { giveUpLock() }
        checkpointer?.end()
        sealing?.close()
        let settled = Result { () throws(CambiumError) in try settle(pending) }
        let closed = Result { () throws(CambiumError) in
            try writing.hold { () throws(CambiumError) in
                try log?.close(checkpointer?.tree.tree, after: checkpointer?.tree.end)
                show(timeline.head)
            }
        }
        // The caller needs to know about its commits first, and only then why the files could not be closed.
        _ = try settled.get()
        try closed.get()
    }

    /// Gives up the lock and nothing else, as the death of the process does.
    func abandon() {
        writing.hold {
            isClosed = true
            stopTimer()
        }
        checkpointer?.end()
        sealing?.abandon()
        lock?.unlock()
    }

    /// How many superseded versions readers hold, what only they reach, and the memory that pages take, in bytes.
    var memory: (pinnedVersionCount: Int, pinnedByteCount: Int, pageByteCount: Int, reservedByteCount: Int) {
        writing.hold(for: "memory") {
            (timeline.pinnedVersionCount, timeline.pinnedByteCount, timeline.pageByteCount, timeline.reservedByteCount)
        }
    }

    /// Lets others write to the store. A lease names the chunks that graphs of it map, so that nobody writes over them; if it cannot be
    /// made, the lock stays for as long as somebody has such a graph.
    func giveUpLock() {
        guard let lock else { return }
        do throws(CambiumError) {
            let name = surroundings.randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) }
            if let lease = try checkpointer?.lease(name, whileNobodyWrites) { timeline.keep(lease) }
            lock.unlock()
        } catch {
            timeline.keep(lock)
        }
    }
}
