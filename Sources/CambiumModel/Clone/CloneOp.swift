/// A clone as the log keeps it: what was asked for, all that chance and the clock gave, and what it came to.
///
/// Who applies it plans the clone again; a plan that comes to something else is an error.
public struct CloneOp: Sendable, Equatable {
    /// In the order of the request, each once.
    public var roots: [ObjectID]
    public var options: CloneOptions
    /// The time of the clone; nil if no copy gets it.
    public var time: Timestamp?
    /// What new UUIDs are made of; nil where there are none.
    public var seed: CloneSeed?
    /// For each hierarchy of which anything is copied, by ascending number.
    public var hierarchies: [Hierarchy]
    /// Of the set of objects that are copied. FORMAT.md 4 has what is hashed.
    public var setHash: UInt64
    /// How new UUIDs are made of the seed.
    public var algorithm: Algorithm

    /// The number of the op's algorithm in the log. Clones that are made now are of the last one.
    public enum Algorithm: UInt8, Sendable {
        case ascendingHashes = 1
        case series = 2
    }

    public struct Hierarchy: Sendable, Equatable {
        public let root: EntityNumber
        /// The serial of its first copy.
        public let firstSerial: UInt64
        /// How many objects of each concrete entity are copied, by ascending number, none of them 0.
        public let counts: [EntityCount]

        public init(root: EntityNumber, firstSerial: UInt64, counts: [EntityCount]) {
            self.root = root
            self.firstSerial = firstSerial
            self.counts = counts
        }

        public var objectCount: Int { counts.reduce(0) { $0 + $1.count } }
    }

    public struct EntityCount: Sendable, Equatable {
        public let entity: EntityNumber
        public let count: Int

        public init(_ entity: EntityNumber, _ count: Int) {
            self.entity = entity
            self.count = count
        }
    }

    public init(
        roots: [ObjectID], options: CloneOptions, time: Timestamp?, seed: CloneSeed?, hierarchies: [Hierarchy], setHash: UInt64,
        algorithm: Algorithm = .series
    ) {
        self.roots = roots
        self.options = options
        self.time = time
        self.seed = seed
        self.hierarchies = hierarchies
        self.setHash = setHash
        self.algorithm = algorithm
    }

    public var objectCount: Int { hierarchies.reduce(0) { $0 + $1.objectCount } }

    /// Whether an id is one of a copy that the op makes.
    public func makes(_ id: ObjectID) -> Bool {
        hierarchies.contains { $0.root == id.root && id.serial >= $0.firstSerial && id.serial - $0.firstSerial < UInt64($0.objectCount) }
    }
}

/// 128 random bits.
public struct CloneSeed: Sendable, Hashable {
    public let low: UInt64
    public let high: UInt64

    public init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }
}

/// What was asked of a clone, with numbers in place of names.
public struct CloneOptions: Sendable, Equatable {
    /// What a request says of a relationship of one concrete entity.
    public struct Rule: Sendable, Hashable {
        public let entity: EntityNumber
        public let relationship: PropertyNumber
        public let rule: CloneRule
        /// For the roots only.
        public let isAtRoot: Bool

        public init(entity: EntityNumber, relationship: PropertyNumber, rule: CloneRule, isAtRoot: Bool) {
            self.entity = entity
            self.relationship = relationship
            self.rule = rule
            self.isAtRoot = isAtRoot
        }
    }

    /// An attribute's value for all roots of one hierarchy that have the attribute.
    public struct RootValue: Sendable, Equatable {
        public let root: EntityNumber
        public let attribute: PropertyNumber
        public let value: Value

        public init(root: EntityNumber, attribute: PropertyNumber, value: Value) {
            self.root = root
            self.attribute = attribute
            self.value = value
        }
    }

    /// By ascending entity, relationship, and whether at the root; each once.
    public var rules: [Rule]
    public var depth: Int?
    public var keys: CloneKeys
    /// By ascending hierarchy and attribute; each once.
    public var rootValues: [RootValue]

    public init(rules: [Rule] = [], depth: Int? = nil, keys: CloneKeys = .standard, rootValues: [RootValue] = []) {
        self.rules = rules
        self.depth = depth
        self.keys = keys
        self.rootValues = rootValues
    }
}
