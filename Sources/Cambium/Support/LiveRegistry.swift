internal import CambiumBytes
import CambiumGraph
import CambiumModel

/// The live queries of one store, by the properties on which their results depend.
///
/// One task, the pump, compares each visible graph with the previous one, and reports the differences to the registry. Only the queries
/// that the changes concern are updated and woken. For a consumer that does not request updates, the registry keeps a limited number of
/// references to shared changes. Beyond that number, the registry only records that the query must run again.
final class LiveRegistry: Sendable {
    /// The changes that concern one query since the last request of the query's consumer.
    struct News {
        /// The graph to which the changes lead.
        let graph: Graph
        let touched: [TouchedObjects]
        /// Whether changes are missing. If so, the query must run again.
        let isWhole: Bool
    }

    /// The reason why a live query ended.
    fileprivate enum Ending {
        case closed
        case failed(any Error)
    }

    /// The entry of one live query in the registry: the changes that its consumer has not received, and the consumer's wait.
    fileprivate struct Seat {
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

    fileprivate struct State {
        var seats: [Int: Seat] = [:]
        var numbersByKey: [LiveKey: Set<Int>] = [:]
        /// The numbers of the queries whose properties are not known yet. Every change concerns these queries.
        var unknown: Set<Int> = []
        /// The numbers of the queries that began with a graph that is later than `newest`. The next report compares `newest` with a later
        /// graph. It omits a change that such a query has seen in its first graph, if a later transaction undid the change. So these
        /// queries must run again.
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

    private let state = Guarded(State())

    /// The maximum number of changed properties that are kept for a consumer that does not request updates.
    static let touchedCountMax = 65_536
    /// The maximum number of graphs whose changes are kept for a consumer that does not request updates.
    static let graphCountMax = 1024

    /// The number of queries.
    var count: Int { state.withLock { $0.seats.count } }

    /// The number of references to changes that are kept for consumers.
    var pendingCount: Int { state.withLock { $0.seats.values.reduce(0) { $0 + $1.touched.count } } }

    /// The number of consumers that are waiting.
    var waitingCount: Int { state.withLock { $0.seats.values.count { $0.waiter != nil } } }

    /// The graph of the last transaction whose changes were reported; `nil` if there are no live queries.
    var newest: Graph? { state.withLock { $0.newest } }

    /// The last transaction whose changes were reported; `nil` if no task reports changes.
    var noted: TransactionNumber? { newest?.transaction }

    // MARK: Seats

    /// Adds a query. Every change after the returned graph is recorded for the query.
    ///
    /// - Parameters:
    ///   - newest: Returns the graph that readers see.
    ///   - makePump: Creates the pump task that reports the changes after a graph. The second argument is the number that the task passes
    ///     to `note` and `end`.
    func add(_ newest: @Sendable () -> Graph, _ makePump: (Graph, Int) -> Task<Void, Never>) -> (number: Int, graph: Graph) {
        let (number, graph, pumpNumber) = state.withLock { state -> (Int, Graph, Int?) in
            let graph = newest()
            let number = state.nextNumber
            state.nextNumber += 1
            state.seats[number] = Seat(last: graph.transaction)
            state.unknown.insert(number)
            if let reported = state.newest {
                if reported.transaction < graph.transaction { state.early.insert(number) }
                return (number, graph, nil)
            }
            state.newest = graph
            state.pumpNumber += 1
            return (number, graph, state.pumpNumber)
        }
        if let pumpNumber { keep(makePump(graph, pumpNumber), pumpNumber) }
        return (number, graph)
    }

    private func keep(_ pump: Task<Void, Never>, _ number: Int) {
        let isWanted = state.withLock { state in
            guard state.pumpNumber == number, state.newest != nil else { return false }
            state.pump = pump
            return true
        }
        if !isWanted { pump.cancel() }
    }

    /// Sets the properties on which the result of a query depends.
    func set(_ keys: [LiveKey], of number: Int) {
        state.withLock { state in
            state.removeKeys(of: number)
            // The consumer computed the keys before it received its pending changes. If these changes may alter the keys, every change
            // still concerns the query.
            if state.seats[number]?.mayHaveOtherKeys != true { state.unknown.remove(number) }
            state.seats[number]?.keys = keys
            for key in keys { state.numbersByKey[key, default: []].insert(number) }
        }
    }

    /// Removes a query. If it was the last query, cancels the task that reports changes.
    func remove(_ number: Int) {
        let pump = state.withLock { state -> Task<Void, Never>? in
            state.removeKeys(of: number)
            state.unknown.remove(number)
            state.early.remove(number)
            state.seats[number] = nil
            if !state.seats.isEmpty { return nil }
            state.lastGraph = nil
            return state.takePump()
        }
        pump?.cancel()
    }

    // MARK: Changes

    /// Records the changes up to a graph for the queries that they concern.
    func note(_ touched: TouchedObjects, _ graph: Graph, from pumpNumber: Int) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.pumpNumber == pumpNumber, state.newest != nil else { return [] }
            state.newest = graph
            let passed = state.noteEarly(graph.transaction)
            if touched.isEmpty { return passed }
            if touched.changesSchema { state.forgetKeys(before: graph.transaction) }
            var concerned = state.unknown
            for key in touched.keys { if let numbers = state.numbersByKey[key] { concerned.formUnion(numbers) } }
            return passed + concerned.compactMap { state.note(touched, graph.transaction, $0) }
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Ends all queries, because the store was closed or its changes cannot be read.
    func end(_ error: (any Error)?, from pumpNumber: Int) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.pumpNumber == pumpNumber else { return [] }
            state.lastGraph = state.newest
            _ = state.takePump()
            return state.seats.keys.compactMap { number in
                state.end(number, error.map(Ending.failed) ?? .closed)
                return state.takeWaiter(number)
            }
        }
        for waiter in waiters { waiter.resume() }
    }

    // MARK: Consumers

    /// Waits until changes concern a query. Returns `nil` if the store was closed and there is no news. Throws `CancellationError` if the
    /// task is cancelled. If an error ended the task that reports changes, throws that error.
    func news(_ number: Int) async throws -> News? {
        while true {
            try Task.checkCancellation()
            let (news, ending) = state.withLock { $0.take(number) }
            if let news { return news }
            switch ending {
            case .closed?: return nil
            case .failed(let error)?: throw error
            case nil: await wait(number)
            }
        }
    }

    private func wait(_ number: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isWaiting = state.withLock { state in
                    guard let seat = state.seats[number], !seat.hasNews, seat.ending == nil, !Task.isCancelled else { return false }
                    state.seats[number]?.waiter = waiter
                    return true
                }
                if !isWaiting { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.takeWaiter(number) }?.resume()
        }
    }
}

extension LiveRegistry.State {
    fileprivate mutating func removeKeys(of number: Int) {
        for key in seats[number]?.keys ?? [] {
            numbersByKey[key]?.remove(number)
            if numbersByKey[key]?.isEmpty == true { numbersByKey[key] = nil }
        }
        seats[number]?.keys = []
    }

    /// Marks the properties on which the queries depend as unknown, because a transaction has changed the schema. Omits the queries whose
    /// consumers already know the transaction.
    fileprivate mutating func forgetKeys(before transaction: TransactionNumber) {
        for (number, seat) in seats where seat.last < transaction { unknown.insert(number) }
    }

    fileprivate mutating func takePump() -> Task<Void, Never>? {
        defer { (pump, newest) = (nil, nil) }
        return pump
    }

    fileprivate mutating func takeWaiter(_ number: Int) -> CheckedContinuation<Void, Never>? {
        defer { seats[number]?.waiter = nil }
        return seats[number]?.waiter
    }

    /// Ends a query. If the reason is an error, discards the pending changes, so that the consumer receives the error immediately.
    fileprivate mutating func end(_ number: Int, _ ending: LiveRegistry.Ending) {
        guard var seat = seats[number], seat.ending == nil else { return }
        seats[number] = nil
        seat.ending = ending
        if case .failed = ending { (seat.touched, seat.isWhole) = ([], false) }
        seats[number] = seat
    }

    /// Records changes for one query. If the query's consumer is waiting, returns its continuation.
    fileprivate mutating func note(
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

    /// Removes from `early` the queries whose first graph is not later than `transaction`. If that graph is earlier, the query must run
    /// again. Returns the continuations of the consumers that are waiting for a query that must run again.
    fileprivate mutating func noteEarly(_ transaction: TransactionNumber) -> [CheckedContinuation<Void, Never>] {
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
    fileprivate mutating func take(_ number: Int) -> (LiveRegistry.News?, LiveRegistry.Ending?) {
        guard var seat = seats[number] else { return (nil, .closed) }
        guard seat.hasNews, let newest = newest ?? lastGraph else { return (nil, seat.ending) }
        let news = LiveRegistry.News(graph: newest, touched: seat.touched, isWhole: seat.isWhole)
        (seat.touched, seat.touchedCount, seat.isWhole, seat.last) = ([], 0, false, newest.transaction)
        seats[number] = seat
        return (news, seat.ending)
    }
}
