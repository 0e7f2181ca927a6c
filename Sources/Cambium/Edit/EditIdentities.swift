import CambiumModel

/// An index of the objects that an edit inserted or gave another identity. The keys are the values of the identity attributes.
///
/// If an object loses an identity, its entry stays, so that undo and redo need not change this index. A search therefore checks whether
/// each object that it finds still has the identity values.
struct EditIdentities: Sendable {
    private struct Key: Hashable {
        let root: EntityNumber
        let attributes: [PropertyNumber]
        let values: [Value]

        init(_ entity: Entity, _ values: [Value]) {
            (root, attributes, self.values) = (entity.root, entity.identity.map(\.number), values)
        }
    }

    private var objects: [Key: Set<ObjectID>] = [:]

    /// Adds an object that has these identity values now.
    mutating func note(_ id: ObjectID, _ entity: Entity, _ values: [Value]) {
        objects[Key(entity, values), default: []].insert(id)
    }

    /// Returns the objects that have or had these identity values. Complexity: O(1) expected.
    func candidates(_ entity: Entity, _ values: [Value]) -> Set<ObjectID> { objects[Key(entity, values)] ?? [] }
}
