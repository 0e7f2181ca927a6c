internal import CambiumBytes
import CambiumGraph
import CambiumModel

/// Transactions that one sync makes durable, and who waits for it.
///
/// The first to join an idle store leads: it writes the group and syncs. Who joins while a sync is under way waits in the next
/// group, one of which is chosen to lead when that sync has ended; so a sync is shared by all who came during the one before.
///
/// SENDABLE: the store's writing lock guards the properties, until the leader has closed the group; the rest is made for threads.
final class CommitGroup: @unchecked Sendable {
    private enum Word {
        static let waiting: UInt32 = 0
        static let lacksLeader: UInt32 = 1
        static let settled: UInt32 = 2
    }

    typealias Outcome = Result<Void, CambiumError>

    /// The newest graph of the group.
    @exclusivity(unchecked) var graph: Graph?
    @exclusivity(unchecked) var transactionCount = 0
    /// How many threads have joined that will call `wait`.
    @exclusivity(unchecked) var threadCount = 0
    /// How many wait by a listener.
    @exclusivity(unchecked) var listenerCount = 0
    /// Bytes of the frame that the transactions were written in.
    @exclusivity(unchecked) var byteCount = 0
    @exclusivity(unchecked) private var outcome = Outcome.success(())
    private let listeners = Guarded<[@Sendable (Outcome) -> Void]?>([])
    private let word = WaitWord(Word.waiting)

    var isEmpty: Bool { threadCount == 0 && listenerCount == 0 }
    var shareByteCount: Int { transactionCount == 0 ? 0 : byteCount / transactionCount }

    /// How the group was settled; nil where it is not yet.
    var outcomeIfSettled: Outcome? { word.value == Word.settled ? outcome : nil }

    /// Sleeps until the group is settled and returns how, or until the caller has to lead it and returns nil.
    func wait() -> Outcome? {
        while true {
            switch word.value {
            case Word.settled: return outcome
            case Word.lacksLeader: if word.exchange(Word.lacksLeader, by: Word.waiting) { return nil }
            default: word.wait(while: Word.waiting)
            }
        }
    }

    /// Has one of the threads that wait lead the group.
    func chooseLeader() {
        word.value = Word.lacksLeader
        word.wakeOne()
    }

    /// Calls `listener` when the group is settled, on the thread that settles it, or at once.
    func notify(_ listener: @escaping @Sendable (Outcome) -> Void) {
        let isWaiting = listeners.withLock { listeners in
            listeners?.append(listener)
            return listeners != nil
        }
        if !isWaiting { listener(outcome) }
    }

    /// Has all who wait know the outcome.
    ///
    /// - Parameter sleeperCount: how many threads wait, besides the calling one.
    func settle(_ outcome: Outcome, sleeperCount: Int) {
        self.outcome = outcome
        word.value = Word.settled
        if sleeperCount > 0 { word.wakeAll() }
        let waiting = listeners.withLock { listeners in
            defer { listeners = nil }
            return listeners
        }
        for listener in waiting ?? [] { listener(outcome) }
    }
}

/// What became of the transactions that are written in one frame.
///
/// SENDABLE: it is written while the store's writing lock is held, and read when the group is settled.
final class FrameFate: @unchecked Sendable {
    /// Whether the system has the bytes of the frame.
    @exclusivity(unchecked) var isWritten = false
    /// Why it was not written.
    @exclusivity(unchecked) var failure: CambiumError?
}
