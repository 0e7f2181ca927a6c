import CambiumModel

/// A link between two objects that an edit adds or removes, described from the object at one end.
struct EditLink: Sendable {
    enum Kind: Sendable { case added, removed }

    let kind: Kind
    let id: ObjectID
    let relationship: Relationship
    let target: ObjectID
    /// The relationship at the other end; `nil` if the schema names no inverse.
    let inverse: Relationship?

    /// The relationships that contain the link: `relationship`, and its inverse if there is one.
    var ends: [(place: EditPlace, relationship: Relationship)] {
        let own = (EditPlace(id, relationship.number), relationship)
        return inverse.map { [own, (EditPlace(target, $0.number), $0)] } ?? [own]
    }
}

/// The links that an edit adds and removes, without duplicates.
struct EditLinks: Sendable {
    var all: [EditLink] = []

    private struct Key: Hashable {
        let place: EditPlace
        let target: ObjectID
    }

    /// Collects the links of an edit. Complexity: O(changed objects and members of their changed relationships).
    init(_ edit: Edit) {
        var seen = Set<Key>()
        for id in edit.overlay.objects.keys.sorted() {
            guard let state = edit.overlay[id], let entity = edit.knownEntity(of: id), !edit.isUnborn(id) else { continue }
            for relationship in entity.relationships where state.hasLinks(relationship.number) {
                let inverse = edit.inverse(relationship)
                for target in edit.removedMembers(relationship, of: id, state) where !edit.isLeft(id, relationship, target) {
                    add(EditLink(kind: .removed, id: id, relationship: relationship, target: target, inverse: inverse), &seen)
                }
                for target in edit.addedMembers(relationship, of: id, state) where !edit.isUnborn(target) {
                    if edit.isReplaced(id, relationship, target) { continue }
                    add(EditLink(kind: .added, id: id, relationship: relationship, target: target, inverse: inverse), &seen)
                }
            }
        }
    }

    private mutating func add(_ link: EditLink, _ seen: inout Set<Key>) {
        let keys = link.ends.map(\.place).enumerated().map { Key(place: $1, target: $0 == 0 ? link.target : link.id) }
        if keys.contains(where: seen.contains) { return }
        seen.formUnion(keys)
        all.append(link)
    }
}

extension Edit {
    /// Whether the edit removes a link only by deleting the target. In that case, the link is not in the list of removed links: the
    /// deletion removes it, by the rules of the schema.
    fileprivate func isLeft(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) -> Bool {
        guard isDeleted(target) else { return false }
        return inverse(relationship).map { isRawLinked(target, $0, id) } ?? true
    }

    /// Whether the edit linked `target` to the object `id`, deleted `id`, and then gave the to-one relationship of `target` its original
    /// object again. In that case, the link is not in the list of added links: adding it would remove the link to the original object.
    /// Returns `false` for a `deny` rule, because the commit must find the link and refuse the deletion.
    fileprivate func isReplaced(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) -> Bool {
        guard isDeleted(id), relationship.deleteRule != .deny, let inverse = inverse(relationship), !inverse.isToMany else { return false }
        guard let stated = overlay[target]?.targets[inverse.number] else { return true }
        return stated.id == originalMembers(inverse, of: target).first
    }
}
