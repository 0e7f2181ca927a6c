/// One change. A transaction consists of ops and metadata. Live writes and replays apply ops in the same way.
package enum Op: Sendable, Equatable {
    /// Sets the schema of all later ops.
    case schema(SchemaCatalog)
    /// Inserts an object of a concrete entity. Attributes without an assignment get their default values.
    case insert(ObjectID, entity: EntityNumber, [Assignment])
    case set(ObjectID, [Assignment])
    /// Links two objects. A to-one relationship loses its previous target. In an ordered relationship, the new member gets the position
    /// `index`, or the last position if `index` is `nil`.
    case link(ObjectID, PropertyNumber, target: ObjectID, index: Int?)
    case unlink(ObjectID, PropertyNumber, target: ObjectID)
    /// Moves a member of an ordered relationship. `index` is the index of the member after the move.
    case move(ObjectID, PropertyNumber, target: ObjectID, index: Int)
    /// Deletes the objects and all objects that their delete rules reach.
    case delete([ObjectID])
    case upsert(UpsertBlock)
    case relink(LinkBlock)
    /// Copies objects and the objects that they own. Docs/Use/CLONE.md has the rules. The case is indirect, so that the other ops, which
    /// are small, are not moved as values of this size.
    indirect case clone(CloneOp)
    /// Gives an object the source and the stub mark that it had before its deletion, or before an import filled it. The source is the
    /// serial of the object that a clone copied, or 0.
    case mark(ObjectID, source: UInt64, isStub: Bool)
    /// Gives a label (a name) to the moment after a transaction. If another moment has the label, moves the label. Without a transaction
    /// (`.none`), removes the label. The op does not change the graph.
    case label(String, TransactionNumber)
    /// States the transactions that this transaction undoes, in ascending order. The other ops of the transaction make the changes.
    case undo([ClosedRange<TransactionNumber>])
    /// States the digest of the graph after a transaction. A replay that computes a different digest stops. The op does not change the
    /// graph.
    case digest(of: TransactionNumber, GraphDigest)
}

extension Op {
    /// The object that the op inserts, changes or deletes. `nil` for an op that names several objects, or none.
    package var subject: ObjectID? {
        switch self {
        case .insert(let id, _, _), .set(let id, _), .link(let id, _, _, _), .unlink(let id, _, _), .move(let id, _, _, _),
            .mark(let id, _, _):
            id
        case .delete(let ids): ids.count == 1 ? ids[0] : nil
        case .schema, .upsert, .relink, .clone, .label, .digest, .undo: nil
        }
    }
}

/// A cell that an op sets: the first one, if it sets several.
package struct OpTarget: Sendable {
    package let id: ObjectID
    package let property: PropertyNumber
}

extension Op {
    /// The cell that the op sets; `nil` for an op that sets no attribute of an existing object.
    package var target: OpTarget? {
        guard case .set(let id, let assignments) = self, let first = assignments.first else { return nil }
        return OpTarget(id: id, property: first.property)
    }
}

/// A property and its new value.
package struct Assignment: Sendable, Equatable {
    package let property: PropertyNumber
    package let value: Value

    package init(_ property: PropertyNumber, _ value: Value) {
        self.property = property
        self.value = value
    }
}

/// The sum modulo 2^128 of a hash of each stored value. Graphs with the same content have the same digest, even if their histories differ.
///
/// ```swift
/// let digest = store.graph.digest()
/// print(digest, digest == mirror.graph.digest())
/// ```
public struct GraphDigest: Sendable, Hashable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The digest as 32 hexadecimal digits.
    public var description: String {
        [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// Ops with their metadata, as the log stores them.
package struct Transaction: Sendable, Equatable {
    package var number: TransactionNumber
    package var metadata: TransactionMetadata
    package var ops: [Op]

    package init(number: TransactionNumber, metadata: TransactionMetadata, ops: [Op]) {
        self.number = number
        self.metadata = metadata
        self.ops = ops
    }
}

/// The data of a transaction other than its ops: its time, author, reason and request id.
package struct TransactionMetadata: Sendable, Equatable {
    /// The time of the transaction, never earlier than the time of the previous transaction.
    package var time: Timestamp
    package var actor: String?
    package var message: String?
    package var requestID: String?
    /// The hash that the caller supplied for the content of the request, or `nil` if the caller supplied no hash.
    package var requestDigest: RequestDigest?
    /// If the system clock was set back, the difference between `time` and the clock; otherwise, zero. Always whole microseconds.
    package var clockLag: Duration

    // A writer refuses longer texts, and a reader treats a transaction with a longer text as corrupt.
    package static let actorByteCountMax = 1024
    package static let messageByteCountMax = 64_000
    package static let requestIDByteCountMax = 256

    package init(
        time: Timestamp, actor: String? = nil, message: String? = nil, requestID: String? = nil, requestDigest: RequestDigest? = nil,
        clockLag: Duration = .zero
    ) {
        self.time = time
        self.actor = actor
        self.message = message
        self.requestID = requestID
        self.requestDigest = requestDigest
        self.clockLag = clockLag
    }

    package func isBy(_ actor: String) -> Bool { self.actor?.hasSameBytes(as: actor) == true }

    /// The clock lag in microseconds, as the log stores it. A lag that is too long is stored as the maximum.
    package var clockLagMicroseconds: UInt64 {
        get {
            let (seconds, attoseconds) = clockLag.components
            let (whole, isTooLong) = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000)
            let (sum, isLonger) = whole.addingReportingOverflow(UInt64(clamping: attoseconds / 1_000_000_000_000))
            return isTooLong || isLonger ? .max : sum
        }
        set {
            let (seconds, rest) = newValue.quotientAndRemainder(dividingBy: 1_000_000)
            clockLag = Duration(secondsComponent: Int64(seconds), attosecondsComponent: Int64(rest) * 1_000_000_000_000)
        }
    }
}
