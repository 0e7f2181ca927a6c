import CambiumGraph
internal import CambiumLog
public import CambiumModel

extension Store {
    /// Syncs, records that the log is closed, and releases the lock. A closed store can be read, but not written.
    ///
    /// Throws `.outcomeUnknown` if earlier commits are not known to be durable, because a sync failed. When the store is next opened, it
    /// shows which of these commits exist. Throws `.ioFailure` if all commits are durable, but the files cannot be closed. Throws `.misuse`
    /// inside the closure of a write; the store then stays open. If another thread is closing the store, waits until that thread has
    /// finished.
    ///
    /// Graphs of the store can still be read, and stay unchanged even if another process then writes to the store. A lease (a small file)
    /// ensures this: it lists the chunks of the store's files that these graphs map. If the lease cannot be written, the lock is released
    /// only when the last of these graphs is released. The store releases the graphs of earlier moments that it kept for `graph(at:)`, and
    /// keeps no more of them. Complexity: O(chunks).
    public func close() throws(CambiumError) {
        try writer.checkOutsideOfWrites("close")
        try writer.closing.hold { () throws(CambiumError) in try closeOnce() }
    }

    /// Closes the store, unless it was closed earlier. Call this method only while the lock `closing` is held.
    private func closeOnce() throws(CambiumError) {
        if !(writer.lock.hold { writer.isClosed }) { checkpoints?.makeAtClosing() }
        let wasOpen = writer.lock.hold {
            if writer.isClosed { return false }
            writer.close()
            commits.stopTimer()
            return true
        }
        guard wasOpen else { return }
        defer {
            writer.bell.end()
            past?.end()
            writer.releaseStoreLock()
        }
        checkpoints?.checkpointer.end()
        commits.sealing?.close()
        // A thread that joins the open group of commits may have to run the next sync. A checkpoint in progress may wait for that sync, and
        // `end` waits for the checkpoint. To avoid a deadlock, this thread joins only after `end` has returned.
        let pending = writer.lock.hold {
            commits.join(nil, writer.timeline.head, durability == .memory ? .memory : .synced, .thread)
        }
        let settled = Result { () throws(CambiumError) in try commits.settle(pending) }
        let closed = Result { () throws(CambiumError) in
            try writer.lock.hold { () throws(CambiumError) in
                let tree = checkpoints?.checkpointer.tree
                try writer.log?.close(tree?.tree, after: tree?.end)
                writer.show(writer.timeline.head)
            }
        }
        // The caller must learn first whether its commits are durable, and only then why the files could not be closed.
        _ = try settled.get()
        try closed.get()
    }

    /// Ends the background work and releases the lock without closing the log, as if the process had died.
    func abandon() {
        writer.lock.hold {
            writer.close()
            commits.stopTimer()
        }
        checkpoints?.checkpointer.end()
        commits.sealing?.abandon()
        writer.bell.end()
        past?.end()
        writer.abandonStoreLock()
    }
}
