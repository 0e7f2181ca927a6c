internal import CambiumBytes
import CambiumGraph
import CambiumModel

/// The changes in the store that conflict with an edit.
///
/// ```swift
/// var edit = store.edit(tracking: .writesAndReads)
/// let price = try edit[product, "price"]
/// try edit.set(order, "total", to: price)
/// try store.commit(&edit)  // Throws `.conflict` if the price has changed in the store.
/// ```
public enum EditTracking: Sendable {
    /// Changes to the properties that the edit writes.
    case writes
    /// Changes to the properties that the edit writes, and to everything that the caller read through the edit. If such an edit has no
    /// conflict, the same calls on the newer graph would read the same, and lead to the same result.
    case writesAndReads
}

/// The reads of a caller through an edit. The state of the edit itself does not count, because no other writer can change it.
final class EditReads: Sendable {
    struct All: Sendable {
        /// The attributes and relationships that were read.
        var places = Set<EditPlace>()
        /// The objects whose existence the caller has learned, or that were found not to exist.
        var objects = Set<ObjectID>()
        /// The entities whose objects were counted.
        var counts = Set<EntityNumber>()
        /// The entities whose objects were listed.
        var lists = Set<EntityNumber>()
        /// The identities that were searched.
        var identities = Set<Identity>()
    }

    struct Identity: Hashable, Sendable {
        let entity: EntityNumber
        let values: [Value]
    }

    private let state: Guarded<All>

    init(_ all: All = All()) { state = Guarded(all) }

    var all: All { state.withLock { $0 } }

    func track(_ place: EditPlace) { _ = state.withLock { $0.places.insert(place) } }

    func track(_ id: ObjectID) { _ = state.withLock { $0.objects.insert(id) } }

    func trackCount(of entity: EntityNumber) { _ = state.withLock { $0.counts.insert(entity) } }

    func trackList(of entity: EntityNumber) { _ = state.withLock { $0.lists.insert(entity) } }

    func track(_ identity: Identity) { _ = state.withLock { $0.identities.insert(identity) } }
}

extension Edit {
    /// Records that a call depends on whether an object exists.
    func trackRead(of id: ObjectID) { if !id.isProvisional { reads?.track(id) } }

    /// Records that a call depends on an attribute, unless the edit itself sets it.
    func trackRead(_ attribute: Attribute, of id: ObjectID) {
        guard let reads, !id.isProvisional, overlay[id]?.values[attribute.number] == nil else { return }
        reads.track(EditPlace(id, attribute.number))
    }

    /// Records that a call depends on the members of a relationship, unless the edit itself sets them. An empty to-one relationship counts
    /// as read although the edit emptied it: the edit may have emptied it only because another object had been there.
    func trackRead(_ relationship: Relationship, of id: ObjectID) {
        guard let reads, !id.isProvisional, overlay[id]?.targets[relationship.number]?.id == nil else { return }
        reads.track(EditPlace(id, relationship.number))
    }

    /// Records that a call depends on the parts of an object's identity that the edit does not set.
    func trackReads(ofIdentityOf id: ObjectID, _ entity: Entity) {
        if reads == nil { return }
        for component in entity.identity {
            switch component {
            case .attribute(let attribute): trackRead(attribute, of: id)
            case .relationship(let relationship): trackRead(relationship, of: id)
            }
        }
    }
}
