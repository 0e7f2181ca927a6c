/// What a clone does with the objects that a relationship leads to.
public enum CloneRule: UInt8, Hashable, Sendable, CaseIterable {
    /// The copy has no such link.
    case skip = 0
    /// They are copied too.
    case copy = 1
    /// The copy is linked to them.
    case share = 2
}

/// The keys of `userInfo` that steer a clone, for schemas in which their usual names are taken.
public struct CloneKeys: Hashable, Sendable {
    public var exclude: String
    public var rebuild: String
    public var followParent: String
    public var withoutParent: String

    public init(
        exclude: String = "exclude", rebuild: String = "rebuild", followParent: String = "followParent",
        withoutParent: String = "withoutParent"
    ) {
        self.exclude = exclude
        self.rebuild = rebuild
        self.followParent = followParent
        self.withoutParent = withoutParent
    }

    public static let standard = CloneKeys()
}

/// What a deep clone is asked to do beside what the schema says. Docs/CLONE.md has the rules.
///
///     var request = CloneRequest(excluding: ["tags"])
///     request.rootValues = ["title": .string("A copy")]
///     try store.write { try $0.clone(note, request) }
public struct CloneRequest: Hashable, Sendable {
    /// Rules of relationships, by `name` or `Entity.name`, at every level. They go before what the schema says.
    public var rules: [String: CloneRule]
    /// Relationships of the roots, by `name` or `Entity.name`, that are not copied.
    public var excludedAtRoot: [String]
    /// How many levels below the roots are copied; nil for all.
    public var depth: Int?
    /// The most objects that may be copied; nil for any number.
    public var objectCountMax: Int?
    public var keys: CloneKeys
    /// Attributes of the roots' copies, by name.
    public var rootValues: [String: Value]

    /// The most roots of one clone.
    public static let rootCountMax = 65_536

    /// - Parameter excluding: relationships, by `name` or `Entity.name`, that are not copied at any level.
    public init(
        excluding: [String] = [], excludedAtRoot: [String] = [], depth: Int? = nil, objectCountMax: Int? = nil,
        keys: CloneKeys = .standard, rootValues: [String: Value] = [:]
    ) {
        rules = Dictionary(excluding.map { ($0, CloneRule.skip) }) { first, _ in first }
        self.excludedAtRoot = excludedAtRoot
        self.depth = depth
        self.objectCountMax = objectCountMax
        self.keys = keys
        self.rootValues = rootValues
    }
}
