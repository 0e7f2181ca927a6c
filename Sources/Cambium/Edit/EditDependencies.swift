import CambiumGraph
import CambiumModel

/// The parts of an edit that can be ruled out if an object or an end of a relationship stays as it is in the store.
struct EditDependencies {
    /// The indexes of the links at each named end.
    private(set) var linksAtEnds: [EditPlace: [Int]] = [:]
    /// The indexes of the links of each object.
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
