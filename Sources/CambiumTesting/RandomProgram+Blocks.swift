internal import CambiumModel

extension RandomProgram {
    // MARK: Objects

    /// Returns an op that inserts or updates several objects, or `nil` if there are no objects to update.
    mutating func upsert(_ graph: ReferenceGraph) -> Op? {
        guard let entity = random.pick(concrete) else { return nil }
        let kinds: [UpsertBlock.Kind] = [.insert, .insertStub, .update, .fill]
        let kind = random.pick(kinds) ?? .insert
        var serials: [UInt64] = []
        var attributes = entity.attributes.filter { !$0.isDerived }
        if kind == .insert || kind == .insertStub {
            let first = serial(entity, graph)
            let count = random.isTrue(1, outOf: 12) ? Int.random(in: 100...300, using: &random) : Int.random(in: 1...5, using: &random)
            serials = (0..<UInt64(count)).map { first + $0 }.filter { !graph.contains(ObjectID(root: entity.root, serial: $0)) }
            if kind == .insertStub { attributes = entity.identityAttributes }
        } else {
            let ids = graph.ids.filter { graph.entity(of: $0)?.number == entity.number }
            let stubs = ids.filter(graph.isStub)
            let candidates = kind == .fill && !stubs.isEmpty ? stubs : ids
            serials = some(candidates, upTo: 5).map(\.serial).sorted()
            if kind == .update { attributes = someOf(attributes, upTo: 3) }
        }
        if serials.isEmpty { return nil }
        // If a block contains many objects, the attributes of unique sets get new values. With a few common values, two objects would
        // almost always have the same identity, and the transaction would be rejected.
        let isFresh = serials.count > 10
        let columns = attributes.map { attribute in
            column(
                attribute,
                serials.map { _ in
                    isFresh && identifying.contains(ObjectIdentifier(attribute)) ? values.fresh(attribute.type) : value(attribute)
                })
        }
        return .upsert(UpsertBlock(entity: entity.number, kind: kind, serials: Self.runs(serials), identity: [], columns: columns))
    }

    /// Returns up to `count` distinct ids.
    mutating func some(_ ids: [ObjectID], upTo count: Int) -> [ObjectID] {
        Array(ids.shuffled(using: &random).prefix(Int.random(in: 1...count, using: &random)))
    }

    private mutating func someOf(_ attributes: [Attribute], upTo count: Int) -> [Attribute] {
        Array(attributes.shuffled(using: &random).prefix(Int.random(in: 1...count, using: &random)))
    }

    /// Returns serials as runs of consecutive numbers, the form that blocks of objects need.
    static func runs(_ serials: [UInt64]) -> SerialRuns {
        var runs = SerialRuns()
        for serial in serials { runs.append(serial) }
        return runs
    }

    /// Returns the values of an attribute as a column of an op that contains many objects.
    func column(_ attribute: Attribute, _ values: [Value]) -> AttributeColumn {
        var presence = [UInt64](repeating: 0, count: (values.count + 63) / 64)
        let forms = values.map { StoredForm($0, type: attribute.type) }
        for (place, form) in forms.enumerated() where form != nil { presence[place / 64] |= 1 << UInt64(place % 64) }
        guard let width = attribute.type.byteCount else {
            let stored = forms.map { form -> [UInt8] in if case .bytes(let bytes) = form { bytes } else { [] } }
            return AttributeColumn(
                property: attribute.number, presence: presence,
                content: .variable(byteCounts: stored.map { UInt32($0.count) }, bytes: stored.flatMap { $0 }))
        }
        let bytes = forms.flatMap { form -> [UInt8] in
            guard case .fixed(let low, let high) = form else { return [UInt8](repeating: 0, count: width) }
            let all = (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? low : high) >> (8 * UInt64($0 % 8))) }
            return Array(all.prefix(width))
        }
        return AttributeColumn(property: attribute.number, presence: presence, content: .fixed(width: width, bytes: bytes))
    }

    // MARK: Links

    /// Returns an op that changes the members of one relationship of several objects, or `nil` if there are no objects.
    mutating func relink(_ graph: ReferenceGraph) -> Op? {
        guard let (_, relationship) = owner(graph), let entity = schema.entity(relationship.entity) else { return nil }
        let owners = some(graph.ids(of: entity), upTo: 4).sorted()
        let targets = targets(relationship, graph)
        if owners.isEmpty || targets.isEmpty { return nil }
        let content: LinkBlock.Content =
            if !relationship.isToMany {
                .toOne(owners.map { _ in random.isTrue(1, outOf: 4) ? 0 : random.pick(targets)?.serial ?? 0 })
            } else if relationship.isOrdered && random.isTrue(9, outOf: 10) {
                ordered(relationship, owners, targets, graph)
            } else {
                unordered(relationship, owners, targets, graph)
            }
        return .relink(
            LinkBlock(
                root: relationship.root, property: relationship.number, serials: Self.runs(owners.map(\.serial)), content: content))
    }

    private mutating func unordered(
        _ relationship: Relationship, _ owners: [ObjectID], _ targets: [ObjectID], _ graph: ReferenceGraph
    ) -> LinkBlock.Content {
        let removed = owners.map { owner in
            let members = graph.members(relationship, of: owner)
            return random.isTrue(1, outOf: 3) ? [] : some(random.isTrue(1, outOf: 8) ? targets : members, upTo: 3)
        }
        let added = owners.map { _ in random.isTrue(1, outOf: 4) ? [] : some(targets, upTo: 4) }
        return .unordered(
            removedCounts: removed.map { UInt32($0.count) }, removed: removed.flatMap { $0.map(\.serial) },
            addedCounts: added.map { UInt32($0.count) }, added: added.flatMap { $0.map(\.serial) })
    }

    private mutating func ordered(
        _ relationship: Relationship, _ owners: [ObjectID], _ targets: [ObjectID], _ graph: ReferenceGraph
    ) -> LinkBlock.Content {
        var kept: [UInt32] = []
        let suffixes = owners.map { owner -> [ObjectID] in
            let members = graph.members(relationship, of: owner)
            let keptCount = Int.random(in: 0...members.count, using: &random)
            kept.append(UInt32(keptCount))
            let staying = Set(members.prefix(keptCount))
            let others = Set(members.dropFirst(keptCount)).union(some(targets, upTo: 4)).subtracting(staying)
            return random.isTrue(1, outOf: 6) ? [] : some(others.sorted(), upTo: max(others.count, 1))
        }
        return .ordered(
            keptCounts: kept, suffixCounts: suffixes.map { UInt32($0.count) }, suffixes: suffixes.flatMap { $0.map(\.serial) })
    }
}
