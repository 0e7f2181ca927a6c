internal import CambiumLog
import CambiumModel

/// The moment up to which a log is replayed: the last transaction whose number and time do not exceed these limits. `nil` means no limit.
package struct EarlierMoment: Equatable {
    package var number: TransactionNumber?
    var time: Timestamp?

    /// Throws `.notFound` if the point is a label that does not exist.
    ///
    /// - Parameter labels: returns all labels. `labels` is called only if the point is a label.
    package init(_ point: Point, labels: () throws -> [String: TransactionNumber]) throws {
        switch point {
        case .latest: break
        case .transaction(let number): self.number = number
        case .time(let time): self.time = time
        case .label(let name):
            let labels = try labels()
            guard let number = labels[name] else {
                throw CambiumError(.notFound, "The store has no label '\(name.excerpt)'. It has \(Self.text(of: labels.keys.sorted())).")
            }
            self.number = number
        }
    }

    /// The maximum number of labels that an error lists.
    private static let listedCountMax = 12

    private static func text(of labels: [String]) -> String {
        if labels.isEmpty { return "no labels at all" }
        let rest = labels.count - listedCountMax
        return "the labels \(labels.prefix(listedCountMax).joined(separator: ", "))" + (rest > 0 ? " and \(rest) more" : "")
    }

    package init(number: TransactionNumber? = nil) { self.number = number }

    package static let latest = EarlierMoment()

    /// Whether the moment is before a transaction.
    func isBefore(_ record: LogRecord) -> Bool { !has(record.number, record.metadata.time) }

    /// Whether a transaction with this number and time is not after the moment.
    func has(_ number: TransactionNumber, _ time: Timestamp) -> Bool { number <= self.number ?? number && time <= self.time ?? time }

    /// Throws `.notFound` if a log does not contain the moment.
    ///
    /// - Parameters:
    ///   - reached: the last transaction that was replayed.
    ///   - isLogRead: whether the log was read to its end.
    package func check(_ reached: TransactionNumber, isLogRead: Bool) throws(CambiumError) {
        if number == TransactionNumber.none {
            throw CambiumError(.notFound, "Transaction 0 does not exist. The first transaction of a store is 1, so name 1 or a later one.")
        }
        if let number, isLogRead, number > reached {
            // The command line reads every number of more than 64 bits as the greatest number. The user did not write that number, so the
            // error omits it.
            let subject = number.rawValue == .max ? "A transaction with this number" : "Transaction \(number)"
            throw CambiumError(
                .notFound, "\(subject) does not exist; the last transaction is \(reached). Name an earlier transaction.")
        }
        if let time, reached == .none { throw CambiumError(.notFound, "The store was created after \(time). Name a later time.") }
    }
}
