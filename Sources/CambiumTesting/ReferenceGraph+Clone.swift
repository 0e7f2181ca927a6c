package import CambiumModel

/// The plan of a clone: the objects to copy and the values of the copies, computed before the graph changes.
struct ReferenceClone: Sendable {
    let roots: [ObjectID]
    let options: CloneOptions
    let time: Timestamp?
    let seed: CloneSeed?
    /// The originals, in the order in which the clone reaches them.
    var reached: [ObjectID] = []
    /// For each original, the number of links between it and the nearest root. The roots are the objects that the caller wants to clone.
    var levels: [ObjectID: Int] = [:]
    /// For each original that is not a root, the object from which the clone first reached it.
    var parents: [ObjectID: ObjectID] = [:]
    /// The copy of each original.
    var copies: [ObjectID: ObjectID] = [:]
    /// The number of objects of each hierarchy before the clone.
    var objectCounts: [EntityNumber: Int] = [:]
    /// The attribute values of each copy.
    var attributes: [ObjectID: [PropertyNumber: Value]] = [:]
    var hierarchies: [CloneOp.Hierarchy] = []
    /// Whether an attribute of any copy is set to the time of the clone.
    var hasTime = false
    /// Whether an attribute of any copy is set to a new UUID.
    var hasUUIDs = false

    func isRoot(_ id: ObjectID) -> Bool { roots.contains(id) }
}

extension ReferenceGraph {
    /// Returns the object from which a copy was made, or `nil` if the object is not a copy.
    package func source(of id: ObjectID) -> ObjectID? { sources[id] }

    mutating func clone(_ op: CloneOp) throws(CambiumError) {
        let plan = try plan(op.roots, op.options, time: op.time, seed: op.seed)
        for (original, copy) in plan.copies {
            let object = try live(original)
            create(copy, Object(entity: object.entity, attributes: plan.attributes[copy] ?? [:], isStub: object.isStub))
            sources[copy] = original
            noted.insert(copy)
        }
        linkCopies(plan)
    }

    func plan(
        _ roots: [ObjectID], _ options: CloneOptions, time: Timestamp?, seed: CloneSeed?
    ) throws(CambiumError) -> ReferenceClone {
        guard !roots.isEmpty else { throw CambiumError(.invalidInput, "A clone needs at least one object.") }
        guard Set(roots).count == roots.count else { throw CambiumError(.invalidInput, "The clone names an object twice.") }
        for root in roots { _ = try live(root) }
        try checkCloneRules(options)
        try checkRootValues(roots, options)
        var plan = ReferenceClone(roots: roots, options: options, time: time, seed: seed)
        walk(&plan)
        try number(&plan)
        try checkUniqueSets(plan)
        for id in plan.reached { try copyAttributes(of: id, &plan) }
        return plan
    }

    // MARK: Copied objects

    private func walk(_ plan: inout ReferenceClone) {
        plan.reached = plan.roots
        for root in plan.roots { plan.levels[root] = 0 }
        var place = 0
        while place < plan.reached.count {
            let id = plan.reached[place]
            place += 1
            guard let entity = objects[id]?.entity, let level = plan.levels[id] else { continue }
            if let depth = plan.options.depth, level >= depth { continue }
            for relationship in entity.relationships where rule(relationship, of: id, plan) == .copy {
                for member in members(relationship, of: id) where plan.levels[member] == nil {
                    plan.levels[member] = level + 1
                    plan.parents[member] = id
                    plan.reached.append(member)
                }
            }
        }
    }

    /// Assigns serials to the copies: in each hierarchy, the next serials, in the order of the originals' serials.
    private func number(_ plan: inout ReferenceClone) throws(CambiumError) {
        let byHierarchy = Dictionary(grouping: plan.reached.sorted(), by: \.root)
        for (root, originals) in byHierarchy.sorted(by: { $0.key < $1.key }) {
            let first = nextSerial(of: root)
            plan.objectCounts[root] = objects.keys.count { $0.root == root }
            guard first + UInt64(originals.count) - 1 <= ObjectID.serialMax else {
                throw CambiumError(.limitExceeded, "\(root) has no serials left.")
            }
            for (place, original) in originals.enumerated() {
                plan.copies[original] = ObjectID(root: root, serial: first + UInt64(place))
            }
            let byEntity = Dictionary(grouping: originals.compactMap { objects[$0]?.entity.number }) { $0 }
            let counts = byEntity.sorted { $0.key < $1.key }.map { CloneOp.EntityCount($0.key, $0.value.count) }
            plan.hierarchies.append(.init(root: root, firstSerial: first, counts: counts))
        }
    }

    // MARK: Links

    private mutating func linkCopies(_ plan: ReferenceClone) {
        // Links the copies in ascending order of their ids, so that several copies that are added to one ordered relationship have this
        // order, too.
        for (original, copy) in plan.copies.sorted(by: { $0.key < $1.key }) {
            for relationship in objects[original]?.entity.relationships ?? [] {
                linkCopy(copy, of: original, relationship, plan)
            }
        }
    }

    private mutating func linkCopy(_ copy: ObjectID, of original: ObjectID, _ relationship: Relationship, _ plan: ReferenceClone) {
        let here = side(relationship)
        let there = opposite(here)
        let isShared = rule(relationship, of: original, plan) == .share && !isLinkedToCopiesOnly(original, relationship, plan)
        var list: [ObjectID] = []
        for member in self.list(here, original) {
            if let target = plan.copies[member] {
                guard isKept(relationship, original, member, plan) else { continue }
                list.append(target)
                // If the schema names no inverse, no call to `linkCopy` adds the copy to the other end of the link. So the other end is
                // updated here.
                if end(there).property == nil { members[there, default: [:]][target, default: []].append(copy) }
            } else if isShared {
                list.append(member)
                members[there, default: [:]][member, default: []].append(copy)
                track(there, member)
            }
        }
        if !list.isEmpty { members[here, default: [:]][copy] = list }
    }

    /// Whether the copies of two linked objects are linked, too. Call this method only if the clone copies both objects.
    private func isKept(_ relationship: Relationship, _ owner: ObjectID, _ member: ObjectID, _ plan: ReferenceClone) -> Bool {
        let mine = rule(relationship, of: owner, plan)
        let others = oppositeRule(relationship, of: member, plan)
        if mine == .skip, others != .copy { return false }
        if others == .skip, mine != .copy { return false }
        return true
    }

    /// Whether a relationship links the copy of an object only to copies, and not to members that the clone does not copy. This is the case
    /// for a many-to-many relationship if a copied member other than the object itself has the rule `copy` for the inverse.
    private func isLinkedToCopiesOnly(_ id: ObjectID, _ relationship: Relationship, _ plan: ReferenceClone) -> Bool {
        let here = side(relationship)
        guard end(here).isToMany, end(opposite(here)).isToMany else { return false }
        return list(here, id).contains { other in
            other != id && plan.copies[other] != nil && oppositeRule(relationship, of: other, plan) == .copy
        }
    }
}
