import CambiumGraph
import CambiumModel

/// Tables for `EditDrops.reduce`. They list the changes of the edit that may become impossible if an object or a relationship stays as it
/// is in the store.
struct EditDependencies {
    /// For each relationship of an object, the indexes of the links that the edit adds to the relationship or removes from it.
    private(set) var linksAtEnds: [EditPlace: [Int]] = [:]
    /// For each object, the indexes of the links with that object that the edit adds or removes.
    private(set) var linksOfObjects: [ObjectID: [Int]] = [:]
    /// The objects that each call to `delete` deleted.
    private(set) var objectsOfDeletions: [Int: [ObjectID]] = [:]
    /// For each object, the calls to `delete` whose cascade would reach the object in the store.
    private(set) var cascadesToObjects: [ObjectID: [Int]] = [:]

    init(_ links: [EditLink], of edit: Edit, on theirs: Graph?) {
        for (index, link) in links.enumerated() {
            for (place, _) in link.ends { linksAtEnds[place, default: []].append(index) }
            for id in Set([link.id, link.target]) { linksOfObjects[id, default: []].append(index) }
        }
        for (id, state) in edit.overlay.objects {
            guard let deletion = state.deletion else { continue }
            objectsOfDeletions[deletion, default: []].append(id)
            guard let theirs, let entity = theirs.entity(of: id) else { continue }
            for relationship in entity.relationships where relationship.deleteRule == .cascade {
                for member in theirs.members(relationship, of: id) ?? [] { cascadesToObjects[member, default: []].append(deletion) }
            }
        }
    }
}
