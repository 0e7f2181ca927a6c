/// A relationship of a schema definition.
///
/// ```swift
/// RelationshipDefinition("items", to: "Item", .orderedToMany, inverse: "note", onDelete: .cascade, min: 1)
/// ```
public struct RelationshipDefinition: PropertyDefinition, Hashable {
    /// How many members an object can have, and whether they have an order.
    public enum Cardinality: Sendable, Hashable { case toOne, toMany, orderedToMany }

    package var name: String
    package var destination: String
    package var cardinality: Cardinality
    package var inverse: String?
    package var deleteRule: DeleteRule
    package var orphanRule: OrphanRule
    /// The minimum number of members, or `nil` for no minimum.
    package var minCount: Int?
    /// The maximum number of members. `nil` means no limit. For a to-one relationship, it means one member.
    package var maxCount: Int?
    package var userInfo: [String: String] = [:]
    /// The relationship's name in an earlier version of the schema.
    package var formerName: String?
    package var number: UInt16?

    /// Creates a definition. `Schema.init` checks the definition.
    ///
    /// - Parameters:
    ///   - destination: The entity of the members.
    ///   - inverse: The relationship that leads back from the destination. Without an inverse, no relationship leads back.
    ///   - deleteRule: The effect of deleting an object on its members.
    ///   - orphanRule: The effect on a member if it loses its last owner. `delete` deletes the member at the end of the transaction.
    ///   - min: The minimum number of members. 1 makes a to-one relationship mandatory.
    ///   - max: The maximum number of members of a to-many relationship. `nil` means no limit.
    ///   - renamedFrom: The relationship's name in the schema that a migration replaces.
    public init(
        _ name: String, to destination: String, _ cardinality: Cardinality = .toOne, inverse: String? = nil,
        onDelete deleteRule: DeleteRule = .nullify, orphans orphanRule: OrphanRule = .keep, min: Int? = nil, max: Int? = nil,
        userInfo: [String: String] = [:], renamedFrom: String? = nil
    ) {
        self.name = name
        self.destination = destination
        self.cardinality = cardinality
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.orphanRule = orphanRule
        minCount = min
        maxCount = max
        self.userInfo = userInfo
        formerName = renamedFrom
    }
}
