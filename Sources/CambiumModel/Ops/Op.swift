/// One change. A transaction is ops and metadata; live writes and replay go through the same `apply`.
public enum Op: Sendable, Equatable {
    /// The schema from here on.
    case schema(SchemaCatalog)
    /// A new object of a concrete entity; attributes that are not assigned have their defaults.
    case insert(ObjectID, entity: EntityNumber, [Assignment])
    case set(ObjectID, [Assignment])
    /// Links two objects. A to-one relationship loses the target it had. In an ordered relationship the target stands at
    /// `index`, at the end where nil.
    case link(ObjectID, PropertyNumber, target: ObjectID, index: Int?)
    case unlink(ObjectID, PropertyNumber, target: ObjectID)
    /// Moves a member of an ordered relationship to the index that it has afterwards.
    case move(ObjectID, PropertyNumber, target: ObjectID, index: Int)
    /// Deletes the objects and what their delete rules reach.
    case delete([ObjectID])
    case upsert(UpsertBlock)
    case relink(LinkBlock)
    /// Copies objects and what they own. Docs/CLONE.md has the rules.
    case clone(CloneOp)
    /// Gives a moment a name, which another one may have had before. Changes nothing in the graph.
    case label(String, TransactionNumber)
    /// The digest of the graph as it was after the transaction named. Changes nothing; a replay that disagrees stops.
    case digest(of: TransactionNumber, GraphDigest)
}

public struct Assignment: Sendable, Equatable {
    public let property: PropertyNumber
    public let value: Value

    public init(_ property: PropertyNumber, _ value: Value) {
        self.property = property
        self.value = value
    }
}

/// The sum modulo 2^128 of a hash of each stored value: the same for the same content, however it came about.
public struct GraphDigest: Sendable, Hashable, CustomStringConvertible {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// 32 hexadecimal digits.
    public var description: String {
        [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// Ops with who, when and why: what the log keeps.
public struct Transaction: Sendable, Equatable {
    public var number: TransactionNumber
    public var metadata: TransactionMetadata
    public var ops: [Op]

    public init(number: TransactionNumber, metadata: TransactionMetadata, ops: [Op]) {
        self.number = number
        self.metadata = metadata
        self.ops = ops
    }
}

public struct TransactionMetadata: Sendable, Equatable {
    /// When it was made; never earlier than the transaction before.
    public var time: Timestamp
    public var actor: String?
    public var message: String?
    public var requestID: String?
    /// What the request asked for, as a hash of the caller's; nil without one.
    public var requestDigest: RequestDigest?
    /// By how much the system's clock was behind `time`, because it had gone back; zero mostly. Whole microseconds.
    public var clockLag: Duration

    @inlinable public init(
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
}
