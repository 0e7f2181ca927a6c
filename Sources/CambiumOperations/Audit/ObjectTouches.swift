internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

/// The transactions that changed an object, from the touch index, and what their ops say about the object. See Docs/Formats/TOUCHES.md.
/// The transactions after the end of the index come from a replay, once a walk has examined many of them.
///
/// Throws `Mistrust` if the index contradicts the log or a graph. The caller then continues without the index.
struct ObjectTouches {
    struct Mistrust: Error {}

    /// The effect of a transaction on an object, as far as its ops show it.
    enum Effect {
        /// The transaction sets attributes of the object, and changes nothing else of it.
        case sets([PropertyNumber: Value])
        /// Only graphs show the effect.
        case other
    }

    private let trail: AuditTrail
    private let reader: LogReader
    private let index: TouchIndex?
    /// The touches after the end of the index; `nil` if they are not known.
    private var rest: TouchSet?
    /// Whether the touches after the end of the index were looked for, with or without success.
    private var hasReplayed = false
    /// The oldest transaction that was not retired.
    private let oldest: TransactionNumber
    /// Whether the known touches begin with the first transaction of the log.
    var isFromFirst: Bool { oldest == AuditTrail.first }
    /// The last transaction whose touches are known. It precedes `oldest` if no touches are known.
    private(set) var covered: TransactionNumber
    /// The checkpoints, newest first.
    private let checkpoints: [TransactionNumber]
    private var numbers: (id: ObjectID, own: [TransactionNumber], all: [TransactionNumber])?
    private var records: [TransactionNumber: LogRecord] = [:]
    private var effects: [TransactionNumber: Effect] = [:]

    /// The number of earlier transactions whose ops are searched for the value before a change.
    private static let searchedCountMax = 64

    /// Returns `nil` if the log or the list of checkpoints cannot be read. Knows no touches if there is no index that belongs to the log
    /// and covers it from the oldest transaction.
    init?(_ trail: AuditTrail, from oldest: TransactionNumber) {
        // Without an index, histories are slower and otherwise the same.
        guard let reader = try? LogReader(trail.volume), let checkpoints = try? CheckpointRecord.list(trail.volume) else { return nil }
        let found = try? TouchIndex.read(reader)
        index = found.flatMap { $0.first <= oldest ? $0 : nil }
        (self.trail, self.reader, self.checkpoints, self.oldest) = (trail, reader, checkpoints, oldest)
        covered = index?.last ?? TransactionNumber(rawValue: oldest.rawValue - 1)
    }

    /// The number of transactions that can be replayed in about the time in which a walk examines one.
    private static let replayedCount: UInt64 = 4096

    /// Learns the touches after the end of the index from a replay, unless it would take much longer than the walk has taken so far.
    ///
    /// - Parameters:
    ///   - last: The last transaction of the walk.
    ///   - examinedCount: The number of transactions after the end of the index that the walk has examined.
    mutating func coverRest(through last: TransactionNumber, examinedCount: UInt64) {
        let first = firstUncovered
        guard last >= first, last.rawValue - first.rawValue < Self.replayedCount * examinedCount else { return }
        coverRest(through: last)
    }

    /// Learns the touches after the end of the index, if a replay to the graphs around a transaction would begin there or earlier, too.
    mutating func coverRest(through last: TransactionNumber, for number: TransactionNumber) {
        if number > covered, checkpoints.first(where: { $0 < number }) ?? .none <= covered { coverRest(through: last) }
    }

    /// The index may end with retired transactions, which no replay can read.
    private var firstUncovered: TransactionNumber { max(covered.next, oldest) }

    private mutating func coverRest(through last: TransactionNumber) {
        let first = firstUncovered
        guard !hasReplayed, last >= first else { return }
        hasReplayed = true
        // Without the touches, histories are slower and otherwise the same.
        guard let found = try? trail.past.touches(first...last) else { return }
        (rest, covered, numbers) = (found.set, found.range.upperBound, nil)
    }

    /// Returns the last transaction up to `last` that may have changed an object; `nil` if there is no such transaction.
    mutating func last(of id: ObjectID, upTo last: TransactionNumber) throws -> TransactionNumber? {
        let all = try transactions(of: id)
        return Self.count(all, upTo: last) == 0 ? nil : all[Self.count(all, upTo: last) - 1]
    }

    /// Returns the last transaction up to `last` that may have changed an object itself, however the schema changed.
    mutating func last(of id: ObjectID, itselfUpTo last: TransactionNumber) throws -> TransactionNumber? {
        if numbers?.id != id { _ = try transactions(of: id) }
        guard let own = numbers?.own, Self.count(own, upTo: last) > 0 else { return nil }
        return own[Self.count(own, upTo: last) - 1]
    }

    /// Returns the last transactions before `end` that may have changed an object, and that no checkpoint separates from `end`. Omits
    /// transaction 1, before which there is no graph.
    mutating func transactions(of id: ObjectID, before end: TransactionNumber, count: Int) throws -> [TransactionNumber] {
        let base = max(oldest, TransactionNumber(rawValue: 2), checkpoints.first { $0 < end }?.next ?? .none)
        let last = TransactionNumber(rawValue: end.rawValue - 1)
        let all = try transactions(of: id)
        return all[..<Self.count(all, upTo: last)].suffix(count).filter { $0 >= base }
    }

    /// Returns the number of transactions up to `last`.
    private static func count(_ all: [TransactionNumber], upTo last: TransactionNumber) -> Int {
        all.indices.prefixEnd { all[$0] <= last }
    }

    /// Returns the transactions that changed an object or the schema, in ascending order.
    private mutating func transactions(of id: ObjectID) throws -> [TransactionNumber] {
        if let numbers, numbers.id == id { return numbers.all }
        guard let indexed = try index.map({ try $0.transactions(of: id) }) ?? [] else { throw Mistrust() }
        let own = indexed + (rest?.transactions(of: id) ?? [])
        let all = Set(own).union(index?.schemas ?? []).union(rest?.schemas ?? []).sorted()
        numbers = (id, own, all)
        effects = [:]
        return all
    }

    // MARK: Ops

    /// Returns a transaction. Throws `Mistrust` if the log does not have it.
    mutating func record(_ number: TransactionNumber) throws -> LogRecord {
        if let record = records[number] { return record }
        guard let found = try reader.record(number) else { throw Mistrust() }
        if records.count > 2 * Self.searchedCountMax { records = [:] }
        records[number] = found
        return found
    }

    /// Returns what the ops of a transaction say about an object.
    ///
    /// - Parameter schema: The schema before and after the transaction.
    mutating func effect(of number: TransactionNumber, on id: ObjectID, _ schema: Schema) throws -> Effect {
        if let effect = effects[number] { return effect }
        let record = try record(number)
        var effect = Effect.other
        if try OpSubjects(schema).objects(of: record)?.contains(id) == true {
            var (values, isOther): ([PropertyNumber: Value], Bool) = ([:], false)
            try record.forEachOp { op in
                switch op {
                case .set(id, let assignments): for each in assignments { values[each.property] = each.value }
                case .insert(id, entity: _, _), .mark(id, _, _): isOther = true
                default: break
                }
            }
            if !isOther { effect = .sets(values) }
        }
        effects[number] = effect
        return effect
    }

    /// Returns the value of an attribute before a transaction, from the ops of earlier transactions or from a graph. Returns `nil` if the
    /// index has no earlier transaction, or if the object did not exist.
    mutating func value(
        of attribute: Attribute, of id: ObjectID, before number: TransactionNumber, _ schema: Schema
    ) throws -> Value? {
        let all = try transactions(of: id)
        var (place, end) = (Self.count(all, upTo: TransactionNumber(rawValue: number.rawValue - 1)), number)
        var searchedCount = 0
        while place > 0 {
            place -= 1
            if all[place] < oldest { return nil }
            if searchedCount < Self.searchedCountMax, case .sets(let values) = try effect(of: all[place], on: id, schema) {
                if let value = values[attribute.number] { return value }
            } else {
                let graph = try graph(all[place]..<end, of: id)
                return graph.value(of: attribute, of: id)
            }
            (end, searchedCount) = (all[place], searchedCount + 1)
        }
        return nil
    }

    // MARK: Graphs

    /// Returns a graph after one of several transactions, of which only the first one changed an object: the graph of a checkpoint if there
    /// is one. Throws `Mistrust` if the graph shows a later change of the object.
    func graph(_ range: Range<TransactionNumber>, of id: ObjectID) throws -> Graph {
        let checkpoint = checkpoints.first { range.contains($0) }
        let graph: Graph
        do {
            graph = try trail.graph(after: checkpoint ?? range.lowerBound)
        } catch let error as CambiumError where checkpoint != nil && error.code == .notFound {
            // A writer has dropped the checkpoint.
            graph = try trail.graph(after: range.lowerBound)
        }
        if let place = graph.place(of: id), graph.provenance(of: place).changed > range.lowerBound { throw Mistrust() }
        return graph
    }
}
