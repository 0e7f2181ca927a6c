import ArgumentParser
import Cambium

/// The options of `log` that select the transactions to list.
struct LogSelection: ParsableArguments {
    // `unconditional` accepts a minus sign, so that an error can state the wrong moment.
    @Option(parsing: .unconditional, help: .init("List transactions from this moment on.", valueName: "moment"))
    var from: Moment?
    @Option(parsing: .unconditional, help: .init("List transactions up to this moment.", valueName: "moment"))
    var to: Moment?
    @Option(
        parsing: .unconditional,
        help: .init("Read the log as it was at this moment. Later transactions are omitted.", valueName: "moment"))
    var at: Moment?
    @Option(help: .init("List only transactions that name this object: \(ObjectIdentity.forms).", valueName: "object"))
    var object: String?
    @Option(
        help: .init(
            "List only transactions that name objects of this entity, or of an entity with a common ancestor.", valueName: "name"),
        completion: .custom(NameCompletion.entities))
    var entity: String?
    @Option(help: .init("List only transactions of this actor.", valueName: "name")) var actor: String?

    func validate() throws {
        if at != nil, to != nil { throw ValidationError("--at and --to both end the list. Omit one of them.") }
        let now = StoreEnvironment.system.now()
        guard let start = from?.point(.start, now: now), let end = (to ?? at)?.point(.end, now: now) else { return }
        guard start.isLater(than: end) else { return }
        throw ValidationError("The range is empty, because --from is later than \(at == nil ? "--to" : "--at"). Exchange the moments.")
    }

    /// Returns the id of the object of `--object`. If the option has an identity, finds its object at the moment of `--at`, or in the
    /// newest graph.
    func objectID(in store: String) throws -> String? {
        guard let object, object.contains(":"), !object.prefix(while: { $0 != ":" }).contains("/") else { return object }
        let graph = try ReadOnlyStore(at: store, point: at?.point(.end) ?? .latest).graph
        do throws(CambiumError) {
            return graph.text(of: try graph.object(object))
        } catch {
            var error = error
            if error.code == .notFound { error.message += " If the object was deleted, pass its id, or an earlier moment with --at." }
            throw error
        }
    }

    /// Returns the range from `--from` to `--to` or `--at`. Throws `.notFound` if the store lacks a label or the moment of `--at`.
    func range(in store: String, now: Timestamp = StoreEnvironment.system.now()) throws -> LogRange {
        let start = try from.map { try Self.resolved($0.point(.start, now: now), store) } ?? .latest
        if let at {
            let graph = try ReadOnlyStore(at: store, point: at.point(.end, now: now)).graph
            return LogRange(from: start, to: .transaction(graph.transaction), schema: graph.schema)
        }
        return LogRange(from: start, to: try to.map { try Self.resolved($0.point(.end, now: now), store) } ?? .latest, schema: nil)
    }

    /// Returns the transaction of a label as a point. Returns any other point unchanged, because its moment need not be in the log.
    private static func resolved(_ point: Point, _ store: String) throws -> Point {
        guard case .label(let name) = point else { return point }
        if let number = try ReadOnlyStore(at: store).graph.labels[name] { return .transaction(number) }
        // The store has no such label, so opening the store at the point throws an error that lists the existing labels.
        return .transaction(try ReadOnlyStore(at: store, point: point).graph.transaction)
    }
}

extension Point {
    /// Returns whether the point is certainly later than `other`. Only two numbers or two times are compared, because this check does not
    /// read the store.
    fileprivate func isLater(than other: Point) -> Bool {
        switch (self, other) {
        case (.transaction(let number), .transaction(let end)): number > end
        case (.time(let time), .time(let end)): time > end
        default: false
        }
    }
}

/// A range of transactions, given by numbers or times. A bound of `.latest` means that there is no bound.
struct LogRange {
    let from: Point
    let to: Point
    /// The schema at the moment of `--at`; `nil` without this option.
    let schema: Schema?

    func contains(_ entry: TransactionLog.Entry) -> Bool {
        let isAfterStart =
            switch from {
            case .transaction(let number): entry.number >= number
            case .time(let time): entry.metadata.time >= time
            case .latest, .label: true
            }
        return isAfterStart && !isAfterEnd(entry)
    }

    /// Returns whether a transaction after `entry` may be in the range.
    func mayContinue(after entry: TransactionLog.Entry) -> Bool {
        if case .transaction(let number) = to { return entry.number < number }
        return !isAfterEnd(entry)
    }

    /// Returns whether a transaction comes after the range.
    func isAfterEnd(_ entry: TransactionLog.Entry) -> Bool {
        switch to {
        case .transaction(let number): entry.number > number
        case .time(let time): entry.metadata.time > time
        case .latest, .label: false
        }
    }

    /// The time to wait after the end of a range for its last transactions. A transaction gets its time shortly before other processes can
    /// read it. So another process may see a transaction of the range only after the end of the range.
    private static let commitDuration = Duration.seconds(1)

    /// Returns whether a log that was read at a time has all transactions of the range. Later transactions have later times.
    func isComplete(readAt time: Timestamp) -> Bool {
        if case .time(let end) = to { time > end + Self.commitDuration } else { false }
    }
}

extension TransactionLog {
    /// Calls `body` with each transaction up to the end of a range. Waits for the transactions that other processes have yet to commit.
    func follow(_ range: LogRange, _ body: (Entry) throws -> Void) throws {
        struct EndOfRange: Error {}
        var readTime = StoreEnvironment.system.now()
        func pause() throws {
            if range.isComplete(readAt: readTime) { throw EndOfRange() }
            Terminal.pause()
            readTime = StoreEnvironment.system.now()
        }
        do {
            try follow(pause: pause) { entry in
                try body(entry)
                return range.mayContinue(after: entry)
            }
        } catch is EndOfRange {}  // No later transaction is in the range.
    }
}
