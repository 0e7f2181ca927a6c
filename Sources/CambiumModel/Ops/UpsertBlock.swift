/// A block of changes to many objects of one entity. The block either inserts the objects, or changes the same attributes of each object.
/// It stores the values by attribute, in columns. An import writes most of its changes to the log as blocks.
package struct UpsertBlock: Sendable, Equatable {
    package enum Kind: UInt8, Sendable {
        /// Inserts objects. Every attribute of the entity has a column.
        case insert = 0
        /// Inserts stubs: objects of which only the identity is known.
        case insertStub = 1
        /// Changes objects that exist. Each changed attribute has a column.
        case update = 2
        /// Changes objects as `update` does, and makes stubs complete.
        case fill = 3

        /// Whether the block creates objects.
        package var isInsert: Bool { self == .insert || self == .insertStub }
    }

    /// The concrete entity of the objects.
    package var entity: EntityNumber
    package var kind: Kind
    package var serials: SerialRuns
    /// The identity values of the objects, if the objects already exist. The block does not change these values. A reader of the log needs
    /// them to interpret the block without a graph.
    package var identity: [AttributeColumn]
    package var columns: [AttributeColumn]

    package init(
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
package struct AttributeColumn: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        /// `width` bytes for each object, little-endian; zeros for null.
        case fixed(width: Int, bytes: [UInt8])
        /// The bytes of all values, concatenated; length 0 for null.
        case variable(byteCounts: [UInt32], bytes: [UInt8])
    }

    package var property: PropertyNumber
    /// One bit for each object, set if the value is not null. The first object has the lowest bit of the first word.
    package var presence: [UInt64]
    package var content: Content

    package init(property: PropertyNumber, presence: [UInt64], content: Content) {
        self.property = property
        self.presence = presence
        self.content = content
    }
}

/// The changes to one relationship of many objects.
package struct LinkBlock: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        /// The serial of each object's target after the change, or 0 for no target.
        case toOne([UInt64])
        /// For each object, `removedCounts` and `addedCounts` have the numbers of removed and added members. `removed` and `added` have the
        /// serials of these members, object by object.
        case unordered(removedCounts: [UInt32], removed: [UInt64], addedCounts: [UInt32], added: [UInt64])
        /// For each object, the change keeps the first members, and replaces the rest. `keptCounts` has the numbers of kept members, and
        /// `suffixCounts` the numbers of members that replace the rest. `suffixes` has the serials of the replacing members, object by
        /// object.
        case ordered(keptCounts: [UInt32], suffixCounts: [UInt32], suffixes: [UInt64])
    }

    /// The root entity of the objects with the serials in `serials`.
    package var root: EntityNumber
    package var property: PropertyNumber
    package var serials: SerialRuns
    package var content: Content

    package init(root: EntityNumber, property: PropertyNumber, serials: SerialRuns, content: Content) {
        self.root = root
        self.property = property
        self.serials = serials
        self.content = content
    }
}

/// Ascending serials, stored as runs of consecutive numbers.
package struct SerialRuns: Sendable, Equatable {
    /// The serials from `first` to `first + count - 1`.
    package struct Run: Sendable, Equatable {
        package var first: UInt64
        package var count: Int
    }

    package private(set) var runs: [Run] = []
    package private(set) var count = 0

    package init() {}

    /// Appends a serial that is greater than all previous serials.
    package mutating func append(_ serial: UInt64) {
        count += 1
        if let last = runs.indices.last, runs[last].first + UInt64(runs[last].count) == serial {
            runs[last].count += 1
        } else {
            runs.append(Run(first: serial, count: 1))
        }
    }

    /// Appends `count` consecutive serials. The first of them must be greater than all previous serials.
    package mutating func append(from first: UInt64, count runCount: Int) {
        guard runCount > 0 else { return }
        count += runCount
        if let last = runs.indices.last, runs[last].first + UInt64(runs[last].count) == first {
            runs[last].count += runCount
        } else {
            runs.append(Run(first: first, count: runCount))
        }
    }
}
