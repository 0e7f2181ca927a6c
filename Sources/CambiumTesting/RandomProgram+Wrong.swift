package import CambiumModel

extension RandomProgram {
    /// Returns an op that is usually invalid. Applying an invalid op must throw.
    package mutating func wrongOp(_ graph: ReferenceGraph) -> Op {
        let entity = random.pick(schema.entities)
        let root = entity?.root ?? EntityNumber(rawValue: 1)
        let absent = ObjectID(root: root, serial: graph.nextSerial(of: root) + 7)
        let present = random.pick(graph.ids) ?? absent
        let unknown = PropertyNumber(rawValue: 60_000)
        switch Int.random(in: 0..<21, using: &random) {
        case 0: return .set(absent, [])
        case 1: return .set(present, [Assignment(unknown, .null)])
        case 2: return wrongSet(graph, present)
        case 3: return .insert(present, entity: graph.entity(of: present)?.number ?? root, [])
        case 4: return .insert(absent, entity: random.pick(schema.entities.filter(\.isAbstract))?.number ?? EntityNumber(rawValue: 999), [])
        case 5: return .delete([present, absent])
        case 6: return .link(present, unknown, target: present, index: nil)
        case 7: return .link(present, wrongProperty(graph, present), target: absent, index: nil)
        case 8: return wrongTarget(graph) ?? .set(absent, [])
        case 9: return wrongIndex(graph) ?? .set(absent, [])
        case 10: return .unlink(absent, unknown, target: present)
        case 11: return wrongMove(graph) ?? .set(absent, [])
        case 12: return wrongBlock(graph, present, absent)
        case 13: return wrongClone(graph, present, absent)
        case 14, 15: return wrongInsert(graph)
        case 16: return wrongTail(graph, present)
        case 17: return wrongUnlink(graph) ?? .set(absent, [])
        case 18: return wrongGap(graph, present)
        // A copy is younger than its source.
        case 19: return .mark(present, source: present.serial + UInt64.random(in: 0...1, using: &random), isStub: false)
        default: return wrongLinks(graph, absent) ?? .set(absent, [])
        }
    }

    /// Returns valid assignments followed by an invalid one.
    private mutating func wrongAssignments(_ attributes: [Attribute]) -> [Assignment] {
        guard let wrong = random.pick(attributes) else { return [] }
        let fitting = attributes.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
        return fitting.map { Assignment($0.number, value($0)) } + [Assignment(wrong.number, values.wrong(wrong.type))]
    }

    private mutating func wrongSet(_ graph: ReferenceGraph, _ id: ObjectID) -> Op {
        .set(id, wrongAssignments(graph.entity(of: id)?.attributes ?? []))
    }

    private mutating func wrongInsert(_ graph: ReferenceGraph) -> Op {
        let entity = random.pick(concrete) ?? concrete[0]
        let id = ObjectID(root: entity.root, serial: serial(entity, graph))
        return .insert(id, entity: entity.number, wrongAssignments(entity.attributes))
    }

    /// Returns an op for several objects. Only the last object is wrong: it cannot be inserted, or it does not exist.
    private mutating func wrongTail(_ graph: ReferenceGraph, _ present: ObjectID) -> Op {
        let entity = graph.entity(of: present) ?? concrete[0]
        let next = graph.nextSerial(of: entity.root)
        let isInsert = random.isTrue(1, outOf: 2)
        let fitting: [UInt64] =
            isInsert
            ? (0..<UInt64.random(in: 0...200, using: &random)).map { next + $0 }
            : graph.ids.filter { graph.entity(of: $0)?.number == entity.number }.prefix(3).map(\.serial)
        let serials = fitting + [isInsert ? ObjectID.serialMax + 1 : next + 7]
        let columns = entity.attributes.filter { !$0.isDerived }.map { attribute in column(attribute, serials.map { _ in value(attribute) })
        }
        return .upsert(
            UpsertBlock(
                entity: entity.number, kind: isInsert ? .insert : .update, serials: Self.runs(serials), identity: [], columns: columns))
    }

    /// Returns an op that inserts objects with unused serials, and then an object that already exists.
    private mutating func wrongGap(_ graph: ReferenceGraph, _ present: ObjectID) -> Op {
        let entity = graph.entity(of: present) ?? concrete[0]
        let free = (1..<max(2, present.serial)).filter { !graph.contains(ObjectID(root: present.root, serial: $0)) }
        return .upsert(
            UpsertBlock(
                entity: entity.number, kind: .insert, serials: Self.runs(free.suffix(5) + [present.serial]), identity: [], columns: []))
    }

    private mutating func wrongUnlink(_ graph: ReferenceGraph) -> Op? {
        guard let (id, relationship) = owner(graph), let target = random.pick(graph.ids) else { return nil }
        return .unlink(id, relationship.number, target: target)
    }

    private mutating func wrongProperty(_ graph: ReferenceGraph, _ id: ObjectID) -> PropertyNumber {
        random.pick(graph.entity(of: id)?.relationships ?? [])?.number ?? PropertyNumber(rawValue: 1)
    }

    private mutating func wrongTarget(_ graph: ReferenceGraph) -> Op? {
        guard let (id, relationship) = owner(graph), let target = random.pick(graph.ids) else { return nil }
        return .link(id, relationship.number, target: target, index: nil)
    }

    private mutating func wrongIndex(_ graph: ReferenceGraph) -> Op? {
        guard let (id, relationship) = owner(graph), let target = random.pick(targets(relationship, graph)) else { return nil }
        let index = random.isTrue(1, outOf: 2) ? -1 : graph.members(relationship, of: id).count + 1
        return .link(id, relationship.number, target: target, index: index)
    }

    /// Returns a move that must throw: of an object that is not a member, in an unordered relationship, or to a negative index.
    private mutating func wrongMove(_ graph: ReferenceGraph) -> Op? {
        guard let (id, relationship) = owner(graph), let target = random.pick(targets(relationship, graph)) else { return nil }
        return .move(id, relationship.number, target: target, index: random.isTrue(1, outOf: 2) ? -1 : 0)
    }

    private mutating func wrongBlock(_ graph: ReferenceGraph, _ present: ObjectID, _ absent: ObjectID) -> Op {
        let entity = graph.entity(of: present) ?? concrete[0]
        let (kind, serials): (UpsertBlock.Kind, [UInt64]) =
            random.isTrue(1, outOf: 2) ? (.insert, [present.serial]) : (.update, [absent.serial])
        var block = UpsertBlock(entity: entity.number, kind: kind, serials: Self.runs(serials), identity: [], columns: [])
        if let attribute = random.pick(entity.attributes), random.isTrue(1, outOf: 2) {
            block.kind = .update
            block.serials = Self.runs([present.serial])
            block.columns = [column(attribute, [.null, .null])]
        } else if random.isTrue(1, outOf: 3), let other = random.pick(concrete) {
            block.kind = .update
            block.serials = Self.runs([present.serial])
            block.entity = other.number
        }
        return .upsert(block)
    }

    /// Returns an op with several links. Only the last link is wrong: its member is missing or has the wrong entity.
    private mutating func wrongLinks(_ graph: ReferenceGraph, _ absent: ObjectID) -> Op? {
        guard let (id, relationship) = owner(graph) else { return nil }
        let wrong = random.isTrue(1, outOf: 2) ? absent.serial : random.pick(graph.ids)?.serial ?? 1
        let owner = random.isTrue(1, outOf: 3) ? random.pick(graph.ids.filter { $0.root == id.root }) ?? id : id
        let others = random.isTrue(1, outOf: 2) ? some(graph.ids(of: graph.entity(of: id) ?? concrete[0]), upTo: 3) : []
        let owners = Set(others + [owner]).sorted()
        let targets = targets(relationship, graph)
        let fitting = owners.dropLast().map { _ in random.pick(targets)?.serial ?? 1 }
        let counts = owners.map { _ in UInt32(1) }
        let content: LinkBlock.Content =
            if !relationship.isToMany {
                .toOne(fitting + [wrong])
            } else if relationship.isOrdered, random.isTrue(1, outOf: 2) {
                .ordered(keptCounts: owners.map { _ in 0 }, suffixCounts: counts, suffixes: fitting + [wrong])
            } else {
                .unordered(removedCounts: owners.map { _ in 0 }, removed: [], addedCounts: counts, added: fitting + [wrong])
            }
        return .relink(
            LinkBlock(
                root: relationship.root, property: relationship.number, serials: Self.runs(owners.map(\.serial)), content: content))
    }
}
