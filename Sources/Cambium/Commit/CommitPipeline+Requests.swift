import CambiumGraph
import CambiumModel

extension CommitPipeline {
    /// Returns the error for an author's request that was applied earlier, or whose id belongs to another request. Returns `nil` if the
    /// request is new.
    ///
    /// Call this method only while the writer's lock is held.
    func refusal(of author: Author) -> CambiumError? {
        let newest = writer.timeline.head
        guard let request = author.requestID, let entry = newest.request(request) else { return nil }
        if let digest = author.requestDigest, let earlier = entry.digest, digest != earlier {
            return CambiumError(
                .conflict,
                "Transaction \(entry.transaction) applied a request '\(request)' with other content, so this request changed nothing. "
                    + "Use a different id for each request.")
        }
        return CambiumError(
            .repeated, "The request '\(request)' was applied as transaction \(entry.transaction). This call changed nothing.",
            underlying: RepeatedRequest(request: request, transaction: entry.transaction))
    }
}
