public import CambiumModel

/// The underlying error of `.repeated`: a request was applied earlier, so it was not applied again.
public struct RepeatedRequest: Error, Sendable {
    public let request: String
    /// The transaction that applied the request. It is as durable as the store promises.
    public let transaction: TransactionNumber
}
