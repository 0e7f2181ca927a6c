internal import CambiumBytes
import CambiumGraph
import CambiumModel
import Synchronization

/// The versions that are kept for one observer between two deliveries. They are released with the last reference to this object, or if the
/// observer requests no further delivery within a minute.
final class ObserverSeat: Sendable {
    /// The versions that are kept for an observer.
    struct Held: Sendable {
        /// The graph of the last delivery, if transactions are coalesced; `nil` if that graph is not known.
        var graph: Graph?
        /// The replay of the log for an observer that lags too far: the store no longer keeps the versions that this observer needs. `nil`
        /// if there is no replay.
        var catchUp: CatchUp?
    }

    private let loan: ObserverLoan
    private let leases: Leases

    init(_ store: Store, _ delivery: ChangeDelivery) {
        leases = store.leases
        loan = ObserverLoan(delivery == .every ? store.writer.recent : nil)
    }

    deinit { end() }

    /// Releases the kept versions. The store then no longer keeps its newest versions for this observer.
    func end() { leases.end(loan) }

    /// The kept versions. Unlike `take`, this property does not remove them.
    var held: Held { loan.held ?? Held() }

    /// Removes and returns the kept versions. Returns an empty value if they were released, because the observer requested no delivery for
    /// too long. Until the next call to `leave`, the store keeps its newest versions for the observer.
    func take() -> Held { loan.take() ?? Held() }

    /// Keeps versions until the observer takes them again. After a minute, the versions are released.
    func leave(_ held: Held) {
        loan.leave(held, at: leases.now())
        leases.add(loan)
    }
}

/// The versions that are kept for an observer for a limited time. While the loan lasts, the store also keeps its newest versions for the
/// observer.
private final class ObserverLoan: Loan {
    private struct State {
        var held: ObserverSeat.Held?
        var isInterested = false
    }

    /// The newest versions of the store, if the observer wants each transaction separately; `nil` if transactions are coalesced.
    private let recent: RecentVersions?
    private let state = Guarded(State())
    /// The time at which the observer last received a delivery, in microseconds since 1970; `Timestamp.max` while the observer waits for a
    /// delivery. This time changes only while `state` is locked.
    private let begin = Atomic(Timestamp.max.microsecondsSince1970)
    /// The time at which the loan ends, in microseconds since 1970; `Timestamp.max` while the observer is waiting for a delivery. This time
    /// changes only while `state` is locked.
    private let end = Atomic(Timestamp.max.microsecondsSince1970)

    /// The time for which versions are kept for an observer that does not request the next delivery.
    private static let duration = Duration.seconds(60)

    init(_ recent: RecentVersions?) { self.recent = recent }

    var beginTime: Timestamp { Timestamp(microsecondsSince1970: begin.load(ordering: .relaxed)) }
    var endTime: Timestamp { Timestamp(microsecondsSince1970: end.load(ordering: .relaxed)) }
    var held: ObserverSeat.Held? { state.withLock { $0.held } }

    func take() -> ObserverSeat.Held? {
        state.withLock { state in
            setTimes(.max, .max)
            beginInterest(&state)
            defer { state.held = nil }
            return state.held
        }
    }

    func leave(_ held: ObserverSeat.Held, at time: Timestamp) {
        state.withLock { state in
            beginInterest(&state)
            state.held = held
            setTimes(time, time + Self.duration)
        }
    }

    func release(where isOver: (any Loan) -> Bool) {
        let (held, wasInterested) = state.withLock { state -> (ObserverSeat.Held?, Bool) in
            guard isOver(self) else { return (nil, false) }
            defer { state = State() }
            return (state.held, state.isInterested)
        }
        if wasInterested { recent?.endInterest() }
        // The graphs are released outside of the lock, because their release may free all pages of a store.
        _ = consume held
    }

    private func beginInterest(_ state: inout State) {
        if state.isInterested { return }
        state.isInterested = true
        recent?.beginInterest()
    }

    private func setTimes(_ beginTime: Timestamp, _ endTime: Timestamp) {
        begin.store(beginTime.microsecondsSince1970, ordering: .relaxed)
        end.store(endTime.microsecondsSince1970, ordering: .relaxed)
    }
}
