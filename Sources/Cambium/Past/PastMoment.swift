internal import CambiumLog
import CambiumModel

/// Up to where a log is replayed: the last transaction that has no greater number and is not later. Everything where neither is set.
struct PastMoment: Equatable {
    var number: TransactionNumber?
    var time: Timestamp?

    /// - Parameter labels: asked for where a label is given. Throws `.notFound` where it is not among them.
    init(_ point: Point, labels: () throws -> [String: TransactionNumber]) throws {
        switch point {
        case .latest: break
        case .transaction(let number): self.number = number
        case .time(let time): self.time = time
        case .label(let name):
            let labels = try labels()
            guard let number = labels[name] else {
                let known = labels.isEmpty ? "the store has none" : "there are: \(labels.keys.sorted().joined(separator: ", "))"
                throw CambiumError(.notFound, "There is no label '\(name)'; \(known).")
            }
            self.number = number
        }
    }

    init(number: TransactionNumber? = nil) { self.number = number }

    static let latest = PastMoment()

    /// Whether a transaction is behind the moment.
    func isBefore(_ record: LogRecord) -> Bool { !has(record.number, record.metadata.time) }

    /// Whether what came to be with a transaction is no later.
    func has(_ number: TransactionNumber, _ time: Timestamp) -> Bool { number <= self.number ?? number && time <= self.time ?? time }

    /// Throws where a log that was replayed up to here, or to its end, does not have the moment.
    func check(_ reached: TransactionNumber, isLogRead: Bool) throws(CambiumError) {
        if number == TransactionNumber.none {
            throw CambiumError(.notFound, "There is no transaction 0: transactions count from 1, and a store has no state before that.")
        }
        if let number, isLogRead, number > reached {
            throw CambiumError(.notFound, "There is no transaction \(number); the last one is \(reached).")
        }
        if time != nil, reached == .none { throw CambiumError(.notFound, "The store is younger than the time given.") }
    }
}
