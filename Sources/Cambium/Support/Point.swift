public import CambiumModel

/// A moment in the history of a store.
public enum Point: Sendable, Hashable {
    case latest
    case transaction(TransactionNumber)
    /// The last transaction that is not later than a time.
    case time(Timestamp)
    /// The transaction that a label names.
    case label(String)
}
