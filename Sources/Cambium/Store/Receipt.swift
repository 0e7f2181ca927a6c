public import CambiumGraph
public import CambiumModel

/// What a commit did.
public struct Receipt: Sendable {
    /// The transaction that was written; nil if nothing was, because nothing changed and there was no request to remember.
    public let transaction: TransactionNumber?
    /// Bytes that the commit added to the log.
    public let logByteCount: Int
    /// The graph as it is after the commit.
    public let graph: Graph
    /// Whether anything changed. A transaction without changes has only noted its request.
    public let hasChanges: Bool
}

/// Who changes a store, and why: kept with the transaction for ever.
public struct Author: Sendable, Hashable {
    /// Who: a user, a service. At most 1,024 bytes.
    public var actor: String?
    /// Why. At most 65,536 bytes.
    public var message: String?
    /// A key by which the same request is recognised when it comes again: it is applied once within the last million requests,
    /// also by later processes, and whether or not it changed anything. At most 256 bytes.
    public var requestID: String?
    /// A hash of what the request asks for. If a request comes with an id that the store knows and with another digest, it is a
    /// `.conflict`. Without a digest on either side the id alone counts. `RequestHasher` makes one.
    public var requestDigest: RequestDigest?

    public init(actor: String? = nil, message: String? = nil, requestID: String? = nil, requestDigest: RequestDigest? = nil) {
        self.actor = actor
        self.message = message
        self.requestID = requestID
        self.requestDigest = requestDigest
    }

    init(_ metadata: TransactionMetadata) {
        self.init(
            actor: metadata.actor, message: metadata.message, requestID: metadata.requestID, requestDigest: metadata.requestDigest)
    }

    /// The same, without a request to remember.
    var withoutRequest: Author { Author(actor: actor, message: message) }

    static let actorByteCountMax = 1024
    static let messageByteCountMax = 65_536
    static let requestIDByteCountMax = 256

    func check() throws(CambiumError) {
        if actor == nil, message == nil, requestID == nil, requestDigest == nil { return }
        if requestID == nil, requestDigest != nil {
            throw CambiumError(.invalidInput, "A digest of a request needs the request's id; give both or none.")
        }
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
