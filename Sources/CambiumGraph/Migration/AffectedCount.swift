package import CambiumModel

/// Objects, values or members that a migration would affect. `Graph.counts(of:)` counts them.
package struct AffectedCount: Sendable {
    package enum Subject: Sendable {
        /// The objects that have a value of an attribute.
        case present(Attribute)
        /// The objects without a value of an attribute, except stubs, of which only the identity is known.
        case missing(Attribute)
        /// The members of a relationship, summed over the objects.
        case members(Relationship)
        /// The objects that have a member in a relationship.
        case owners(Relationship)
        /// The members of a relationship beyond the first member of each object, summed over the objects.
        case surplus(Relationship)
        /// The same for the other end of a relationship that has no inverse: the objects that lead to a member, beyond the first one.
        case inverseSurplus(Relationship)
        /// The objects of the hierarchy of a root entity, except stubs.
        case full(EntityNumber)
    }

    let subject: Subject
    /// The concrete entities of the objects.
    let entities: Set<EntityNumber>

    package init(_ subject: Subject, in entities: Set<EntityNumber>) {
        self.subject = subject
        self.entities = entities
    }

    /// The root entity of the objects.
    var root: EntityNumber {
        switch subject {
        case .present(let attribute), .missing(let attribute): attribute.root
        case .members(let relationship), .owners(let relationship), .surplus(let relationship): relationship.root
        case .inverseSurplus(let relationship): relationship.destinationRoot
        case .full(let root): root
        }
    }
}
