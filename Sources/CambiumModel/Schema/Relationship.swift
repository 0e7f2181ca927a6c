/// The effect of a deletion on the objects at the other end of a relationship.
///
/// ```swift
/// RelationshipDefinition("items", to: "Item", .toMany, inverse: "note", onDelete: .cascade)
/// RelationshipDefinition("author", to: "Person", inverse: "notes", onDelete: .deny)
/// ```
///
/// `nullify` removes the links, and the members stay. `cascade` also deletes the members. `deny` refuses the deletion if a member still
/// exists at the end of the transaction. `noAction` removes the links as `nullify` does, but does not check the rules of the members, such
/// as a mandatory relationship to the deleted object.
public enum DeleteRule: String, Hashable, Sendable, CaseIterable {
    case nullify, cascade, deny, noAction
}

/// The effect on a member if it loses its last owner in a relationship.
///
/// ```swift
/// RelationshipDefinition("addresses", to: "Address", .toMany, inverse: "user", onDelete: .cascade, orphans: .delete)
/// ```
///
/// `keep` has no effect. `delete` deletes the member at the end of the transaction, unless another object has become its owner. The rule
/// does not apply if the owner itself is deleted; in this case, the `DeleteRule` of the relationship decides.
public enum OrphanRule: String, Hashable, Sendable, CaseIterable {
    case keep, delete
}

/// A relationship of an entity, resolved from a schema.
///
/// ```swift
/// let note = try store.schema.required("Note")
/// for relationship in note.relationships { print(relationship.name, relationship.isToMany, relationship.deleteRule) }
/// ```
public final class Relationship: Sendable {
    package let number: PropertyNumber
    /// The name in the schema.
    public let name: String
    /// The entity that declares the relationship. Its sub-entities inherit the relationship.
    package let entity: EntityNumber
    package let root: EntityNumber
    package let destination: EntityNumber
    package let destinationRoot: EntityNumber
    /// Whether an object can have several members.
    public let isToMany: Bool
    /// Whether the members have an order.
    public let isOrdered: Bool
    /// The relationship at the other end of the link, in the hierarchy of `destinationRoot`. It is `nil` if the schema names no inverse.
    package let inverse: PropertyNumber?
    /// The effect of deleting an object on its members.
    public let deleteRule: DeleteRule
    /// The effect on a member if it loses its last owner.
    public let orphanRule: OrphanRule
    /// The minimum number of members; 0 if the relationship is optional.
    package let minCount: Int
    /// The maximum number of members, or `nil` for no limit.
    package let maxCount: Int?
    /// The texts that the schema attaches to the relationship. Some keys control clones.
    public let userInfo: [String: String]
    /// The index of the relationship's link in `Schema.links`.
    package let link: Int
    /// The number of this relationship's end of the link: 0 for `Link.first`, 1 for `Link.second`.
    package let end: Int
    package let schemaName: SchemaName
    /// The name before the schema renamed the relationship; `nil` if the schema states no such name.
    package let formerName: String?

    package init(
        number: PropertyNumber, name: String, formerName: String?, entity: EntityNumber, root: EntityNumber, destination: EntityNumber,
        destinationRoot: EntityNumber, isToMany: Bool, isOrdered: Bool, inverse: PropertyNumber?, deleteRule: DeleteRule,
        orphanRule: OrphanRule, minCount: Int, maxCount: Int?, userInfo: [String: String], link: Int, end: Int
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
        self.orphanRule = orphanRule
        self.minCount = minCount
        self.maxCount = maxCount
        self.userInfo = userInfo
        self.link = link
        self.end = end
        self.formerName = formerName
        schemaName = SchemaName(name, formerName: formerName)
    }
}

/// A relationship and its inverse. Both are stored as one link.
///
/// If the schema names no inverse, the second end is hidden: it has no property, it is to-many, and it has no order.
package struct Link: Sendable, Hashable {
    package struct End: Sendable, Hashable {
        /// The root entity whose table contains the objects at this end.
        package let root: EntityNumber
        /// The property at this end, or `nil` if the schema names no inverse for the relationship at the other end.
        package let property: PropertyNumber?
        package let isToMany: Bool
        package let isOrdered: Bool

        package init(root: EntityNumber, property: PropertyNumber?, isToMany: Bool, isOrdered: Bool) {
            self.root = root
            self.property = property
            self.isToMany = isToMany
            self.isOrdered = isOrdered
        }
    }

    package let first: End
    package let second: End
    /// Whether the relationship is its own inverse (`friends`): both ends are the same property.
    package var isSymmetric: Bool { first.property != nil && first.root == second.root && first.property == second.property }

    package init(first: End, second: End) {
        self.first = first
        self.second = second
    }
}
