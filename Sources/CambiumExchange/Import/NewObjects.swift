import CambiumGraph
import CambiumModel

/// The objects that one row creates. The planner searches these objects when the row refers to an object by identity. Up to
/// `comparedCountMax` objects are compared one by one. If there are more objects, they are found by hash.
final class NewObjects {
    private var objects: [(identity: UInt64, place: Int, hash: UInt64)] = []
    /// The indexes of objects by the hash of their identity, for the first `hashedCount` objects.
    private var byHash: [Int: [Int]] = [:]
    private var hashedCount = 0
    private static let comparedCountMax = 16

    /// Adds an object.
    ///
    /// - Parameters:
    ///   - identity: the `identityKey` of the object's entity.
    ///   - place: the index of the object in the plan.
    ///   - hash: the hash of the object's identity value; 0 if the hash is not known.
    func append(_ identity: UInt64, _ place: Int, hash: UInt64) { objects.append((identity, place, hash)) }

    /// Returns whether one of the new objects may have an identity with this hash. A hash of 0 means that the hash is not known. If there
    /// are many objects, returns `true` without a search.
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

    /// Finds, among the objects that the row creates, the one with the identity values `cells`, and returns its index in the plan. Returns
    /// `nil` if there is no such object, or if its entity is not among the entities in which identities of `entity` are looked up.
    func place(_ entity: ImportEntity, _ cells: [Cell], _ planner: RowPlanner, _ batch: borrowing RowBatch) -> Int? {
        if objects.count <= Self.comparedCountMax {
            for object in objects where object.identity == entity.identityKey && has(cells, object.place, for: entity, planner, batch) {
                return object.place
            }
            return nil
        }
        while hashedCount < objects.count {
            let (identity, place, _) = objects[hashedCount]
            byHash[hash(identity, place, planner, batch), default: []].append(hashedCount)
            hashedCount += 1
        }
        var hasher = Hasher()
        hasher.combine(entity.identityKey)
        for cell in cells { Self.add(cell, to: &hasher) }
        for number in byHash[hasher.finalize()] ?? [] {
            let object = objects[number]
            if object.identity == entity.identityKey, has(cells, object.place, for: entity, planner, batch) { return object.place }
        }
        return nil
    }

    /// Returns the value that the row assigns to an attribute of the object at the index `place` in the plan.
    private func value(_ attribute: Int, _ place: Int, _ planner: RowPlanner, _ batch: borrowing RowBatch) -> RowBatch.Value? {
        for place in planner.plan.objects[place].values.reversed() where batch.values[place].attribute == attribute {
            return batch.values[place]
        }
        return nil
    }

    /// Returns whether a new object has the given identity values, and its entity is among those in which identities of `finder` are looked
    /// up.
    private func has(
        _ identity: [Cell], _ place: Int, for finder: ImportEntity, _ planner: RowPlanner, _ batch: borrowing RowBatch
    ) -> Bool {
        let entity = planner.entities[planner.plan.objects[place].entity].counted
        guard finder.finds(entity.number) else { return false }
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
