internal import CambiumLog
import CambiumModel

/// The requests that a store has applied last, so that one that comes again is not applied twice.
struct RequestWindow {
    /// The transaction that applied a request.
    struct Entry {
        let number: TransactionNumber
        /// What it asked for; nil if the caller did not say.
        let digest: RequestDigest?
    }

    private let countMax: Int
    /// By their bytes: requests that look the same are not the same.
    private var entries: [[UInt8]: Entry] = [:]
    /// In the order of their transactions; those before `first` have been forgotten.
    private var requests: [[UInt8]] = []
    private var first = 0
    /// Those of a checkpoint that nobody has asked for yet, which are older than all others.
    private var stored: NamedTransactions?

    /// - Parameters:
    ///   - countMax: how many are remembered.
    ///   - stored: those that a checkpoint has.
    init(countMax: Int, stored: NamedTransactions? = nil) {
        self.countMax = countMax
        self.stored = stored
    }

    /// The transaction that applied a request; nil if none of those remembered did.
    mutating func transaction(of request: String) -> TransactionNumber? { entry(of: request)?.number }

    private mutating func entry(of request: String) -> Entry? {
        load()
        return entries.isEmpty ? nil : entries[Array(request.utf8)]
    }

    /// Why an author's request is not applied: it was applied before, or another one with the same id was. Nil if it is new.
    ///
    /// - Parameter next: the transaction that would apply it.
    mutating func refusal(of author: Author, next: TransactionNumber) -> CambiumError? {
        guard let request = author.requestID, let entry = entry(of: request) else { return nil }
        if let digest = author.requestDigest, let earlier = entry.digest, digest != earlier {
            return CambiumError(
                .conflict,
                "Transaction \(entry.number) applied a request '\(request)' that asked for something else, so this one is not applied as "
                    + "transaction \(next). Give each request an id of its own.")
        }
        return CambiumError(
            .repeated, "The request '\(request)' was applied as transaction \(entry.number).",
            underlying: RepeatedRequest(request: request, transaction: entry.number))
    }

    mutating func note(_ request: String, _ number: TransactionNumber, _ digest: RequestDigest? = nil) {
        load()
        note(Array(request.utf8), Entry(number: number, digest: digest))
    }

    private mutating func load() {
        guard let stored else { return }
        self.stored = nil
        // It was walked through when it was decoded, and a record in which that fails is passed over.
        try? stored.forEach { note($0, Entry(number: $1, digest: $2)) }
    }

    /// All that are remembered.
    var encoded: NamedTransactions {
        if let stored { return stored }
        var encoded = NamedTransactions()
        for request in requests[first...] {
            if let entry = entries[request] { encoded.append(request, entry.number, entry.digest) }
        }
        return encoded
    }

    private mutating func note(_ request: [UInt8], _ entry: Entry) {
        if countMax == 0 { return }
        // In a log that another program wrote a request may stand twice: the first time counts.
        if entries[request] != nil { return }
        entries[request] = entry
        requests.append(request)
        if requests.count - first > countMax {
            entries[requests[first]] = nil
            first += 1
            if first > countMax {
                requests.removeFirst(first)
                first = 0
            }
        }
    }

    /// Forgets the requests of transactions that were taken back.
    mutating func forget(after last: TransactionNumber) {
        while requests.count > first, let entry = entries[requests[requests.count - 1]], entry.number > last {
            entries[requests.removeLast()] = nil
        }
    }
}

/// The error's reason if a request was applied before, and not again now.
public struct RepeatedRequest: Error, Sendable {
    public let request: String
    /// The transaction that applied it, which is as durable as the store promises.
    public let transaction: TransactionNumber
}
