import CambiumModel
import CambiumTesting

@testable import CambiumGraph

/// A random graph, and its reference.
struct RandomPair {
    var timeline = Timeline()
    var reference: ReferenceGraph

    init(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let schema = try RandomSchema.make(&random)
        reference = ReferenceGraph(schema: schema)
        var program = RandomProgram(schema: schema, seed: random.next())
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        for _ in 0..<40 {
            var draft = timeline.draft()
            var after = reference
            for _ in 0..<12 {
                let op = program.next(for: after)
                var trial = after
                // An op that one of the two refuses is skipped. Other tests compare the refusals.
                guard (try? trial.apply(op)) != nil, (try? draft.apply(op)) != nil else { continue }
                after = trial
            }
            guard (try? draft.check()) != nil else { continue }
            after.commit()
            try timeline.publish(draft)
            reference = after
        }
        while try timeline.buildIndexes(rowCountMax: 100) {}
    }

    static func make(seed: UInt64) throws -> (graph: Graph, reference: ReferenceGraph) {
        let pair = try RandomPair(seed: seed)
        return (pair.timeline.head, pair.reference)
    }
}
