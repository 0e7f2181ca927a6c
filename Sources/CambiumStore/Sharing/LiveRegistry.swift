internal import CambiumBytes
import CambiumGraph
import CambiumModel

/// The live queries of one store, indexed by the properties on which their results depend.
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

    private let state = Guarded(State())

    /// The maximum number of changed properties that are kept for a consumer that does not request updates.
    static let touchedCountMax = TouchedObjects.countMax
    /// The maximum number of graphs whose changes are kept for a consumer that does not request updates.
    static let graphCountMax = 1024

    /// The number of queries.
    var count: Int { state.withLock { $0.seats.count } }

    /// The number of references to changes that are kept for consumers.
    var pendingCount: Int { state.withLock { $0.seats.values.reduce(0) { $0 + $1.touched.count } } }

    /// The number of consumers that are waiting.
    var waitingCount: Int { state.withLock { $0.seats.values.count { $0.waiter != nil } } }

    /// The graph of the last transaction whose changes were reported; `nil` if no task reports changes.
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

    /// Records the changes that lead to a graph, for each query that the changes concern.
    func track(_ touched: TouchedObjects, _ graph: Graph, from pumpNumber: Int) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.pumpNumber == pumpNumber, state.newest != nil else { return [] }
            state.newest = graph
            let passed = state.trackEarly(graph.transaction)
            if touched.isEmpty { return passed }
            if touched.changesSchema { state.forgetKeys(before: graph.transaction) }
            var concerned = state.unknown
            for key in touched.keys { if let numbers = state.numbersByKey[key] { concerned.formUnion(numbers) } }
            return passed + concerned.compactMap { state.track(touched, graph.transaction, $0) }
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
