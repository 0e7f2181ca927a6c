/// The effect of deleting an object on the objects at the other end of a relationship.
public enum DeleteRule: String, Hashable, Sendable, CaseIterable {
    case nullify, cascade, deny, noAction
}

/// A relationship of an entity, resolved from a schema.
public final class Relationship: Sendable {
    public let number: PropertyNumber
    public let name: String
    /// The entity that declares the relationship. Sub-entities inherit it.
    public let entity: EntityNumber
    public let root: EntityNumber
    public let destination: EntityNumber
    public let destinationRoot: EntityNumber
    public let isToMany: Bool
    public let isOrdered: Bool
    /// The property at the other end, in the hierarchy of `destinationRoot`, or `nil` if the schema names no inverse.
    public let inverse: PropertyNumber?
    public let deleteRule: DeleteRule
    /// The minimum number of members; 0 if the relationship is optional.
    public let minCount: Int
    /// The maximum number of members, or `nil` for no limit.
    public let maxCount: Int?
    public let userInfo: [String: String]
    /// The index of the link in `Schema.links`, and the end of the link that this relationship is.
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

/// A relationship and its inverse, which are stored together.
///
/// If the schema names no inverse, the second end is hidden: it has no property, is to-many and unordered.
public struct Link: Sendable, Hashable {
    public struct End: Sendable, Hashable {
        /// The root entity, whose table this end starts from.
        public let root: EntityNumber
        /// The property at this end, or `nil` for a hidden end.
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
    /// Whether the relationship is its own inverse (`friends`): both ends are the same property.
    public var isSymmetric: Bool { first.property != nil && first.root == second.root && first.property == second.property }

    public init(first: End, second: End) {
        self.first = first
        self.second = second
    }
}
