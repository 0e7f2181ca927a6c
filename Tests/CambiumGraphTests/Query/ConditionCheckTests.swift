import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// The check of stored queries, compared with the binding of conditions to a graph.
@Suite struct ConditionCheckTests {
    private static func isBound(_ condition: Condition, _ entity: Entity, _ graph: Graph) -> Bool {
        (try? graph.check(Query(entity.name, where: condition))) != nil
    }

    private static func isAccepted(_ condition: Condition, _ entity: Entity, _ schema: Schema) -> Bool {
        (try? ConditionCheck(schema, source: entity).check(condition, entity)) != nil
    }

    @Test func `a schema accepts each condition that a graph can bind`() throws {
        for seed in 0..<UInt64(LongTests.caseCount(16, usual: 2)) {
            let (graph, reference) = try RandomPair.make(seed: 700 + seed)
            var conditions = RandomCondition(reference, seed: seed)
            for entity in graph.schema.entities {
                for _ in 0..<40 {
                    let condition = conditions.condition(entity)
                    #expect(Self.isAccepted(condition, entity, graph.schema) == Self.isBound(condition, entity, graph), "\(condition)")
                }
            }
        }
    }

    @Test func `a schema refuses each changed condition that a graph refuses`() throws {
        var (accepted, refused) = (0, 0)
        for seed in 0..<4 as Range<UInt64> {
            let (graph, reference) = try RandomPair.make(seed: 800 + seed)
            var conditions = RandomCondition(reference, seed: seed)
            for entity in graph.schema.entities {
                for _ in 0..<60 {
                    let other = conditions.random.pick(graph.schema.entities) ?? entity
                    let changed = conditions.condition(other, depth: 1).changed(&conditions.random)
                    let isBound = Self.isBound(changed, entity, graph)
                    #expect(Self.isAccepted(changed, entity, graph.schema) == isBound, "\(changed)")
                    (accepted, refused) = isBound ? (accepted + 1, refused) : (accepted, refused + 1)
                }
            }
        }
        #expect(accepted > 50 && refused > 50)
    }
}

extension Condition {
    /// Returns the condition with another relation, quantifier or constant in each comparison.
    fileprivate func changed(_ random: inout SplitMix64) -> Condition {
        switch form {
        case .constant: return self
        case .and(let parts): return .and(parts.map { $0.changed(&random) })
        case .or(let parts): return .or(parts.map { $0.changed(&random) })
        case .not(let part): return .not(part.changed(&random))
        case .related(let quantifier, let path, let part): return .related(quantifier, path, part.changed(&random))
        case .comparison(var comparison):
            let isList = comparison.relation == .isIn || comparison.relation == .isBetween
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where !isList:
                // The check refuses a senseless relation with null, which a graph takes as false.
                comparison.relation = random.pick([.equal, .less, .contains, .beginsWith, .like]) ?? .equal
                if comparison.right == Operand(.literal(.null)) { comparison.right = "a" }
            case 1: comparison.quantifier = comparison.left.isPath ? random.pick([nil, .any, .all]) ?? nil : nil
            case 2 where !isList: comparison.right = random.pick([1, "a", true, "2026-01-01T00:00:00Z", "Base/1"]) ?? 1
            default: break
            }
            return .comparison(comparison)
        }
    }
}

extension Operand {
    fileprivate var isPath: Bool { if case .path = form { true } else { false } }
}
