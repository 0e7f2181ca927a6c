public import CambiumGraph
import CambiumModel

/// The first thing in which a graph and a reference differ, in a sentence; nil where they hold the same.
///
/// Compares everything that can be read: ids, entities, stub flags, values, members and their order, counts, and what is
/// found by identity, which no two objects may share. Complexity: O(entities x objects + members).
public func difference(_ graph: Graph, _ reference: ReferenceGraph) -> String? {
    if graph.objectCount != reference.objectCount {
        return "\(graph.objectCount) objects of \(reference.objectCount)"
    }
    for entity in reference.schema.entities {
        let ids = reference.ids(of: entity)
        if Array(graph.objects(of: entity)) != ids { return "the objects of '\(entity.name)' are not \(ids.map(\.serial))" }
        if graph.count(of: entity) != ids.count { return "the count of '\(entity.name)' is \(graph.count(of: entity))" }
    }
    for id in reference.ids {
        guard let entity = reference.entity(of: id) else { continue }
        if let found = difference(graph, reference, id, entity) { return "\(entity.name)/\(id.serial): \(found)" }
    }
    return nil
}

private func difference(_ graph: Graph, _ reference: ReferenceGraph, _ id: ObjectID, _ entity: Entity) -> String? {
    guard let place = graph.place(of: id), graph.contains(id), graph.id(of: place) == id else { return "is not there" }
    if graph.entity(of: place).number != entity.number { return "is a \(graph.entity(of: place).name)" }
    if graph.isStub(place) != reference.isStub(id) { return "the stub flag is \(graph.isStub(place))" }
    for attribute in entity.attributes {
        let value = graph.value(of: attribute, of: id) ?? .null
        let expected = reference.value(of: attribute, of: id) ?? .null
        if ValueKey(value) != ValueKey(expected) { return "'\(attribute.name)' is \(value) and not \(expected)" }
    }
    for relationship in entity.relationships {
        if let found = difference(graph, reference, relationship, id, place) { return "'\(relationship.name)' \(found)" }
    }
    let identity = entity.identity.map { reference.value(of: $0, of: id) ?? .null }
    if !identity.isEmpty, graph.find(entity, identity: identity).map(graph.id) != (identity.contains(.null) ? nil : id) {
        return "is not what its identity finds"
    }
    return nil
}

private func difference(
    _ graph: Graph, _ reference: ReferenceGraph, _ relationship: Relationship, _ id: ObjectID, _ place: ObjectPlace
) -> String? {
    let handle = graph.end(relationship)
    let expected = reference.members(relationship, of: id)
    let members = graph.members(relationship, of: id) ?? []
    if members != expected { return "has \(members.map(\.serial)) and not \(expected.map(\.serial))" }
    if graph.memberCount(handle, of: place) != expected.count { return "counts \(graph.memberCount(handle, of: place))" }
    let walked = graph.members(handle, of: place).map(graph.id)
    if (relationship.isOrdered ? walked : walked.sorted()) != expected { return "walks through \(walked.map(\.serial))" }
    if relationship.isOrdered {
        for (index, member) in expected.enumerated()
        where graph.member(handle, of: place, at: index).map(graph.id) != member {
            return "has another member at \(index)"
        }
        if graph.member(handle, of: place, at: expected.count) != nil { return "has a member past its end" }
    }
    if !relationship.isToMany, graph.target(handle, of: place).map(graph.id) != expected.first { return "has another target" }
    return nil
}
