internal import CambiumLog
import CambiumModel

extension Store {
    /// Creates a store in memory with the newest graph of the store at a path. A program can then find the effects of a change. Takes no
    /// lock, and changes nothing in the files; another process may write to that store at the same time.
    ///
    /// Throws `.notFound` if there is no store, and `.corrupted` if its log is corrupt. Complexity: O(bytes of the log after the newest
    /// checkpoint).
    package static func rehearsal(of path: String) throws -> Store {
        let view = try EarlierView(LogReader(SystemVolume(root: path)), at: .latest, memory: .standard)
        let writer = WriterState(view.timeline, nil, nil, .memory, .system)
        writer.lastTime = view.time
        return Store(CommitQueue(writer, nil), nil, recovery: RecoveryReport())
    }
}
