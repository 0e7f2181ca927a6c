internal import CambiumModel

extension ReferenceGraph {
    // MARK: Objects

    mutating func apply(_ block: UpsertBlock) throws(CambiumError) {
        guard let entity = schema.entity(block.entity), !entity.isAbstract else {
            throw CambiumError(.corrupted, "A block names \(block.entity), which cannot have objects.")
        }
        var columns: [(property: PropertyNumber, values: [Value])] = []
        for column in block.columns { columns.append((column.property, try values(column, entity, block.serials.count))) }
        let isInsert = block.kind == .insert || block.kind == .insertStub
        let ids = isInsert ? try newIDs(block.serials, entity) : try liveIDs(block.serials, entity.root)
        if !isInsert, let other = ids.first(where: { objects[$0]?.entity.number != entity.number }) {
            throw CambiumError(.corrupted, "\(text(other)) is not of '\(entity.name)'.")
        }
        for (place, id) in ids.enumerated() {
            if isInsert { create(id, Object(entity: entity, attributes: [:], isStub: block.kind == .insertStub)) }
            for (property, values) in columns { objects[id]?.attributes[property] = values[place] }
            if block.kind == .fill { objects[id]?.isStub = false }
            if block.kind != .insertStub { noted.insert(id) }
        }
    }

    private func newIDs(_ serials: SerialRuns, _ entity: Entity) throws(CambiumError) -> [ObjectID] {
        var found: [ObjectID] = []
        for serial in Self.list(serials) {
            guard serial > 0, serial <= ObjectID.serialMax, objects[ObjectID(root: entity.root, serial: serial)] == nil else {
                throw CambiumError(.corrupted, "Serial \(serial) of '\(entity.name)' cannot be inserted.")
            }
            found.append(ObjectID(root: entity.root, serial: serial))
        }
        return found
    }

    private func liveIDs(_ serials: SerialRuns, _ root: EntityNumber) throws(CambiumError) -> [ObjectID] {
        var found: [ObjectID] = []
        for serial in Self.list(serials) { found.append(try liveID(serial, root)) }
        return found
    }

    private func liveID(_ serial: UInt64, _ root: EntityNumber) throws(CambiumError) -> ObjectID {
        guard serial <= ObjectID.serialMax, contains(ObjectID(root: root, serial: serial)) else {
            throw CambiumError(.corrupted, "Serial \(serial) of \(root) does not exist.")
        }
        return ObjectID(root: root, serial: serial)
    }

    static func list(_ serials: SerialRuns) -> [UInt64] {
        serials.runs.flatMap { run in (0..<UInt64(run.count)).map { run.first + $0 } }
    }

    private func values(_ column: AttributeColumn, _ entity: Entity, _ count: Int) throws(CambiumError) -> [Value] {
        let misfit = CambiumError(.corrupted, "A column for \(column.property) does not fit '\(entity.name)'.")
        guard let attribute = entity.attribute(column.property), column.presence.count == (count + 63) / 64 else { throw misfit }
        if attribute.isDerived { throw CambiumError(.corrupted, "'\(attribute.name)' is derived.") }
        var values: [Value] = []
        var offset = 0
        for place in 0..<count {
            let isPresent = column.presence[place / 64] >> UInt64(place % 64) & 1 == 1
            let form: StoredForm
            switch column.content {
            case .fixed(let width, let bytes):
                guard attribute.type.byteCount == width, bytes.count == width * count else { throw misfit }
                let own = Array(bytes[width * place..<width * (place + 1)])
                form = .fixed(Self.word(own.prefix(8)), Self.word(own.dropFirst(8)))
            case .variable(let counts, let bytes):
                guard attribute.type.byteCount == nil, counts.count == count else { throw misfit }
                let end = offset + Int(counts[place])
                guard end <= bytes.count, place < count - 1 || end == bytes.count else { throw misfit }
                form = .bytes(Array(bytes[offset..<end]))
                offset = end
            }
            values.append(isPresent ? Value(stored: form, type: attribute.type) ?? .null : .null)
        }
        return values
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }

    // MARK: Links

    mutating func apply(_ block: LinkBlock) throws(CambiumError) {
        let owning = schema.entities.filter { $0.root == block.root && $0.relationship(block.property) != nil }
        guard let relationship = owning.first?.relationship(block.property) else {
            throw CambiumError(.corrupted, "A block of links names \(block.property), which the schema does not have.")
        }
        let owners = try liveIDs(block.serials, block.root)
        for owner in owners where objects[owner]?.entity.relationship(block.property) == nil {
            throw CambiumError(.corrupted, "\(text(owner)) has no '\(relationship.name)'.")
        }
        switch block.content {
        case .toOne(let serials):
            guard !relationship.isToMany, serials.count == owners.count else { throw misfit(relationship) }
            for (owner, serial) in zip(owners, serials) { try setTarget(relationship, owner, serial) }
        case .unordered(let removedCounts, let removed, let addedCounts, let added):
            guard relationship.isToMany else { throw misfit(relationship) }
            let removals = try Self.cut(removed, removedCounts, owners.count, misfit(relationship))
            let additions = try Self.cut(added, addedCounts, owners.count, misfit(relationship))
            for (place, owner) in owners.enumerated() {
                for serial in removals[place] { disconnect(side(relationship), owner, try target(relationship, serial)) }
                for serial in additions[place] { connect(relationship, owner, try target(relationship, serial)) }
            }
        case .ordered(let keptCounts, let suffixCounts, let suffixes):
            guard relationship.isOrdered, keptCounts.count == owners.count else { throw misfit(relationship) }
            let lists = try Self.cut(suffixes, suffixCounts, owners.count, misfit(relationship))
            for (place, owner) in owners.enumerated() {
                var suffix: [ObjectID] = []
                for serial in lists[place] { suffix.append(try target(relationship, serial)) }
                replaceSuffix(relationship, owner, kept: Int(keptCounts[place]), suffix)
            }
        }
    }

    private func misfit(_ relationship: Relationship) -> CambiumError {
        CambiumError(.corrupted, "A block of links does not fit '\(relationship.name)'.")
    }

    /// Divides the serials of a link block (members of several owners) into one list for each owner. `counts` has the number of serials of
    /// each owner.
    private static func cut(
        _ serials: [UInt64], _ counts: [UInt32], _ owners: Int, _ misfit: CambiumError
    ) throws(CambiumError) -> [[UInt64]] {
        guard counts.count == owners, counts.reduce(0, { $0 + Int($1) }) == serials.count else { throw misfit }
        var rest = serials[...]
        return counts.map { count in
            defer { rest = rest.dropFirst(Int(count)) }
            return Array(rest.prefix(Int(count)))
        }
    }

    private func target(_ relationship: Relationship, _ serial: UInt64) throws(CambiumError) -> ObjectID {
        let id = try liveID(serial, relationship.destinationRoot)
        guard let entity = objects[id]?.entity, schema.entity(relationship.destination)?.family.contains(entity.number) == true
        else { throw CambiumError(.corrupted, "'\(relationship.name)' cannot hold \(text(id)).") }
        return id
    }

    private mutating func setTarget(_ relationship: Relationship, _ owner: ObjectID, _ serial: UInt64) throws(CambiumError) {
        if serial != 0 { return connect(relationship, owner, try target(relationship, serial)) }
        for old in list(side(relationship), owner) { disconnect(side(relationship), owner, old) }
    }

    private mutating func replaceSuffix(_ relationship: Relationship, _ owner: ObjectID, kept: Int, _ suffix: [ObjectID]) {
        for member in list(side(relationship), owner).dropFirst(kept) where !suffix.contains(member) {
            disconnect(side(relationship), owner, member)
        }
        for (offset, member) in suffix.enumerated() {
            connect(relationship, owner, member, at: min(kept + offset, list(side(relationship), owner).count))
        }
    }
}
