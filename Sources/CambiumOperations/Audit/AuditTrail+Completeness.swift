import CambiumGraph
public import CambiumModel

/// The answer to the question whether a history has a gap.
///
/// ```swift
/// let check = try trail.checkHistory(of: note)
/// print(check.isComplete, check.first, check.last, check.gaps)
/// ```
public struct HistoryCheck: Sendable {
    /// The oldest transaction that was compared. Earlier ones were retired, or precede the range.
    public let first: TransactionNumber
    /// The newest transaction that was compared.
    public let last: TransactionNumber
    /// The transactions whose changes of the object differ between the history and the comparison of graphs; ascending.
    public let gaps: [TransactionNumber]

    package init(first: TransactionNumber, last: TransactionNumber, gaps: [TransactionNumber]) {
        (self.first, self.last, self.gaps) = (first, last, gaps)
    }

    /// Whether the history has every change of the object from `first` to `last`, and no other.
    public var isComplete: Bool { gaps.isEmpty }
}

extension AuditTrail {
    /// Checks that a history has every change of an object, and of the sources from which clones made it.
    ///
    /// The check replays every transaction, compares the whole graphs before and after it, and compares the differences of the object with
    /// the history. Throws as `history(of:limit:)` does. Complexity: O(bytes of the log + objects that changed).
    ///
    /// - Parameters:
    ///   - id: The object.
    ///   - first: The oldest transaction to compare; `nil` for the oldest one that was not retired.
    ///   - last: The newest transaction to compare; `nil` for the newest one.
    public func checkHistory(
        of id: ObjectID, from first: TransactionNumber? = nil, through last: TransactionNumber? = nil
    ) throws -> HistoryCheck {
        while true {
            let known = try oldest()
            do {
                return try comparedHistory(of: id, from: first, through: last ?? newest())
            } catch let error as CambiumError where error.code == .notFound || error.code == .expired {
                // A compaction may have retired transactions in the meantime.
                if try oldest() == known { throw error }
            }
        }
    }

    private func comparedHistory(
        of id: ObjectID, from first: TransactionNumber?, through end: TransactionNumber
    ) throws -> HistoryCheck {
        var selection = HistorySelection(object: id)
        (selection.first, selection.last) = (first, end)
        var listed: [TransactionNumber: [String]] = [:]
        let segments = try objectHistory(id, selection) { entry in
            if entry.object != nil { listed[entry.transaction, default: []].append(Self.text(of: entry)) }
            return true
        }
        let start = try max(first ?? Self.first, oldest())
        var gaps: [TransactionNumber] = []
        let rows = HistoryRows(latest: try graph(at: .transaction(end)).schema, properties: [])
        var cursor = try transactions(from: start, through: end)
        while let step = try cursor.next() {
            let number = step.entry.number
            let changes = step.changes
            // The history lists the copy before its source, if one transaction made both.
            let expected = segments.filter { $0.first <= number && number <= $0.last }.flatMap { segment in
                let change = changes.object(segment.id)
                let source = change?.kind == .inserted ? step.clonedSource(of: segment.id) : nil
                return rows.rows(change, of: segment.id, step, source: source).map(Self.text)
            }
            if expected != listed[number] ?? [] { gaps.append(number) }
        }
        return HistoryCheck(first: start, last: end, gaps: gaps)
    }

    /// Returns a text that is equal for equal entries.
    private static func text(of entry: HistoryEntry) -> String { "\(entry.object?.name ?? "") \(entry.change)" }
}
