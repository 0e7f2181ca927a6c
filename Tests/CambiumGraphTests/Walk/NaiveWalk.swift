import CambiumModel

@testable import CambiumGraph

/// Walks over the members of each object as a graph shows them, with dictionaries and sets.
struct NaiveWalk {
    let graph: Graph
    let ids: [ObjectID]
    /// For each object, the objects to which the relationships lead, and the objects from which they lead to it.
    private(set) var next: [ObjectID: Set<ObjectID>] = [:]
    private(set) var previous: [ObjectID: Set<ObjectID>] = [:]
    /// The objects of the entities at both ends of the relationships.
    private(set) var covered: Set<ObjectID> = []

    init(_ graph: Graph, _ names: [String]?) {
        self.graph = graph
        ids = graph.schema.roots.flatMap { Array(graph.objects(of: $0)) }
        for id in ids {
            guard let entity = graph.entity(of: id) else { continue }
            for relationship in entity.relationships where names == nil || names == [relationship.name] {
                for member in graph.members(relationship, of: id) ?? [] {
                    next[id, default: []].insert(member)
                    previous[member, default: []].insert(id)
                }
            }
        }
        covered = Set(
            graph.schema.entities.flatMap { entity in
                entity.relationships.flatMap { relationship -> [ObjectID] in
                    guard relationship.entity == entity.number, names == [relationship.name] else { return [] }
                    let destination = graph.schema.entity(relationship.destination).map { Array(graph.objects(of: $0)) } ?? []
                    return Array(graph.objects(of: entity)) + destination
                }
            })
        if names == nil { covered = Set(ids) }
    }

    func distances(from starts: [ObjectID], where filter: (ObjectID) -> Bool = { _ in true }) -> [ObjectID: Int] {
        var distances: [ObjectID: Int] = [:]
        var level = Set(starts)
        var distance = 0
        while !level.isEmpty {
            for id in level { distances[id] = distance }
            level = Set(level.flatMap { next[$0] ?? [] }.filter { distances[$0] == nil && filter($0) })
            distance += 1
        }
        return distances
    }

    func component(of start: ObjectID) -> Set<ObjectID> {
        var found: Set<ObjectID> = [start]
        var rest = [start]
        while let id = rest.popLast() {
            for other in (next[id] ?? []).union(previous[id] ?? []) where found.insert(other).inserted { rest.append(other) }
        }
        return found
    }

    var hasCycle: Bool {
        var rest = covered
        while let id = rest.first(where: { (previous[$0] ?? []).isDisjoint(with: rest) }) { rest.remove(id) }
        return !rest.isEmpty
    }
}
