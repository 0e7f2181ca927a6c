/// The way in which `Store.changes(from:_:)` delivers transactions to a consumer that is slower than the writers.
///
/// ```swift
/// for try await committed in store.changes(.coalesced) { print(committed.transactionCount, committed.changes.count) }
/// ```
public enum ChangeDelivery: Sendable, Hashable {
    /// Each transaction is delivered separately, in order, regardless of the consumer's lag.
    case every
    /// Everything since the last delivery is delivered as one difference that leads to the newest graph.
    case coalesced
}
