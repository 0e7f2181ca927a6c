package import FoundationEssentials

/// A clone as the log stores it: the request, the random seed, the time and the result.
///
/// Replaying the op plans the clone again, and throws an error if the new plan has another result.
package struct CloneOp: Sendable, Equatable {
    /// The roots of the clone (the objects that the request names), in the order of the request and without duplicates.
    package var roots: [ObjectID]
    package var options: CloneOptions
    /// The time of the clone, or `nil` if no attribute of a copy gets this time.
    package var time: Timestamp?
    /// The seed of new UUIDs, or `nil` if the clone creates no UUIDs.
    package var seed: CloneSeed?
    /// One entry for each hierarchy in which objects were copied, in ascending order of the root entity.
    package var hierarchies: [Hierarchy]
    /// The hash of the set of copied objects. Section 4 of Docs/Formats/FORMAT.md defines the hashed bytes.
    package var setHash: UInt64
    /// The algorithm that derives new UUIDs from the seed, and the date of copies from the time.
    package var algorithm: Algorithm

    /// The algorithms for new UUIDs and dates, with their numbers in the log. New clones use the algorithm with the greatest number.
    package enum Algorithm: UInt8, Sendable {
        case ascendingHashes = 1
        case series = 2
        /// Like `series`, but the time of the clone is rounded to a date only once.
        case exactTime = 3
    }

    /// The copies that the clone creates in one hierarchy, which consists of a root entity and its descendants.
    package struct Hierarchy: Sendable, Equatable {
        package let root: EntityNumber
        /// The serial of the first copy in the hierarchy.
        package let firstSerial: UInt64
        /// The number of copied objects of each concrete entity, in ascending order of the entity. An entity without copied objects is
        /// omitted.
        package let counts: [EntityCount]

        package init(root: EntityNumber, firstSerial: UInt64, counts: [EntityCount]) {
            self.root = root
            self.firstSerial = firstSerial
            self.counts = counts
        }

        package var objectCount: Int { counts.reduce(0) { $0 + $1.count } }
    }

    package struct EntityCount: Sendable, Equatable {
        package let entity: EntityNumber
        package let count: Int

        package init(_ entity: EntityNumber, _ count: Int) {
            self.entity = entity
            self.count = count
        }
    }

    package init(
        roots: [ObjectID], options: CloneOptions, time: Timestamp?, seed: CloneSeed?, hierarchies: [Hierarchy], setHash: UInt64,
        algorithm: Algorithm = .exactTime
    ) {
        self.roots = roots
        self.options = options
        self.time = time
        self.seed = seed
        self.hierarchies = hierarchies
        self.setHash = setHash
        self.algorithm = algorithm
    }

    package var objectCount: Int { hierarchies.reduce(0) { $0 + $1.objectCount } }

    /// The time of the clone as a date, rounded as `algorithm` requires; `nil` if no attribute of a copy gets this time.
    package var date: Date? { algorithm == .exactTime ? time?.date : time?.dateFrom1970 }

    /// Whether the op creates a copy with this id.
    package func makes(_ id: ObjectID) -> Bool {
        hierarchies.contains { $0.root == id.root && id.serial >= $0.firstSerial && id.serial - $0.firstSerial < UInt64($0.objectCount) }
    }
}

/// 128 random bits, from which new UUIDs are derived.
package struct CloneSeed: Sendable, Hashable {
    package let low: UInt64
    package let high: UInt64

    package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }
}

/// The options of a clone request, with numbers instead of names.
package struct CloneOptions: Sendable, Equatable {
    /// The rule of a request for one relationship of one concrete entity.
    package struct Rule: Sendable, Hashable {
        package let entity: EntityNumber
        package let relationship: PropertyNumber
        package let rule: CloneRule
        /// Whether the rule applies only to the roots of the clone, the objects that the request names.
        package let isAtRoot: Bool

        package init(entity: EntityNumber, relationship: PropertyNumber, rule: CloneRule, isAtRoot: Bool) {
            self.entity = entity
            self.relationship = relationship
            self.rule = rule
            self.isAtRoot = isAtRoot
        }
    }

    /// The value that a request gives to an attribute in the copies of the roots, the objects that the request names. The value applies
    /// only to roots that have the attribute and belong to the hierarchy of `root`.
    package struct RootValue: Sendable, Equatable {
        package let root: EntityNumber
        package let attribute: PropertyNumber
        package let value: Value

        package init(root: EntityNumber, attribute: PropertyNumber, value: Value) {
            self.root = root
            self.attribute = attribute
            self.value = value
        }
    }

    /// The rules, sorted by entity, by relationship, and by whether they apply to the roots only. No rule occurs twice.
    package var rules: [Rule]
    package var depth: Int?
    package var keys: CloneKeys
    /// The values, sorted by hierarchy and attribute. No attribute of a hierarchy occurs twice.
    package var rootValues: [RootValue]

    package init(rules: [Rule] = [], depth: Int? = nil, keys: CloneKeys = .standard, rootValues: [RootValue] = []) {
        self.rules = rules
        self.depth = depth
        self.keys = keys
        self.rootValues = rootValues
    }
}
