/// The way in which a clone treats the objects at the end of a relationship.
///
/// ```swift
/// RecordProperty("items", \.items, .clone(.copy))
/// RecordProperty("tags", \.tags, .clone(.share))
/// ```
public enum CloneRule: UInt8, Hashable, Sendable, CaseIterable {
    /// The copy is not linked to the objects.
    case skip = 0
    /// The objects are copied, too.
    case copy = 1
    /// The copy is linked to the same objects.
    case share = 2
}

/// The options of a deep clone, in addition to the rules in the schema. Docs/Use/CLONE.md describes the options and the rules.
///
/// ```swift
/// let request = CloneRequest(excluding: ["tags"], rootValues: ["title": .string("A copy")])
/// try store.write { try $0.clone(note, request) }
/// ```
public struct CloneRequest: Hashable, Sendable {
    /// The rules for relationships at every level, by `name` or `Entity.name`. These rules override the rules of the schema.
    package var rules: [String: CloneRule]
    /// The relationships that the clone skips for the roots only, by `name` or `Entity.name`. For objects below the roots, `rules` and the
    /// schema apply to these relationships.
    package var excludedAtRoot: [String]
    /// The number of levels that are copied below the roots, or `nil` for all levels.
    package var depth: Int?
    /// The maximum number of objects that may be copied, or `nil` for no limit.
    package var objectCountMax: Int?
    package var keys: CloneKeys
    /// The attribute values of the roots' copies, by attribute name.
    package var rootValues: [String: Value]

    /// The maximum number of roots of one clone.
    package static let rootCountMax = 65_536

    /// A request can exclude only relationships: a clone throws `.unknownName` if an excluded name is not a relationship. The schema
    /// excludes attributes, by the option `exclude` or by the `userInfo`. For the roots, `rootValues` can replace the value of an
    /// attribute.
    ///
    /// - Parameters:
    ///   - excluding: The relationships that are not copied at any level, by `name` or `Entity.name`.
    ///   - excludedAtRoot: The relationships that are not copied for the roots only.
    ///   - depth: The number of levels that are copied below the roots; `nil` for all levels.
    ///   - objectCountMax: The maximum number of objects that may be copied; `nil` for no limit.
    ///   - keys: The keys under which the `userInfo` of the schema states rules for clones.
    ///   - rootValues: The attribute values of the roots' copies, by attribute name.
    public init(
        excluding: [String] = [], excludedAtRoot: [String] = [], depth: Int? = nil, objectCountMax: Int? = nil,
        keys: CloneKeys = CloneKeys(), rootValues: [String: Value] = [:]
    ) {
        rules = Dictionary(excluding.map { ($0, CloneRule.skip) }) { first, _ in first }
        self.excludedAtRoot = excludedAtRoot
        self.depth = depth
        self.objectCountMax = objectCountMax
        self.keys = keys
        self.rootValues = rootValues
    }
}
