import CambiumGraph
import CambiumModel
import CambiumTesting

/// Random transactions whose ops are derived from their outcome. The derived ops must lead a second timeline to the same graph.
struct DerivationRun {
    private var random: SplitMix64
    private var program: RandomProgram
    private let timeline = Timeline()
    private let shadow = Timeline()
    private var reference: ReferenceGraph
    private let limits: HubLimits

    init(seed: UInt64, _ limits: HubLimits = HubLimits()) throws {
        self.limits = limits
        random = SplitMix64(seed: seed)
        let schema = try RandomSchema.make(&random)
        program = RandomProgram(schema: schema, seed: random.next(), scope: .derivable)
        reference = ReferenceGraph(schema: schema)
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        try ProgramRun.commit([.schema(schema.catalog)], to: shadow)
    }

    mutating func run() throws {
        for number in 1...20 {
            do { try transact() } catch { throw Finding("transaction \(number): \(error)") }
        }
        try Finding.check(PageChecker.findings(in: timeline), "pages")
        try Finding.check(PageChecker.findings(in: shadow), "pages of the shadow")
    }

    private mutating func transact() throws {
        var draft = timeline.draft()
        draft.trackChanges(limits)
        var ops: [Op] = []
        var after = reference
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            let op = program.next(for: after)
            ops.append(op)
            try after.apply(op)
            try draft.apply(op)
        }
        if !after.brokenRules().isEmpty { return }
        reference = after
        reference.commit()
        let derived = try Self.derived(draft)
        try timeline.publish(draft)
        try Finding.check(difference(timeline.head, reference), "graph", ops)
        try ProgramRun.commit(derived, to: shadow)
        try Finding.check(difference(shadow.head, reference), "the shadow", derived + ops)
        if shadow.head.digest() != timeline.head.digest() { throw Finding("the shadow has another digest, \(shown(derived + ops))") }
    }

    private static func derived(_ draft: borrowing Draft) throws -> [Op] {
        var ops: [Op] = []
        try draft.deriveOps { ops.append($0) }
        return ops
    }

    /// Changes objects and undoes the changes, from which no op may be derived.
    mutating func runThereAndBack() throws {
        for _ in 0..<6 { try transact() }
        for _ in 0..<10 {
            var draft = timeline.draft()
            draft.trackChanges(limits)
            for op in thereAndBack() { try draft.apply(op) }
            try draft.restorePositions()
            let derived = try Self.derived(draft)
            if !derived.isEmpty { throw Finding("ops were derived although nothing changed, \(shown(derived))") }
        }
    }

    private mutating func thereAndBack() -> [Op] {
        guard let id = random.pick(reference.ids), let entity = reference.entity(of: id) else { return [] }
        var ops: [Op] = []
        for attribute in entity.attributes where !attribute.isDerived {
            guard let value = reference.value(of: attribute, of: id), attribute.type == .int64 || attribute.type == .string else {
                continue
            }
            let other: Value = attribute.type == .int64 ? .int(123_456) : .string(String(repeating: "b", count: 300))
            ops += [.set(id, [Assignment(attribute.number, other)]), .set(id, [Assignment(attribute.number, value)])]
        }
        for relationship in entity.relationships {
            let members = reference.members(relationship, of: id)
            if isOrderedAnywhere(relationship), members.contains(id) { continue }
            for target in members {
                ops.append(.unlink(id, relationship.number, target: target))
                ops.append(.link(id, relationship.number, target: target, index: nil))
            }
        }
        for relationship in entity.relationships where relationship.isOrdered {
            guard let first = reference.members(relationship, of: id).first else { continue }
            let count = reference.members(relationship, of: id).count
            ops.append(.move(id, relationship.number, target: first, index: count - 1))
            ops.append(.move(id, relationship.number, target: first, index: 0))
        }
        return ops
    }

    /// An unlink followed by a link moves the member to the end of an ordered list. If this is done with all members, they have their
    /// order again. The lists of the members at the other end are restored. The object's own list is not restored, because a link of the
    /// list states its order. So an object that is its own member would stay at the end.
    private func isOrderedAnywhere(_ relationship: Relationship) -> Bool {
        let link = reference.schema.links[relationship.link]
        return link.first.isOrdered || link.second.isOrdered
    }
}
