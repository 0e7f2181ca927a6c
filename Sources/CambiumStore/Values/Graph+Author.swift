package import CambiumGraph
package import CambiumModel

extension Graph {
    /// Checks an author as the next commit would, for a preview of that commit.
    ///
    /// Throws `.limitExceeded` or `.invalidInput` for a text that a commit refuses. Throws `.repeated` for a request that was applied
    /// earlier, and `.conflict` if its id belongs to another request.
    package func check(_ author: Author) throws(CambiumError) {
        try author.check()
        if let refusal = refusal(of: author) { throw refusal }
    }

    /// Returns the error for an author's request that was applied earlier, or whose id belongs to another request. Returns `nil` if the
    /// request is new.
    func refusal(of author: Author) -> CambiumError? {
        guard let request = author.requestID, let entry = self.request(request) else { return nil }
        if let digest = author.requestDigest, let earlier = entry.digest, digest != earlier {
            return CambiumError(
                .conflict,
                "Transaction \(entry.transaction) used the request id '\(request)' for other content, so this request changed nothing. "
                    + "Use a different id for each request.")
        }
        return CambiumError(
            .repeated, "The request '\(request)' was applied as transaction \(entry.transaction). This call changed nothing.",
            underlying: RepeatedRequest(request: request, transaction: entry.transaction, object: entry.object))
    }
}
