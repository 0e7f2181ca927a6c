import CambiumModel

/// The requests that a store has applied last, so that one that comes again is not applied twice.
struct RequestWindow {
    private let countMax: Int
    /// By their bytes: requests that look the same are not the same.
    private var numbers: [[UInt8]: TransactionNumber] = [:]
    /// In the order of their transactions; those before `first` have been forgotten.
    private var requests: [[UInt8]] = []
    private var first = 0

    /// - Parameter countMax: how many are remembered.
    init(countMax: Int) { self.countMax = countMax }

    /// The transaction that applied a request; nil where none of those remembered did.
    func transaction(of request: String) -> TransactionNumber? { numbers.isEmpty ? nil : numbers[Array(request.utf8)] }

    mutating func note(_ request: String, _ number: TransactionNumber) {
        if countMax == 0 { return }
        let request = Array(request.utf8)
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
