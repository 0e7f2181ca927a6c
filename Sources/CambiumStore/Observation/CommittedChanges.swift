public import CambiumGraph
public import CambiumModel

/// One or more committed transactions, and their combined changes. `Store.changes(from:_:)` delivers them.
///
/// ```swift
/// for try await committed in store.changes(.every) {
///     print(committed.transaction, committed.author?.actor ?? "-", committed.changes.count)
/// }
/// ```
public struct CommittedChanges: Sendable {
    /// The difference between the graph of the previous delivery and the graph after `transaction`. It is empty if the transactions cancel
    /// each other out, or if a transaction only recorded a request.
    public let changes: Changes
    /// The metadata of the transaction; `nil` if transactions are coalesced, even if there is only one.
    package let metadata: TransactionMetadata?

    init(_ changes: Changes, _ metadata: TransactionMetadata?) { (self.changes, self.metadata) = (changes, metadata) }

    /// The time of the transaction; `nil` if transactions are coalesced, even if there is only one.
    public var time: Timestamp? { metadata?.time }

    /// The author of the transaction, with the message and the request id; `nil` if transactions are coalesced, even if there is only one.
    public var author: Author? { metadata.map { Author($0) } }

    /// The last included transaction. A consumer that stores this number can continue after it with `Store.changes(from:_:)`.
    public var transaction: TransactionNumber { changes.after.transaction }

    /// The number of included transactions.
    public var transactionCount: Int { Int(clamping: transaction.rawValue - changes.before.transaction.rawValue) }

    /// The graph after `transaction`.
    package var graph: Graph { changes.after }
}
