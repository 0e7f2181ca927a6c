import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Compares filters with queries for each entity.
struct ObjectFilterTests {
    /// Returns the ids that satisfy a condition, found by a query for each entity that the condition fits.
    private func expected(_ condition: Condition, _ graph: Graph) -> Set<ObjectID> {
        var found: Set<ObjectID> = []
        for entity in graph.schema.entities where !entity.isAbstract {
            var query = Query(entity.name, where: condition)
            query.accesses = .scan
            // A query throws if the condition does not fit the entity.
            guard let ids = try? graph.find(query) else { continue }
            found.formUnion(ids.filter { graph.entity(of: $0)?.number == entity.number })
        }
        return found
    }

    @Test(arguments: 0..<UInt64(LongTests.caseCount(40, usual: 4)))
    func `a filter passes the objects that a query for their entity finds`(seed: UInt64) throws {
        let (graph, reference) = try RandomPair.make(seed: seed)
        var conditions = RandomCondition(reference, seed: seed + 3000)
        let ids = graph.schema.roots.flatMap { Array(graph.objects(of: $0)) }
        for entity in graph.schema.entities {
            for _ in 0..<8 {
                let condition = conditions.condition(entity)
                let filter = try ObjectFilter(graph, condition, among: graph.schema.entities)
                let found = ids.filter { graph.place(of: $0).map(filter.holds) ?? false }
                #expect(Set(found) == expected(condition, graph), "\(condition)")
            }
        }
    }

    @Test func `a filter is refused if its condition fits no entity, with the mistake that lies farthest in the text`() throws {
        let graph = try WalkFixture.graph(seed: 1, count: 3, linkCount: 3)
        let entities = graph.schema.entities
        #expect(throws: Never.self) { try graph.filter("any parts.company == null", among: entities) }
        let failure = #expect(throws: CambiumError.self) { try graph.filter("any parts.nothing == null", among: entities) }
        #expect(failure?.code == .invalidInput && failure?.place?.column == 5 && failure?.message.contains("'Thing'") == true)
        #expect(throws: CambiumError.self) { try graph.filter("parts.@count > $n", among: entities) }
        #expect(throws: CambiumError.self) { try graph.filter("parts.@count > 1", ["n": 1], among: entities) }
    }
}
