import CambiumGraph
public import CambiumModel

extension Committer {
    /// Why an author's request is not applied: it was applied before, or another one with the same id was. Nil if it is new.
    ///
    /// Only while `writing` is held.
    func refusal(of author: Author) -> CambiumError? {
        let newest = timeline.head
        guard let request = author.requestID, let entry = newest.request(request) else { return nil }
        if let digest = author.requestDigest, let earlier = entry.digest, digest != earlier {
            return CambiumError(
                .conflict,
                "Transaction \(entry.transaction) applied a request '\(request)' that asked for something else, so this one is not applied "
                    + "as transaction \(newest.transaction.next). Give each request an id of its own.")
        }
        return CambiumError(
            .repeated, "The request '\(request)' was applied as transaction \(entry.transaction).",
            underlying: RepeatedRequest(request: request, transaction: entry.transaction))
    }
}

/// The error's reason if a request was applied before, and not again now.
public struct RepeatedRequest: Error, Sendable {
    public let request: String
    /// The transaction that applied it, which is as durable as the store promises.
    public let transaction: TransactionNumber
}
