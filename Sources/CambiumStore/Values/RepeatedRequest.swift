public import CambiumModel

/// The underlying error of `.repeated`: a request was applied earlier, so it was not applied again.
///
/// ```swift
/// do {
///     try store.write(Author(requestID: "order-7301")) { _ = try $0.insert("Order", ["number": 7301]) }
/// } catch let error as CambiumError where error.code == .repeated {
///     if let first = error.underlying as? RepeatedRequest { print("done in transaction \(first.transaction)") }
/// }
/// ```
public struct RepeatedRequest: Error, Sendable {
    /// The id of the request.
    public let request: String
    /// The transaction that applied the request. It is as durable as the store promises.
    public let transaction: TransactionNumber
    /// The object that the first change of this transaction inserted, changed or deleted. `nil` if the first change named several objects,
    /// or if the request came from an import, a clone or a migration. The store keeps this id even if the changes are retired.
    public let object: ObjectID?
}
