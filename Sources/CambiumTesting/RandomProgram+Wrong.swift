import CambiumModel

extension RandomProgram {
    /// An op that mostly has to throw.
    mutating func wrongOp(_ graph: ReferenceGraph) -> Op {
        let entity = random.pick(schema.entities)
        let root = entity?.root ?? EntityNumber(rawValue: 1)
        let absent = ObjectID(root: root, serial: graph.nextSerial(of: root) + 7)
        let present = random.pick(graph.ids) ?? absent
        let unknown = PropertyNumber(rawValue: 60_000)
        switch Int.random(in: 0..<15, using: &random) {
        case 0: return .set(absent, [])
        case 1: return .set(present, [Assignment(unknown, .null)])
        case 2: return wrongValue(graph, present)
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
        default: return wrongLinks(graph, absent) ?? .set(absent, [])
        }
    }

    private mutating func wrongValue(_ graph: ReferenceGraph, _ id: ObjectID) -> Op {
        guard let attribute = random.pick(graph.entity(of: id)?.attributes ?? []) else { return .set(id, []) }
        return .set(id, [Assignment(attribute.number, values.wrong(attribute.type))])
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

    /// Of something that is no member, or that is not ordered, or to before the front.
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

    /// A block of links that names what is not there, or is of the wrong entity.
    private mutating func wrongLinks(_ graph: ReferenceGraph, _ absent: ObjectID) -> Op? {
        guard let (id, relationship) = owner(graph) else { return nil }
        let target = random.isTrue(1, outOf: 2) ? absent.serial : random.pick(graph.ids)?.serial ?? 1
        let content: LinkBlock.Content =
            relationship.isToMany ? .unordered(removedCounts: [0], removed: [], addedCounts: [1], added: [target]) : .toOne([target])
        let owner = random.isTrue(1, outOf: 3) ? random.pick(graph.ids.filter { $0.root == id.root }) ?? id : id
        return .relink(
            LinkBlock(
                root: relationship.root, property: relationship.number, serials: Self.runs([owner.serial]), content: content))
    }
}
