public import CambiumGraph
public import CambiumModel

/// What a commit did.
public struct Receipt: Sendable {
    /// The transaction that was written; nil where nothing changed, and so nothing was.
    public let transaction: TransactionNumber?
    /// Bytes that the commit added to the log.
    public let logByteCount: Int
    /// The graph as it is after the commit.
    public let graph: Graph
}

/// Who changes a store, and why: kept with the transaction for ever.
public struct Author: Sendable, Hashable {
    /// Who: a user, a service. At most 1,024 bytes.
    public var actor: String?
    /// Why. At most 65,536 bytes.
    public var message: String?
    /// A key by which the same request is recognised when it comes again: it is applied once within the last million requests,
    /// also by later processes. At most 256 bytes.
    public var requestID: String?

    public init(actor: String? = nil, message: String? = nil, requestID: String? = nil) {
        self.actor = actor
        self.message = message
        self.requestID = requestID
    }

    init(_ metadata: TransactionMetadata) {
        self.init(actor: metadata.actor, message: metadata.message, requestID: metadata.requestID)
    }

    static let actorByteCountMax = 1024
    static let messageByteCountMax = 65_536
    static let requestIDByteCountMax = 256

    func check() throws(CambiumError) {
        if actor == nil, message == nil, requestID == nil { return }
        let limits = [
            ("An actor", actor, Self.actorByteCountMax), ("A message", message, Self.messageByteCountMax),
            ("A request id", requestID, Self.requestIDByteCountMax),
        ]
        for (name, text, max) in limits {
            if let text, text.utf8.count > max {
                throw CambiumError(.limitExceeded, "\(name) has at most \(max) bytes; this one has \(text.utf8.count).")
            }
        }
    }
}
