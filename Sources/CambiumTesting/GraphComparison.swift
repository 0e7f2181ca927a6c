package import CambiumGraph
internal import CambiumModel

/// Returns a sentence about the first difference between a graph and a reference graph (the simple model with which tests compare the
/// engine), or `nil` if they are equal.
///
/// Compares everything that can be read: ids, entities, sources, stub flags, values, members and their order, and counts. Also checks that
/// the graph finds each object by its identity. The caller must ensure that no two objects have the same identity. Complexity: O(entities x
/// objects + members).
package func difference(_ graph: Graph, _ reference: ReferenceGraph) -> String? {
    if graph.objectCount != reference.objectCount {
        return "\(graph.objectCount) objects instead of \(reference.objectCount)"
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
    guard let place = graph.place(of: id), graph.contains(id), graph.id(of: place) == id else { return "does not exist" }
    if graph.entity(of: place).number != entity.number { return "is a \(graph.entity(of: place).name)" }
    if graph.source(of: id) != reference.source(of: id) { return "is a copy of \(String(describing: graph.source(of: id)))" }
    if graph.isStub(place) != reference.isStub(id) { return "the stub flag is \(graph.isStub(place))" }
    for attribute in entity.attributes {
        let value = graph.value(of: attribute, of: id) ?? .null
        let expected = reference.value(of: attribute, of: id) ?? .null
        if ValueKey(value) != ValueKey(expected) { return "'\(attribute.name)' is \(value) instead of \(expected)" }
        if let found = difference(graph.column(attribute), value, place) { return "'\(attribute.name)' \(found)" }
    }
    for relationship in entity.relationships {
        if let found = difference(graph, reference, relationship, id, place) { return "'\(relationship.name)' \(found)" }
    }
    let identity = reference.identityValues(of: id, entity)
    if !identity.isEmpty, graph.place(entity, identity: identity).map(graph.id) != (identity.contains(.null) ? nil : id) {
        return "is not found by its identity"
    }
    let found = (graph.identityValues(of: id) ?? []).map { ValueKey(unique: $0) }
    if found != identity.map({ ValueKey(unique: $0) }) { return "has another identity" }
    if identity.count == 1, let finder = graph.finder(entity), let flaw = difference(finder, identity[0], place) { return flaw }
    return nil
}

/// Reads the value of an object through each method of a column, and compares the results with `value`. Returns the first difference as a
/// part of a sentence, or `nil` if there is no difference.
private func difference(_ column: Column, _ value: Value, _ place: ObjectPlace) -> String? {
    if ValueKey(column.value(at: place)) != ValueKey(value) { return "is \(column.value(at: place)) by its column" }
    switch value {
    case .int(let number) where column.int(at: place) != number: return "is another number by its column"
    case .bool(let flag) where column.bool(at: place) != flag: return "is another flag by its column"
    case .double(let number) where column.double(at: place)?.bitPattern != number.bitPattern:
        return "is another double by its column"
    case .string(let text), .uri(let text):
        if column.string(at: place).map({ Array($0.utf8) }) != Array(text.utf8) { return "is another text by its column" }
        if !column.withBytes(at: place, { $0?.elementsEqual(text.utf8) ?? false }) { return "has other bytes by its column" }
    case .null:
        let isNull = column.int(at: place) == nil && column.string(at: place) == nil && column.double(at: place) == nil
        if !isNull || column.withBytes(at: place, { $0 != nil }) { return "is not null by its column" }
    default: break
    }
    return nil
}

private func difference(_ finder: IdentityFinder, _ identity: Value, _ place: ObjectPlace) -> String? {
    switch identity {
    case .string(let text), .uri(let text): finder.find(text) == place ? nil : "is not found by a finder for '\(text)'"
    case .int(let number): finder.find(number) == place ? nil : "is not found by a finder for \(number)"
    default: nil
    }
}

private func difference(
    _ graph: Graph, _ reference: ReferenceGraph, _ relationship: Relationship, _ id: ObjectID, _ place: ObjectPlace
) -> String? {
    let handle = graph.end(relationship)
    let expected = reference.members(relationship, of: id)
    let members = graph.members(relationship, of: id) ?? []
    if members != expected { return "has \(members.map(\.serial)) instead of \(expected.map(\.serial))" }
    if graph.memberCount(handle, of: place) != expected.count { return "counts \(graph.memberCount(handle, of: place))" }
    let walked = graph.members(handle, of: place).map(graph.id)
    if (relationship.isOrdered ? walked : walked.sorted()) != expected { return "is enumerated as \(walked.map(\.serial))" }
    if relationship.isOrdered {
        for (index, member) in expected.enumerated()
        where graph.member(handle, of: place, at: index).map(graph.id) != member {
            return "has another member at \(index)"
        }
        if graph.member(handle, of: place, at: expected.count) != nil { return "has a member beyond its end" }
    }
    let relation = graph.relation(relationship)
    var bound: [ObjectID] = []
    relation.forEach(of: place) { bound.append(graph.id(of: $0)) }
    if bound != walked { return "is enumerated as \(bound.map(\.serial)) when bound" }
    if relation.count(of: place) != expected.count { return "counts \(relation.count(of: place)) when bound" }
    if relation.target(of: place).map(graph.id) != (relationship.isToMany ? nil : expected.first) { return "leads elsewhere when bound" }
    if !relationship.isToMany, graph.target(handle, of: place).map(graph.id) != expected.first { return "has another target" }
    return nil
}
