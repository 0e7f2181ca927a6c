import CambiumGraph
import CambiumModel

/// The objects that a row makes, to be found again by their identity. Few are compared one by one, many by a hash.
final class NewObjects {
    private var objects: [(identity: UInt64, place: Int, hash: UInt64)] = []
    /// For each hash of an identity the objects of it, as far as they were looked at.
    private var byHash: [Int: [Int]] = [:]
    private var hashedCount = 0
    private static let comparedCountMax = 16

    /// - Parameters:
    ///   - identity: the `identityKey` of its entity.
    ///   - hash: of its key; 0 if it is not known.
    func append(_ identity: UInt64, _ place: Int, hash: UInt64) { objects.append((identity, place, hash)) }

    /// Whether one of them may have a key of this hash, which is 0 where it is not known. Of many that is not found out.
    func mayHave(_ identity: UInt64, hash: UInt64) -> Bool {
        if hash == 0 || objects.count > Self.comparedCountMax { return true }
        for object in objects where object.identity == identity && (object.hash == hash || object.hash == 0) { return true }
        return false
    }

    func removeAll() {
        objects.removeAll(keepingCapacity: true)
        if hashedCount == 0 { return }
        byHash = [:]
        hashedCount = 0
    }

    /// The place in the plan of the object with this identity.
    func place(_ identity: UInt64, _ cells: [Cell], _ planner: RowPlanner, _ batch: borrowing RowBatch) -> Int? {
        if objects.count <= Self.comparedCountMax {
            for object in objects where object.identity == identity && has(cells, object.place, planner, batch) { return object.place }
            return nil
        }
        while hashedCount < objects.count {
            let (identity, place, _) = objects[hashedCount]
            byHash[hash(identity, place, planner, batch), default: []].append(hashedCount)
            hashedCount += 1
        }
        var hasher = Hasher()
        hasher.combine(identity)
        for cell in cells { Self.add(cell, to: &hasher) }
        for number in byHash[hasher.finalize()] ?? [] {
            let object = objects[number]
            if object.identity == identity, has(cells, object.place, planner, batch) { return object.place }
        }
        return nil
    }

    /// The value that the object at a place is given for an attribute.
    private func value(_ attribute: Int, _ place: Int, _ planner: RowPlanner, _ batch: borrowing RowBatch) -> RowBatch.Value? {
        for place in planner.plan.objects[place].values.reversed() where batch.values[place].attribute == attribute {
            return batch.values[place]
        }
        return nil
    }

    private func has(_ identity: [Cell], _ place: Int, _ planner: RowPlanner, _ batch: borrowing RowBatch) -> Bool {
        let entity = planner.entities[planner.plan.objects[place].entity].counted
        for (attribute, cell) in zip(entity.identity, identity) {
            let type = entity.attributes[attribute].type
            guard let value = value(attribute, place, planner, batch), batch.withCell(value, { $0.key(type).equals(cell) }) else {
                return false
            }
        }
        return true
    }

    private func hash(_ identity: UInt64, _ place: Int, _ planner: RowPlanner, _ batch: borrowing RowBatch) -> Int {
        var hasher = Hasher()
        hasher.combine(identity)
        let entity = planner.entities[planner.plan.objects[place].entity].counted
        for attribute in entity.identity {
            guard let value = value(attribute, place, planner, batch) else { continue }
            batch.withCell(value) { Self.add($0.key(entity.attributes[attribute].type), to: &hasher) }
        }
        return hasher.finalize()
    }

    private static func add(_ cell: Cell, to hasher: inout Hasher) {
        hasher.combine(cell.low)
        hasher.combine(cell.high)
        hasher.combine(bytes: cell.bytes)
    }
}
