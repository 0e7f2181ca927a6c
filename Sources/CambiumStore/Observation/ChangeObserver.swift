import CambiumGraph
internal import CambiumLog
import CambiumModel

/// The state of one consumer of `Store.changes(from:_:)`: the number of the last transaction that the consumer has received, and the
/// versions that the store keeps for the consumer.
final class ChangeObserver {
    private let store: Store
    private let delivery: ChangeDelivery
    private let seat: ObserverSeat
    /// The last transaction that was delivered.
    private var last: TransactionNumber
    private var isFinished = false

    init(_ sequence: ChangeSequence) {
        (store, last, delivery) = (sequence.store, sequence.last, sequence.delivery)
        seat = ObserverSeat(store, delivery)
        seat.leave(sequence.seat.held)
    }

    /// - Parameter known: The graph after the last delivery, if the caller keeps this graph. The observer releases its own reference to the
    ///   graph if the consumer is idle for too long. Without the graph, a store in memory could not replay the later transactions.
    func next(knowing known: Graph? = nil) async throws -> CommittedChanges? {
        if isFinished { return nil }
        isFinished = true
        // The program may keep the iterator after its end, so the versions that are kept for the iterator are released here.
        defer { if isFinished { seat.end() } }
        try Task.checkCancellation()
        var held = seat.take()
        if held.graph == nil, delivery == .coalesced, known?.transaction == last { held.graph = known }
        let newest = try await newest(&held)
        guard newest.transaction > last else { return nil }
        let found =
            switch delivery {
            case .every: try await nextTransaction(&held, newest)
            case .coalesced: try await nextDifference(&held, newest)
            }
        last = found.transaction
        seat.leave(held)
        isFinished = false
        return found
    }

    /// Waits until readers see a transaction that was not delivered yet, or until the store is closed. Returns the graph that readers see.
    private func newest(_ held: inout ObserverSeat.Held) async throws -> Graph {
        let (writer, last) = (store.writer, last)
        while true {
            // Reads `isEnded` before the graph: if the store is already closed, the store shows no later graph.
            let isEnded = writer.bell.isEnded
            let newest = writer.graph
            guard newest.transaction >= last else {
                throw CambiumError(
                    .notFound,
                    "Transaction \(last) does not exist; the last transaction is \(newest.transaction). The store may be an older copy. "
                        + "Read its newest graph, and continue after its transaction.")
            }
            if isEnded || newest.transaction > last { return newest }
            // The wait may be long, so the replay is released. The observer does not need the replay again, because from now on the store
            // keeps each new version for the observer.
            held.catchUp = nil
            if delivery == .coalesced, held.graph == nil { held.graph = newest }
            await writer.bell.wait { writer.graph.transaction > last }
            try Task.checkCancellation()
        }
    }

    // MARK: Each transaction

    private func nextTransaction(_ held: inout ObserverSeat.Held, _ newest: Graph) async throws -> CommittedChanges {
        let step = try await nextStep(&held, newest)
        return CommittedChanges(step.after.changes(since: step.before), step.metadata)
    }

    private func nextStep(_ held: inout ObserverSeat.Held, _ newest: Graph) async throws -> RecentVersions.Step {
        if let step = store.writer.recent.step(after: last) {
            held.catchUp = nil
            return step
        }
        if let step = held.catchUp?.next() { return step }
        let (last, known, limit) = (last, held.catchUp, newest.transaction)
        let catchUp = try await replaying { volume, store, budget, cancellation in
            let catchUp = try known ?? CatchUp(volume, of: store, after: last, budget: budget, cancellation)
            try catchUp.read(upTo: limit, cancellation)
            return catchUp
        }
        held.catchUp = catchUp
        guard let step = catchUp.next() else { throw expired() }
        return step
    }

    // MARK: One difference

    private func nextDifference(_ held: inout ObserverSeat.Held, _ newest: Graph) async throws -> CommittedChanges {
        defer { held.graph = newest }
        if let before = held.graph { return CommittedChanges(newest.changes(since: before), nil) }
        let last = last
        let changes = try await replaying { volume, store, budget, cancellation in
            newest.changes(since: try CatchUp.view(volume, of: store, at: last, budget, cancellation).graph)
        }
        return CommittedChanges(changes, nil)
    }

    // MARK: Replaying

    /// Calls `body` on the queue on which observers wait for the disk. If the task is cancelled, throws `CancellationError` without waiting
    /// for the replays of other observers.
    ///
    /// - Parameter body: receives the volume and the id of the store.
    private func replaying<Result: Sendable>(
        _ body: @escaping @Sendable (any Volume, _ store: [UInt8], MemoryBudget, Cancellation) throws -> Result
    ) async throws -> Result {
        guard let log = store.writer.log else { throw expired() }
        let (volume, id) = (log.volume, log.store)
        let (queue, budget, cancellation) = (store.observationQueue, store.writer.timeline.budget, Cancellation())
        let call = WaitingCall()
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    call.wait { continuation.resume(throwing: CancellationError()) }
                    queue.async {
                        if call.isCancelled { return }
                        let result = Swift.Result { try body(volume, id, budget, cancellation) }
                        if call.begin() { continuation.resume(with: result) }
                    }
                }
            } onCancel: {
                cancellation.cancel()
                call.cancel()
            }
        } catch let error as CambiumError where error.code == .notFound {
            throw expired(error)
        }
    }

    private func expired(_ cause: CambiumError? = nil) -> CambiumError {
        let reason =
            cause.map { "cannot be replayed: \($0.message)" }
            ?? "are gone, because a store in memory has no log and keeps only its newest transactions."
        return CambiumError(
            .expired, "The changes after transaction \(last) \(reason) Read the newest graph, and continue after its transaction.",
            underlying: cause)
    }
}
