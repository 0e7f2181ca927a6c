/// The way in which `Store.changes(from:_:)` delivers transactions to a consumer that is slower than the writers.
public enum ChangeDelivery: Sendable, Hashable {
    /// Each transaction is delivered by itself, in order, however far the consumer lags.
    case every
    /// Everything since the last delivery is delivered as one difference to the newest graph.
    case coalesced
}
