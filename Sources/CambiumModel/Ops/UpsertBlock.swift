/// Many objects of one entity inserted, or changed in the same attributes, column by column. Imports are made of these.
public struct UpsertBlock: Sendable, Equatable {
    public enum Kind: UInt8, Sendable {
        /// New objects; every attribute of the entity has a column.
        case insert = 0
        /// New objects of which only the identity is known.
        case insertStub = 1
        /// Objects that exist; a column for each attribute that changes.
        case update = 2
        /// As `update`, and the objects are stubs no longer.
        case fill = 3
    }

    /// The concrete entity.
    public var entity: EntityNumber
    public var kind: Kind
    public var serials: SerialRuns
    /// For objects that exist: their identity, unchanged, so that the event can be understood without the graph.
    public var identity: [AttributeColumn]
    public var columns: [AttributeColumn]

    public init(
        entity: EntityNumber, kind: Kind, serials: SerialRuns, identity: [AttributeColumn], columns: [AttributeColumn]
    ) {
        self.entity = entity
        self.kind = kind
        self.serials = serials
        self.identity = identity
        self.columns = columns
    }
}

/// The values of one attribute for the objects of a block, in the order of their serials.
public struct AttributeColumn: Sendable, Equatable {
    public enum Content: Sendable, Equatable {
        /// `width` bytes little-endian for each object; zeros where null.
        case fixed(width: Int, bytes: [UInt8])
        /// The bytes of each object one after the other; length 0 where null.
        case variable(byteCounts: [UInt32], bytes: [UInt8])
    }

    public var property: PropertyNumber
    /// One bit for each object, the first in the lowest bit of the first word: set where the value is not null.
    public var presence: [UInt64]
    public var content: Content

    public init(property: PropertyNumber, presence: [UInt64], content: Content) {
        self.property = property
        self.presence = presence
        self.content = content
    }
}

/// The members of one relationship for many objects, after the change.
public struct LinkBlock: Sendable, Equatable {
    public enum Content: Sendable, Equatable {
        /// The serial of each object's target; 0 for none.
        case toOne([UInt64])
        /// For each object, how many members are removed and added, and their serials one after the other.
        case unordered(removedCounts: [UInt32], removed: [UInt64], addedCounts: [UInt32], added: [UInt64])
        /// For each object, how many members at the front stay, how many follow, and the serials of those.
        case ordered(keptCounts: [UInt32], suffixCounts: [UInt32], suffixes: [UInt64])
    }

    /// The root entity whose objects `serials` names.
    public var root: EntityNumber
    public var property: PropertyNumber
    public var serials: SerialRuns
    public var content: Content

    public init(root: EntityNumber, property: PropertyNumber, serials: SerialRuns, content: Content) {
        self.root = root
        self.property = property
        self.serials = serials
        self.content = content
    }
}

/// Ascending serials as runs of neighbours.
public struct SerialRuns: Sendable, Equatable {
    public struct Run: Sendable, Equatable {
        public var first: UInt64
        public var count: Int
    }

    public private(set) var runs: [Run] = []
    public private(set) var count = 0

    public init() {}

    /// Appends a serial that is greater than all before it.
    public mutating func append(_ serial: UInt64) {
        count += 1
        if let last = runs.indices.last, runs[last].first + UInt64(runs[last].count) == serial {
            runs[last].count += 1
        } else {
            runs.append(Run(first: serial, count: 1))
        }
    }

    /// Appends `count` neighbours, the first of which is greater than all before it.
    public mutating func append(from first: UInt64, count runCount: Int) {
        guard runCount > 0 else { return }
        count += runCount
        if let last = runs.indices.last, runs[last].first + UInt64(runs[last].count) == first {
            runs[last].count += runCount
        } else {
            runs.append(Run(first: first, count: runCount))
        }
    }
}
