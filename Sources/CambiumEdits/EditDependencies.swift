import CambiumGraph
import CambiumModel

/// Tables for `EditDrops.reduce`. They list the changes of the edit that may become impossible if an object or a relationship stays as it
/// is in the store.
struct EditDependencies {
    /// For each relationship of an object, the indexes of the links that the edit adds to the relationship or removes from it.
    private(set) var linksAtEnds: [EditPlace: [Int]] = [:]
    /// For each object, the indexes of the links with that object that the edit adds or removes.
    private(set) var linksOfObjects: [ObjectID: [Int]] = [:]
    /// For each call to `delete`, by its number, the objects that the call deleted.
    private(set) var objectsOfDeletions: [Int: [ObjectID]] = [:]
    /// For each object, the calls to `delete` whose cascade would reach the object in the store.
    private(set) var cascadesToObjects: [ObjectID: [Int]] = [:]

    init(_ links: [EditLink], of edit: Edit, on theirs: Graph?) {
        var removed: [EditPlace: Set<ObjectID>] = [:]
        for (index, link) in links.enumerated() {
            for (place, _) in link.ends {
                linksAtEnds[place, default: []].append(index)
                if link.kind == .removed { removed[place, default: []].formUnion([link.id, link.target]) }
            }
            for id in Set([link.id, link.target]) { linksOfObjects[id, default: []].append(index) }
        }
        for (id, state) in edit.overlay.objects {
            if let deletion = state.deletion { objectsOfDeletions[deletion, default: []].append(id) }
        }
        guard let theirs else { return }
        for (deletion, ids) in objectsOfDeletions { followCascades(of: deletion, from: ids, removed, theirs) }
    }

    /// Records the objects that the cascade of a call to `delete` would reach in the store. The cascade can also lead through objects that
    /// the edit does not delete, such as those that another writer has inserted since the base. The cascade does not follow a link that the
    /// edit removes, because links are removed before objects are deleted.
    private mutating func followCascades(
        of deletion: Int, from ids: [ObjectID], _ removed: [EditPlace: Set<ObjectID>], _ theirs: Graph
    ) {
        var seen = Set(ids)
        var waiting = ids
        while let id = waiting.popLast() {
            for relationship in theirs.entity(of: id)?.relationships ?? [] where relationship.deleteRule == .cascade {
                let unlinked = removed[EditPlace(id, relationship.number)] ?? []
                for member in theirs.members(relationship, of: id) ?? [] where !unlinked.contains(member) {
                    guard seen.insert(member).inserted else { continue }
                    cascadesToObjects[member, default: []].append(deletion)
                    waiting.append(member)
                }
            }
        }
    }
}
