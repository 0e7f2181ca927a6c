import CambiumModel

/// Changes fields of valid ops (ids, numbers, indexes and values), and adds, removes and reorders ops.
struct OpChanges {
    var choices: Choices
    private let roots: [EntityNumber]
    private let entities: [EntityNumber]
    private let properties: [PropertyNumber]

    init(_ choices: Choices, _ schema: Schema) {
        self.choices = choices
        entities = schema.entities.map(\.number)
        roots = Set(schema.entities.map(\.root)).sorted()
        properties = Set(schema.entities.flatMap { $0.attributes.map(\.number) + $0.relationships.map(\.number) }).sorted()
    }

    /// Makes up to 6 changes, and stops at the end of the choices.
    mutating func change(_ ops: [Op]) -> [Op] {
        var ops = ops
        for _ in 0..<6 where !choices.isOver && !ops.isEmpty {
            let place = choices.index(below: ops.count)
            switch choices.byte() & 15 {
            case 12: ops.remove(at: place)
            case 13: ops.insert(ops[place], at: choices.index(below: ops.count + 1))
            case 14: ops.swapAt(place, choices.index(below: ops.count))
            case 15: ops.insert(made(), at: place)
            default: ops[place] = changed(ops[place])
            }
        }
        return ops
    }

    // MARK: Fields

    private mutating func id(_ old: ObjectID) -> ObjectID {
        let root = choices.isRare() ? EntityNumber(rawValue: UInt16(truncatingIfNeeded: choices.number())) : choices.pick(roots) ?? old.root
        switch choices.byte() & 3 {
        case 0: return ObjectID(root: old.root, serial: UInt64(choices.index(below: 8)))
        case 1: return ObjectID(root: root, serial: UInt64(choices.index(below: 8)))
        default: return ObjectID(root: root, serial: choices.number() & ObjectID.serialMax)
        }
    }

    private mutating func property(_ old: PropertyNumber) -> PropertyNumber {
        choices.isRare() ? PropertyNumber(rawValue: UInt16(truncatingIfNeeded: choices.number())) : choices.pick(properties) ?? old
    }

    private mutating func entity(_ old: EntityNumber) -> EntityNumber {
        choices.isRare() ? EntityNumber(rawValue: UInt16(truncatingIfNeeded: choices.number())) : choices.pick(entities) ?? old
    }

    private mutating func index() -> Int { Int(choices.number() & 0xFFFF_FFFF) }

    private mutating func assignments(_ old: [Assignment]) -> [Assignment] {
        var assignments = old
        switch choices.byte() & 3 {
        case 0 where !old.isEmpty:
            let place = choices.index(below: old.count)
            assignments[place] = Assignment(old[place].property, choices.value())
        case 1 where !old.isEmpty: assignments.remove(at: choices.index(below: old.count))
        case 2 where !old.isEmpty: assignments.append(old[choices.index(below: old.count)])
        default: assignments.append(Assignment(property(PropertyNumber(rawValue: 1)), choices.value()))
        }
        return assignments
    }

    /// Returns a new op.
    private mutating func made() -> Op {
        let object = id(ObjectID(root: roots.first ?? EntityNumber(rawValue: 1), serial: 1))
        let property = property(PropertyNumber(rawValue: 1))
        switch choices.index(below: 10) {
        case 0: return .set(object, assignments([]))
        case 1: return .delete([object, id(object)])
        case 2: return .link(object, property, target: id(object), index: choices.isTrue() ? index() : nil)
        case 3: return .unlink(object, property, target: id(object))
        case 4: return .move(object, property, target: id(object), index: index())
        case 5: return .label(choices.text(), TransactionNumber(rawValue: choices.number()))
        case 6: return .digest(of: TransactionNumber(rawValue: choices.number()), GraphDigest(high: 0, low: choices.number()))
        case 7: return .mark(object, source: choices.number(), isStub: choices.isTrue())
        case 8: return undo()
        default: return .insert(object, entity: entity(object.root), assignments([]))
        }
    }

    private mutating func undo() -> Op {
        let number = TransactionNumber(rawValue: choices.number() >> 1 | 1)
        return .undo([number...number])
    }

    private mutating func changed(_ op: Op) -> Op {
        let isFirst = choices.isTrue()
        switch op {
        case .schema: return op
        case .insert(let id, let entity, let old):
            if isFirst { return .insert(id, entity: entity, assignments(old)) }
            return choices.isTrue() ? .insert(self.id(id), entity: entity, old) : .insert(id, entity: self.entity(entity), old)
        case .set(let id, let old): return isFirst ? .set(id, assignments(old)) : .set(self.id(id), old)
        case .link(let id, let property, let target, let index):
            if isFirst { return .link(id, property, target: self.id(target), index: index) }
            if choices.isTrue() { return .link(self.id(id), property, target: target, index: self.index()) }
            return .link(id, self.property(property), target: target, index: index)
        case .unlink(let id, let property, let target):
            return isFirst ? .unlink(id, property, target: self.id(target)) : .unlink(id, self.property(property), target: target)
        case .move(let id, let property, let target, let index):
            if isFirst { return .move(id, property, target: target, index: self.index()) }
            return choices.isTrue()
                ? .move(self.id(id), property, target: target, index: index) : .move(id, property, target: self.id(target), index: index)
        case .delete(let ids): return .delete(isFirst ? ids + [id(ids.first ?? made(root: 1))] : ids.map { _ in id(made(root: 1)) })
        case .label(let name, let number):
            return isFirst ? .label(choices.text(), number) : .label(name, TransactionNumber(rawValue: choices.number()))
        case .digest(let number, let digest):
            return isFirst
                ? .digest(of: TransactionNumber(rawValue: choices.number()), digest) : .digest(of: number, .init(high: 1, low: 2))
        case .mark(let id, let source, let isStub):
            return isFirst ? .mark(self.id(id), source: source, isStub: !isStub) : .mark(id, source: choices.number(), isStub: isStub)
        case .undo: return undo()
        case .upsert(let block): return .upsert(changed(block))
        case .relink(let block): return .relink(changed(block))
        case .clone(let clone): return .clone(changed(clone))
        }
    }

    private func made(root: UInt16) -> ObjectID { ObjectID(root: EntityNumber(rawValue: root), serial: 1) }

    // MARK: Blocks

    private mutating func serials(_ old: SerialRuns) -> SerialRuns {
        var serials = SerialRuns()
        var end: UInt64 = 0
        for run in old.runs {
            let gap = choices.isTrue() ? choices.number() & 0xFF : 0
            let first = max(end + 1, run.first &+ gap & ObjectID.serialMax)
            serials.append(from: first, count: run.count)
            end = first + UInt64(run.count)
        }
        return serials
    }

    private mutating func changed(_ old: UpsertBlock) -> UpsertBlock {
        var block = old
        switch choices.index(below: 6) {
        case 0: block.entity = entity(old.entity)
        case 1: block.kind = UpsertBlock.Kind(rawValue: choices.byte() & 3) ?? old.kind
        case 2: block.serials = serials(old.serials)
        case 3 where !old.columns.isEmpty:
            let place = choices.index(below: old.columns.count)
            block.columns[place].property = property(old.columns[place].property)
        case 4 where !old.columns.isEmpty: block.columns.remove(at: choices.index(below: old.columns.count))
        default: block.identity = choices.isTrue() ? [] : old.identity + old.columns.prefix(1)
        }
        return block
    }

    private mutating func changed(_ old: LinkBlock) -> LinkBlock {
        var block = old
        switch choices.index(below: 4) {
        case 0: block.root = choices.pick(roots) ?? old.root
        case 1: block.property = property(old.property)
        case 2: block.serials = serials(old.serials)
        default: block.content = changed(old.content)
        }
        return block
    }

    private mutating func changed(_ old: LinkBlock.Content) -> LinkBlock.Content {
        func changed(_ list: [UInt64], _ choices: inout Choices) -> [UInt64] {
            list.map { choices.isTrue() ? choices.number() & 0xFF_FFFF_FFFF : $0 }
        }
        func changed(_ list: [UInt32], _ choices: inout Choices) -> [UInt32] {
            list.map { choices.isTrue() ? UInt32(choices.byte() & 7) : $0 }
        }
        switch old {
        case .toOne(let serials): return .toOne(changed(serials, &choices))
        case .unordered(let removedCounts, let removed, let addedCounts, let added):
            return .unordered(
                removedCounts: changed(removedCounts, &choices), removed: changed(removed, &choices),
                addedCounts: changed(addedCounts, &choices), added: changed(added, &choices))
        case .ordered(let keptCounts, let suffixCounts, let suffixes):
            return .ordered(
                keptCounts: changed(keptCounts, &choices), suffixCounts: changed(suffixCounts, &choices),
                suffixes: changed(suffixes, &choices))
        }
    }

    private mutating func changed(_ old: CloneOp) -> CloneOp {
        var clone = old
        switch choices.index(below: 7) {
        case 0: clone.roots = old.roots.map { id($0) }
        case 1: clone.options.depth = choices.isTrue() ? Int(choices.number() & 0x7FFF_FFFF) : nil
        case 2: clone.time = choices.isTrue() ? Timestamp(microsecondsSince1970: Int64(bitPattern: choices.number())) : nil
        case 3: clone.seed = choices.isTrue() ? CloneSeed(low: choices.number(), high: choices.number()) : nil
        case 4: clone.setHash = choices.number()
        case 5:
            clone.options.rootValues = old.options.rootValues.map { .init(root: $0.root, attribute: $0.attribute, value: choices.value()) }
        default:
            clone.hierarchies = old.hierarchies.map { hierarchy in
                .init(
                    root: hierarchy.root, firstSerial: choices.number() & ObjectID.serialMax,
                    counts: hierarchy.counts.map { .init($0.entity, choices.isTrue() ? Int(choices.number() & 0xFF_FFFF) : $0.count) })
            }
        }
        return clone
    }
}
