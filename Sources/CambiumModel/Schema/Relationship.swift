/// What deleting an object does to the objects at the other end of a relationship.
public enum DeleteRule: String, Hashable, Sendable, CaseIterable {
    case nullify, cascade, deny, noAction
}

/// A relationship of an entity, as resolved from a schema.
public final class Relationship: Sendable {
    public let number: PropertyNumber
    public let name: String
    /// The entity that declares the relationship; sub-entities inherit it.
    public let entity: EntityNumber
    public let root: EntityNumber
    public let destination: EntityNumber
    public let destinationRoot: EntityNumber
    public let isToMany: Bool
    public let isOrdered: Bool
    /// The property at the other end, in the hierarchy of `destinationRoot`; nil where the schema names none.
    public let inverse: PropertyNumber?
    public let deleteRule: DeleteRule
    /// Fewest members: 0 where optional.
    public let minCount: Int
    /// Most members; nil for any number.
    public let maxCount: Int?
    public let userInfo: [String: String]
    /// Where the relationship is kept: a place in `Schema.links`, and which of the link's two ends this is.
    public let link: Int
    public let end: Int
    package let schemaName: SchemaName

    package init(
        number: PropertyNumber, name: String, formerName: String?, entity: EntityNumber, root: EntityNumber, destination: EntityNumber,
        destinationRoot: EntityNumber, isToMany: Bool, isOrdered: Bool, inverse: PropertyNumber?, deleteRule: DeleteRule,
        minCount: Int, maxCount: Int?, userInfo: [String: String], link: Int, end: Int
    ) {
        self.number = number
        self.name = name
        self.entity = entity
        self.root = root
        self.destination = destination
        self.destinationRoot = destinationRoot
        self.isToMany = isToMany
        self.isOrdered = isOrdered
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.minCount = minCount
        self.maxCount = maxCount
        self.userInfo = userInfo
        self.link = link
        self.end = end
        schemaName = SchemaName(name, formerName: formerName)
    }
}

/// A relationship and its inverse, which are stored as one thing.
///
/// Where the schema names no inverse the second end is hidden: it has no property, is to-many and unordered.
public struct Link: Sendable, Hashable {
    public struct End: Sendable, Hashable {
        /// The table that this end starts from: its root entity.
        public let root: EntityNumber
        /// Nil for a hidden end.
        public let property: PropertyNumber?
        public let isToMany: Bool
        public let isOrdered: Bool

        public init(root: EntityNumber, property: PropertyNumber?, isToMany: Bool, isOrdered: Bool) {
            self.root = root
            self.property = property
            self.isToMany = isToMany
            self.isOrdered = isOrdered
        }
    }

    public let first: End
    public let second: End
    /// A relationship that is its own inverse (`friends`): both ends are the same property.
    public var isSymmetric: Bool { first.property != nil && first.root == second.root && first.property == second.property }

    public init(first: End, second: End) {
        self.first = first
        self.second = second
    }
}
