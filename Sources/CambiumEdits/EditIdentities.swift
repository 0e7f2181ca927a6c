import CambiumModel

/// An index of the objects that an edit inserted or gave another identity, by the keys of their identities.
///
/// If an object loses an identity, its entry stays, so that undo and redo need not change this index. A search therefore checks whether
/// each object that it finds still has the identity values.
struct EditIdentities: Sendable {
    private struct Key: Hashable {
        let root: EntityNumber
        let properties: [PropertyNumber]
        let parts: [IdentityKeyPart]

        init(_ entity: Entity, _ parts: [IdentityKeyPart]) {
            (root, properties, self.parts) = (entity.root, entity.identity.map(\.number), parts)
        }
    }

    private var objects: [Key: Set<ObjectID>] = [:]

    /// Adds an object that has this identity now.
    mutating func track(_ id: ObjectID, _ entity: Entity, _ key: [IdentityKeyPart]) {
        objects[Key(entity, key), default: []].insert(id)
    }

    /// Returns the objects that have or had this identity. Complexity: O(1) expected.
    func candidates(_ entity: Entity, _ key: [IdentityKeyPart]) -> Set<ObjectID> { objects[Key(entity, key)] ?? [] }
}
