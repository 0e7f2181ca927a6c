internal import CambiumLog
import CambiumModel

/// The requests that a store has applied last, so that one that comes again is not applied twice.
struct RequestWindow {
    private let countMax: Int
    /// By their bytes: requests that look the same are not the same.
    private var numbers: [[UInt8]: TransactionNumber] = [:]
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

    /// The transaction that applied a request; nil where none of those remembered did.
    mutating func transaction(of request: String) -> TransactionNumber? {
        load()
        return numbers.isEmpty ? nil : numbers[Array(request.utf8)]
    }

    mutating func note(_ request: String, _ number: TransactionNumber) {
        load()
        note(Array(request.utf8), number)
    }

    private mutating func load() {
        guard let stored else { return }
        self.stored = nil
        // It was walked through when it was decoded, and a record in which that fails is passed over.
        try? stored.forEach { note($0, $1) }
    }

    /// All that are remembered.
    var encoded: NamedTransactions {
        if let stored { return stored }
        var encoded = NamedTransactions()
        for request in requests[first...] { if let number = numbers[request] { encoded.append(request, number) } }
        return encoded
    }

    private mutating func note(_ request: [UInt8], _ number: TransactionNumber) {
        if countMax == 0 { return }
        // In a log that another program wrote a request may stand twice: the first time counts.
        if numbers[request] != nil { return }
        numbers[request] = number
        requests.append(request)
        if requests.count - first > countMax {
            numbers[requests[first]] = nil
            first += 1
            if first > countMax {
                requests.removeFirst(first)
                first = 0
            }
        }
    }

    /// Forgets the requests of transactions that were taken back.
    mutating func forget(after last: TransactionNumber) {
        while requests.count > first, let number = numbers[requests[requests.count - 1]], number > last {
            numbers[requests.removeLast()] = nil
        }
    }
}

/// The error's reason where a request was applied before, and not again now.
public struct RepeatedRequest: Error, Sendable {
    public let request: String
    /// The transaction that applied it, which is as durable as the store promises.
    public let transaction: TransactionNumber
}
