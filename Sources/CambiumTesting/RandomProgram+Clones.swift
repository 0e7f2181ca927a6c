internal import CambiumModel

extension RandomProgram {
    /// Returns an op that clones a few objects and usually succeeds. Returns `nil` if no clone of at most 150 objects is found. The
    /// reference graph computes the result that the op states. The op lacks the hash, which only the engine can compute.
    mutating func clone(_ graph: ReferenceGraph) -> Op? {
        // A large graph is not cloned: if copies were cloned again and again, the graph would grow exponentially.
        if graph.objectCount > 500 { return nil }
        for _ in 0..<6 {
            let roots = random.isTrue(1, outOf: 2) ? some(graph.ids, upTo: 1) : some(graph.ids, upTo: 4)
            if roots.isEmpty { return nil }
            let options = cloneOptions(graph, roots)
            let time = Timestamp(
                microsecondsSince1970: Int64.random(in: -1_000_000_000_000_000...2_000_000_000_000_000, using: &random))
            let seed = CloneSeed(low: random.next(), high: random.next())
            do throws(CambiumError) {
                let plan = try graph.plan(roots, options, time: time, seed: seed)
                if plan.reached.count > 150 { continue }
                // Clones that copy only their roots test less, so most of them are skipped.
                if plan.reached.count == roots.count, random.isTrue(3, outOf: 4) { continue }
                return .clone(
                    CloneOp(
                        roots: roots, options: options, time: plan.hasTime ? time : nil, seed: plan.hasUUIDs ? seed : nil,
                        hierarchies: plan.hierarchies, setHash: 0))
            } catch {
                if random.isTrue(1, outOf: 30) { return Self.refused(roots, options) }
            }
        }
        return nil
    }

    /// Returns a clone op that must throw when it is applied.
    mutating func wrongClone(_ graph: ReferenceGraph, _ present: ObjectID, _ absent: ObjectID) -> Op {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return Self.refused([], CloneOptions())
        case 1 where graph.contains(present): return Self.refused([present, present], CloneOptions())
        case 2: return wrongShare(graph, present) ?? Self.refused([absent], CloneOptions())
        case 3:
            guard let attribute = random.pick(graph.entity(of: present)?.attributes ?? []) else { break }
            let value = CloneOptions.RootValue(root: present.root, attribute: attribute.number, value: values.wrong(attribute.type))
            return Self.refused([present], CloneOptions(rootValues: [value]))
        default: break
        }
        return Self.refused(random.isTrue(1, outOf: 2) ? [absent] : [present, absent], CloneOptions())
    }

    /// Returns a clone op that must throw, because its copies would share objects that can have only one owner.
    private mutating func wrongShare(_ graph: ReferenceGraph, _ present: ObjectID) -> Op? {
        let owned = concrete.flatMap { entity in
            entity.relationships.filter { relationship in
                let link = schema.links[relationship.link]
                return !(relationship.end == 0 ? link.second : link.first).isToMany
            }.map { CloneOptions.Rule(entity: entity.number, relationship: $0.number, rule: .share, isAtRoot: false) }
        }
        guard graph.contains(present), let rule = random.pick(owned) else { return nil }
        return Self.refused([present], CloneOptions(rules: [rule]))
    }

    private static func refused(_ roots: [ObjectID], _ options: CloneOptions) -> Op {
        .clone(CloneOp(roots: roots, options: options, time: nil, seed: nil, hierarchies: [], setHash: 0))
    }

    // MARK: Options

    private mutating func cloneOptions(_ graph: ReferenceGraph, _ roots: [ObjectID]) -> CloneOptions {
        var options = CloneOptions()
        if random.isTrue(1, outOf: 2) { options.rules = cloneRules() }
        if random.isTrue(1, outOf: 4) { options.depth = Int.random(in: 0...3, using: &random) }
        if random.isTrue(1, outOf: 6) { options.keys = RandomSchema.otherKeys }
        if random.isTrue(1, outOf: 4) { options.rootValues = rootValues(graph, roots) }
        return options
    }

    /// Returns random rules for relationships, in the order in which a clone op must list them.
    private mutating func cloneRules() -> [CloneOptions.Rule] {
        var found: [CloneOptions.Rule] = []
        for entity in concrete.sorted(by: { $0.number < $1.number }) {
            for relationship in entity.relationships.sorted(by: { $0.number < $1.number }) {
                let link = schema.links[relationship.link]
                let isOwned = !(relationship.end == 0 ? link.second : link.first).isToMany
                if random.isTrue(1, outOf: 4) {
                    let rule = random.pick(isOwned ? [CloneRule.skip, .copy] : CloneRule.allCases) ?? .skip
                    found.append(.init(entity: entity.number, relationship: relationship.number, rule: rule, isAtRoot: false))
                }
                if random.isTrue(1, outOf: 10) {
                    found.append(.init(entity: entity.number, relationship: relationship.number, rule: .skip, isAtRoot: true))
                }
            }
        }
        return found
    }

    private mutating func rootValues(_ graph: ReferenceGraph, _ roots: [ObjectID]) -> [CloneOptions.RootValue] {
        var found: [CloneOptions.RootValue] = []
        for id in roots.sorted() {
            for attribute in (graph.entity(of: id)?.attributes ?? []).filter({ !$0.isDerived }) where random.isTrue(1, outOf: 3) {
                if found.contains(where: { $0.root == id.root && $0.attribute == attribute.number }) { continue }
                found.append(.init(root: id.root, attribute: attribute.number, value: value(attribute)))
            }
        }
        return found.sorted { ($0.root, $0.attribute) < ($1.root, $1.attribute) }
    }
}
