import CambiumLog
import CambiumModel

/// Clone ops for objects of the sample store. The graph after the store's first transactions can apply them.
enum SampleClones {
    static func payloads() throws -> [[UInt8]] { try ops().map { OpCodec.encode([.clone($0)]) } }

    /// Returns one clone with only a root, and one with everything that a clone can have.
    static func ops() throws -> [CloneOp] {
        let schema = try SampleStore.schema()
        guard let thing = schema.entity("Thing"), let special = schema.entity("Special"), let step = schema.entity("Step"),
            let id = thing.attribute("id"), let title = thing.attribute("title"), let partner = thing.relationship("partner"),
            let tags = thing.relationship("tags"), let owner = step.relationship("thing")
        else { throw Finding("the sample lacks entities or properties to clone") }
        let steps = ObjectID(root: step.root, serial: 1)
        let things = [ObjectID(root: thing.root, serial: 1), ObjectID(root: thing.root, serial: 3)]
        let rules = [thing, special].flatMap { entity in
            [
                CloneOptions.Rule(entity: entity.number, relationship: partner.number, rule: .skip, isAtRoot: false),
                CloneOptions.Rule(entity: entity.number, relationship: tags.number, rule: .share, isAtRoot: false),
                CloneOptions.Rule(entity: entity.number, relationship: tags.number, rule: .skip, isAtRoot: true),
            ]
        }
        let options = CloneOptions(
            rules: rules + [.init(entity: step.number, relationship: owner.number, rule: .copy, isAtRoot: false)], depth: 2,
            keys: CloneKeys(exclude: "omit", rebuild: "renew", followParent: "above", withoutParent: "orphan"),
            rootValues: [
                .init(root: thing.root, attribute: id.number, value: .int(77)),
                .init(root: thing.root, attribute: title.number, value: .string("a copy")),
            ])
        return [
            CloneOp(
                roots: [steps], options: CloneOptions(), time: nil, seed: nil,
                hierarchies: [.init(root: step.root, firstSerial: 3, counts: [.init(step.number, 1)])], setHash: 0),
            CloneOp(
                roots: things, options: options, time: Timestamp(microsecondsSince1970: 1_700_000_000_000_000),
                seed: CloneSeed(low: 1, high: 2),
                hierarchies: [
                    .init(root: thing.root, firstSerial: 4, counts: [.init(thing.number, 2)]),
                    .init(root: step.root, firstSerial: 3, counts: [.init(step.number, 2)]),
                ], setHash: 0),
        ]
    }
}
