internal import CambiumBytes
import CambiumGraph
import CambiumModel

/// The transactions that one sync makes durable, and the callers that are waiting for this sync.
///
/// The first commit of an idle store leads: its thread writes the group and syncs. Commits that arrive during a sync wait in the next
/// group. When the sync has ended, one of the waiting threads leads the next group. So one sync serves all commits that arrived during the
/// previous sync.
///
/// SENDABLE: the writer's lock guards the properties until the leader closes the group to further commits. Any thread may use `listeners`
/// and `word`. `outcome` is set before `word` states that the group is settled.
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
    /// The number of threads that have joined the group and will call `wait`.
    @exclusivity(unchecked) var threadCount = 0
    /// The number of commits in the group for which no thread is waiting. The outcome of such a commit goes to a listener or a ticket.
    @exclusivity(unchecked) var listenerCount = 0
    /// The number of bytes that the transactions of the group take in the log.
    @exclusivity(unchecked) var byteCount = 0
    /// The outcomes of the transactions that were written and not synced yet. The refs of records that they saved read these outcomes.
    @exclusivity(unchecked) var outcomes: [TransactionOutcome] = []
    @exclusivity(unchecked) private var outcome = Outcome.success(())
    private let listeners = Guarded<[@Sendable (Outcome) -> Void]?>([])
    private let word = Futex(Word.waiting)

    var isEmpty: Bool { threadCount == 0 && listenerCount == 0 }
    var shareByteCount: Int { transactionCount == 0 ? 0 : byteCount / transactionCount }

    /// The outcome of the group; `nil` if it is not known yet.
    var outcomeIfSettled: Outcome? { word.value == Word.settled ? outcome : nil }

    /// Records that the written transactions cannot be undone any more.
    func confirmOutcomes() {
        for outcome in outcomes { outcome.confirm() }
        outcomes = []
    }

    /// Records that it is not known whether the written transactions survive.
    func loseOutcomes() {
        for outcome in outcomes { outcome.lose() }
        outcomes = []
    }

    /// Sleeps until the outcome of the group is known, and returns it. Returns `nil` if the calling thread must lead the group: write it
    /// and sync.
    func wait() -> Outcome? {
        while true {
            switch word.value {
            case Word.settled: return outcome
            case Word.lacksLeader: if word.exchange(Word.lacksLeader, by: Word.waiting) { return nil }
            default: word.wait(while: Word.waiting)
            }
        }
    }

    /// Wakes one of the waiting threads to lead the group: to write its transactions and sync.
    func chooseLeader() {
        word.value = Word.lacksLeader
        word.wakeOne()
    }

    /// Calls `listener` when the outcome of the group is known, on the thread that calls `settle`. If the outcome is already known, calls
    /// `listener` immediately.
    func notify(_ listener: @escaping @Sendable (Outcome) -> Void) {
        let isWaiting = listeners.withLock { listeners in
            listeners?.append(listener)
            return listeners != nil
        }
        if !isWaiting { listener(outcome) }
    }

    /// Sets the outcome of the group, wakes the threads that are waiting, and calls the listeners.
    ///
    /// - Parameter sleeperCount: the number of threads that are waiting, not counting the calling thread.
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

/// The fate of the transactions of one frame, which are written together: whether they were written, and if not, why.
///
/// SENDABLE: threads change the properties only while they hold the writer's lock, and read the properties without the lock only after the
/// group is settled.
final class FrameFate: @unchecked Sendable {
    /// Whether the transactions were passed to the kernel.
    @exclusivity(unchecked) var isWritten = false
    /// The reason why the transactions were not written; `nil` if there was no failure.
    @exclusivity(unchecked) private(set) var failure: CambiumError?
    /// The outcomes of the transactions. A `Ref` to an inserted object reads the outcome of the transaction that inserted it.
    @exclusivity(unchecked) var outcomes: [TransactionOutcome] = []

    /// Records that the transactions were not written, and marks each of them as rolled back.
    func fail(_ error: CambiumError) {
        failure = error
        rollBack()
    }

    /// Marks each transaction as rolled back, because the transactions will never be written.
    func rollBack() {
        for outcome in outcomes { outcome.rollBack() }
        outcomes = []
    }
}
