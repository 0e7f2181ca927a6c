public import CambiumGraph
public import CambiumModel

/// The result of a commit.
///
/// ```swift
/// let receipt = try store.write { try $0.set(note, "title", to: "Rome") }.receipt
/// print(receipt.hasChanges, receipt.logByteCount, try receipt.graph[note, "title"].text)
/// ```
public struct Receipt: Sendable {
    /// The transaction that was written; `nil` if nothing was written, because nothing changed and there was no request to remember.
    public let transaction: TransactionNumber?
    /// The number of bytes that the commit added to the log. If several transactions were written together, each gets an equal share of the
    /// bytes.
    public let logByteCount: Int
    /// The graph after the commit.
    public let graph: Graph
    /// Whether anything changed. A transaction without changes only records its request.
    public let hasChanges: Bool
}

/// The author of a change, and the reason for it. The store keeps them with the transaction permanently.
///
/// ```swift
/// let clerk = Author(actor: "jane", message: "the customer moved", requestID: "ticket-118")
/// try store.write(clerk) { try $0.set(customer, "city", to: "Rome") }
/// ```
public struct Author: Sendable, Hashable {
    /// The user or service that makes the change. At most 1,024 bytes.
    public var actor: String?
    /// The reason for the change. At most 65,536 bytes.
    public var message: String?
    /// A key by which the store recognizes a repeated request. Each of the last million requests is applied only once, even if another
    /// process repeats it, and even if it changed nothing. 1 to 256 bytes.
    public var requestID: String?
    /// A hash of the content of the request. `RequestHasher` computes digests.
    package var requestDigest: RequestDigest?

    /// Creates an author. A commit throws `.limitExceeded` for a text that is too long. It throws `.invalidInput` for an empty request id,
    /// and for `requestParts` without a `requestID`.
    ///
    /// ```swift
    /// let author = Author(actor: "jane", requestID: key, requestParts: ["set", "Note/1", "title=Paris"])
    /// try store.write(author) { try $0.set(note, "title", to: "Paris") }
    /// ```
    ///
    /// - Parameters:
    ///   - actor: The user or service that makes the change.
    ///   - message: The reason for the change.
    ///   - requestID: The key by which the store recognizes a repeated request.
    ///   - requestParts: The content of the request. The store keeps a hash that depends on these texts and their order, and that is the
    ///     same on every machine. A request with a known id but a different hash fails with `.conflict`. If either of the two requests has
    ///     no parts, only the ids are compared.
    public init(actor: String? = nil, message: String? = nil, requestID: String? = nil, requestParts: [String]? = nil) {
        self.init(actor: actor, message: message, requestID: requestID, requestDigest: requestParts.map { RequestDigest(of: $0) })
    }

    package init(actor: String?, message: String?, requestID: String?, requestDigest: RequestDigest?) {
        self.actor = actor
        self.message = message
        self.requestID = requestID
        self.requestDigest = requestDigest
    }

    package init(_ metadata: TransactionMetadata) {
        self.init(
            actor: metadata.actor, message: metadata.message, requestID: metadata.requestID, requestDigest: metadata.requestDigest)
    }

    func check() throws(CambiumError) {
        if actor == nil, message == nil, requestID == nil, requestDigest == nil { return }
        if requestID == nil, requestDigest != nil {
            throw CambiumError(.invalidInput, "The author has the parts of a request, but no request id. Pass both or neither.")
        }
        // A script whose variable is not set would pass an empty id with each request. Only its first request would then be applied.
        if requestID?.isEmpty == true {
            throw CambiumError(.invalidInput, "The request id is empty. Use a different id for each request, or none.")
        }
        let limits = [
            ("An actor", actor, TransactionMetadata.actorByteCountMax), ("A message", message, TransactionMetadata.messageByteCountMax),
            ("A request id", requestID, TransactionMetadata.requestIDByteCountMax),
        ]
        for (name, text, max) in limits {
            if let text, text.utf8.count > max {
                throw CambiumError(.limitExceeded, "\(name) has at most \(max) bytes, but this text has \(text.utf8.count). Shorten it.")
            }
        }
    }
}
