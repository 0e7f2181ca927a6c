internal import CambiumLog
import CambiumModel

/// The rule that selects the checkpoint up to which a compaction retires transactions. The compaction removes the changes of retired
/// transactions.
enum CompactionAnchor: Equatable {
    /// No checkpoint: nothing is retired.
    case none
    /// The newest checkpoint that is not later than a transaction.
    case newest(notAfter: TransactionNumber)
    /// The oldest of the N newest checkpoints, where N is the given number. If there are fewer than N, nothing is retired.
    case oldest(of: Int)

    /// Creates the rule for a retention. Throws `.notFound` if the moment of the retention does not exist, or if it is after the newest
    /// transaction. Throws `.invalidInput` for an invalid retention.
    ///
    /// - Parameter newest: the newest transaction and its time.
    init(_ retention: Retention, in volume: any Volume, newest: @autoclosure () -> (number: TransactionNumber, time: Timestamp)) throws {
        switch retention {
        case .all: self = .none
        case .since(.latest): self = .newest(notAfter: TransactionNumber(rawValue: .max))
        case .since(let point):
            if case .time(let time) = point { try Self.check(time, isNotAfter: newest()) }
            do {
                self = .newest(notAfter: try EarlierView(volume, at: point, memory: .standard).graph.transaction)
            } catch let error as CambiumError where error.code == .notFound {
                // All transactions that remain in the log are later than the given time, so there is nothing to retire.
                guard case .time = point else { throw error }
                self = .none
            }
        case .checkpoints(let count):
            guard count > 0 else {
                throw CambiumError(.invalidInput, "A compaction cannot keep \(count) checkpoints. Keep 1 or more.")
            }
            self = .oldest(of: count)
        }
    }

    /// Throws `.notFound` for a time after the newest transaction. A time in the future, or a time in the wrong unit, would select the
    /// newest transaction, and everything before it would be retired.
    private static func check(
        _ time: Timestamp, isNotAfter newest: (number: TransactionNumber, time: Timestamp)
    ) throws(CambiumError) {
        guard time > newest.time else { return }
        throw CambiumError(
            .notFound,
            "The newest transaction, \(newest.number), was committed at \(newest.time), earlier than \(time). Name an earlier time, or "
                + "transaction \(newest.number). Nothing was retired.")
    }

    /// Returns the checkpoint that will replace everything before it, or `nil` if nothing can be retired.
    ///
    /// - Parameter roots: the existing checkpoints, newest first.
    func checkpoint(of roots: [TransactionNumber]) -> TransactionNumber? {
        switch self {
        case .none: nil
        case .newest(let last): roots.first { $0 <= last }
        case .oldest(let count): roots.count < count ? nil : roots[count - 1]
        }
    }
}
