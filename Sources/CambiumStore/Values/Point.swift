public import CambiumModel

/// A moment in the history of a store.
///
/// ```swift
/// let march = try store.graph(at: .label("end of March"))
/// let second = try store.graph(at: .transaction(TransactionNumber(rawValue: 2)))
/// print(march.objectCount, second.objectCount)
/// ```
public enum Point: Sendable, Hashable {
    /// The newest transaction.
    case latest
    /// The transaction with this number.
    case transaction(TransactionNumber)
    /// The last transaction that is not later than a time.
    case time(Timestamp)
    /// The transaction that a label names.
    case label(String)
}
