import CambiumGraph
import CambiumModel

/// The state that the registry changes: the live queries, and their pending changes.
extension LiveRegistry {
    /// The reason why a live query ended.
    enum Ending {
        case closed
        case failed(any Error)
    }

    /// The entry of one live query in the registry: the changes that its consumer has not received, and the consumer's wait.
    struct Seat {
        /// The last transaction that the consumer knows.
        var last: TransactionNumber
        var keys: [LiveKey] = []
        var touched: [TouchedObjects] = []
        /// The number of changed properties in `touched`.
        var touchedCount = 0
        var isWhole = false
        var waiter: CheckedContinuation<Void, Never>?
        var ending: Ending?

        var hasNews: Bool { isWhole || !touched.isEmpty }
        /// Whether the pending changes may alter the set of properties on which the result of the query depends.
        var mayHaveOtherKeys: Bool { isWhole || touched.contains { $0.changesSchema } }
    }

    /// The entries of all live queries, and the task that reports changes to them. The registry protects the state with a mutex.
    struct State {
        var seats: [Int: Seat] = [:]
        var numbersByKey: [LiveKey: Set<Int>] = [:]
        /// The numbers of the queries whose dependencies (the properties on which their results depend) are not known yet. Every change
        /// concerns these queries.
        var unknown: Set<Int> = []
        /// The numbers of the queries whose first graph is later than `newest`. The next report contains the differences between `newest`
        /// and a graph that may be later still. The report omits each change that was made before a query's first graph, and undone after
        /// that graph. So these queries must run again.
        var early: Set<Int> = []
        var nextNumber = 0
        /// The last graph whose changes were reported; `nil` if no pump task (the task that reports changes) is running.
        var newest: Graph?
        /// The last graph that was reported before the pump task (the task that reports changes) ended. If a query has changes that its
        /// consumer did not receive, the consumer receives them together with this graph.
        var lastGraph: Graph?
        var pump: Task<Void, Never>?
        /// The number of the last pump task, the task that reports changes. Reports of earlier pump tasks are ignored.
        var pumpNumber = 0
    }
}

/// Methods that change the state. Each method is called while the mutex is locked.
extension LiveRegistry.State {
    mutating func removeKeys(of number: Int) {
        for key in seats[number]?.keys ?? [] {
            numbersByKey[key]?.remove(number)
            if numbersByKey[key]?.isEmpty == true { numbersByKey[key] = nil }
        }
        seats[number]?.keys = []
    }

    /// Records that the properties on which the queries depend are unknown, because a transaction has changed the schema. Omits the queries
    /// whose consumers already know the transaction.
    mutating func forgetKeys(before transaction: TransactionNumber) {
        for (number, seat) in seats where seat.last < transaction { unknown.insert(number) }
    }

    mutating func takePump() -> Task<Void, Never>? {
        defer { (pump, newest) = (nil, nil) }
        return pump
    }

    mutating func takeWaiter(_ number: Int) -> CheckedContinuation<Void, Never>? {
        defer { seats[number]?.waiter = nil }
        return seats[number]?.waiter
    }

    /// Ends a query. If the reason is an error, discards the pending changes, so that the consumer receives the error immediately.
    mutating func end(_ number: Int, _ ending: LiveRegistry.Ending) {
        guard var seat = seats[number], seat.ending == nil else { return }
        seats[number] = nil
        seat.ending = ending
        if case .failed = ending { (seat.touched, seat.isWhole) = ([], false) }
        seats[number] = seat
    }

    /// Records changes for one query. Returns the consumer's continuation if the consumer is waiting.
    mutating func track(
        _ touched: TouchedObjects, _ transaction: TransactionNumber, _ number: Int
    ) -> CheckedContinuation<Void, Never>? {
        // An ended query gets no changes from a later pump task. The first changes of that task begin at a later graph, so they do not
        // continue the changes of the query.
        guard var seat = seats[number], seat.ending == nil, transaction > seat.last else { return nil }
        seats[number] = nil
        seat.touchedCount += touched.count
        if seat.isWhole || seat.touchedCount > LiveRegistry.touchedCountMax || seat.touched.count == LiveRegistry.graphCountMax {
            (seat.isWhole, seat.touched) = (true, [])
        } else {
            seat.touched.append(touched)
        }
        let waiter = seat.waiter
        seat.waiter = nil
        seats[number] = seat
        return waiter
    }

    /// Removes from `early` each query whose first graph is not later than `transaction`. If its first graph is earlier than `transaction`,
    /// the query must run again. Returns the continuations of the consumers that are waiting for a query that must run again.
    mutating func trackEarly(_ transaction: TransactionNumber) -> [CheckedContinuation<Void, Never>] {
        var waiters: [CheckedContinuation<Void, Never>] = []
        for number in early {
            guard let seat = seats[number], seat.last <= transaction else { continue }
            early.remove(number)
            if seat.last == transaction || seat.ending != nil { continue }
            seats[number]?.isWhole = true
            if let waiter = takeWaiter(number) { waiters.append(waiter) }
        }
        return waiters
    }

    /// Removes and returns the pending changes of one query. Also returns the reason why the query ended, if it has ended.
    mutating func take(_ number: Int) -> (LiveRegistry.News?, LiveRegistry.Ending?) {
        guard var seat = seats[number] else { return (nil, .closed) }
        guard seat.hasNews, let newest = newest ?? lastGraph else { return (nil, seat.ending) }
        let news = LiveRegistry.News(graph: newest, touched: seat.touched, isWhole: seat.isWhole)
        (seat.touched, seat.touchedCount, seat.isWhole, seat.last) = ([], 0, false, newest.transaction)
        seats[number] = seat
        return (news, seat.ending)
    }
}
