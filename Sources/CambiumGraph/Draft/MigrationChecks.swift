import CambiumModel

/// The rules of a new schema that existing objects may break. They are checked together with all other rules of the transaction. This type
/// is a class, because each draft has a field for it, and drafts are moved often.
final class MigrationChecks {
    /// An attribute that must be checked in the objects of some entities.
    struct Mandatory: Sendable {
        let attribute: Attribute
        var entities: Set<EntityNumber>
    }

    struct Members: Sendable {
        let relationship: Relationship
        let entities: Set<EntityNumber>
    }

    let mandatory: [Mandatory]
    let values: [Mandatory]
    /// The checks of numbers of members.
    let counts: [Members]
    /// The checks that members are of the wanted entity.
    let targets: [Members]

    init(mandatory: [Mandatory], values: [Mandatory], counts: [Members], targets: [Members]) {
        (self.mandatory, self.values, self.counts, self.targets) = (mandatory, values, counts, targets)
    }
}
