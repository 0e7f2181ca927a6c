import CambiumModel

/// The rules of a new schema that existing objects may break. The commit checks them with all other rules of the transaction. The type is a
/// class, so that a draft holds only a reference. A larger draft would take longer to move.
final class MigrationChecks {
    /// An attribute that must be checked in the objects of some entities.
    struct Mandatory: Sendable {
        let attribute: Attribute
        let entities: Set<EntityNumber>
    }

    struct Members: Sendable {
        let relationship: Relationship
        let entities: Set<EntityNumber>
    }

    /// An object that had several members in a relationship that became to-one.
    struct Narrowed: Sendable {
        let relationship: Relationship
        let row: UInt32
        let serial: UInt64
        /// The number of members before the migration.
        let count: Int
        /// The row of the member that the object keeps.
        let kept: UInt32?
    }

    let mandatory: [Mandatory]
    let values: [Mandatory]
    /// The attributes whose values may have lost something when their type changed.
    let conversions: [Mandatory]
    /// The objects that lost members, because a relationship became to-one.
    var narrowed: [Narrowed] = []
    /// Whether the caller accepts the nearest value if a value has no exact equivalent in the new type, and the first member of a
    /// relationship that becomes to-one.
    var acceptsNearest = false
    /// The relationships whose numbers of members must be checked.
    let counts: [Members]
    /// The relationships whose members must be checked, because the relationship may no longer accept their entity.
    let targets: [Members]

    init(mandatory: [Mandatory], values: [Mandatory], conversions: [Mandatory], counts: [Members], targets: [Members]) {
        (self.mandatory, self.values, self.conversions) = (mandatory, values, conversions)
        (self.counts, self.targets) = (counts, targets)
    }
}
