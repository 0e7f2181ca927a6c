import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting

extension StoreRun {
    /// Makes a call that must throw, and continues. The result of the transaction shows that the call left nothing.
    mutating func makeWrongCall(_ transaction: inout WriteTransaction, _ after: ReferenceGraph) throws {
        let op = program.wrongOp(after)
        var (trial, isWrong) = (after, false)
        do { try trial.apply(withNextSerial(op, after)) } catch { isWrong = true }
        guard isWrong else { return }
        do throws(CambiumError) {
            if try !call(op, &transaction, after) { return }
        } catch { return }
        throw Finding("a call did not throw: \(shown([op]))")
    }

    /// Returns an insert with the next serial, because a caller does not choose the serial.
    private func withNextSerial(_ op: Op, _ after: ReferenceGraph) -> Op {
        guard case .insert(let id, let entity, let assignments) = op else { return op }
        return .insert(ObjectID(root: id.root, serial: after.nextSerial(of: id.root)), entity: entity, assignments)
    }

    /// Makes the call that corresponds to an op. Returns `false` if no call does.
    private func call(_ op: Op, _ transaction: inout WriteTransaction, _ after: ReferenceGraph) throws(CambiumError) -> Bool {
        switch op {
        case .insert(let id, let number, let assignments):
            guard let entity = after.schema.entity(number), entity.root == id.root, let values = values(assignments, entity) else {
                return false
            }
            _ = try transaction.insert(entity, values)
        case .set(let id, let assignments):
            guard let entity = after.entity(of: id), let values = values(assignments, entity) else { return false }
            try transaction.set(id, values)
        case .link(let id, let property, let target, let index):
            guard let relationship = after.entity(of: id)?.relationship(property) else { return false }
            try transaction.link(id, relationship, target, at: index)
        case .unlink(let id, let property, let target):
            guard let relationship = after.entity(of: id)?.relationship(property) else { return false }
            try transaction.unlink(id, relationship, target)
        case .move(let id, let property, let target, let index):
            guard let relationship = after.entity(of: id)?.relationship(property) else { return false }
            try transaction.move(id, relationship, target, to: index)
        case .delete(let ids): try transaction.delete(ids)
        case .clone(let clone):
            guard clone.roots.isEmpty || clone.roots.contains(where: { !after.contains($0) }) else { return false }
            _ = try transaction.clone(clone.roots)
        default: return false
        }
        return true
    }

    /// Returns `nil` if an assignment does not belong to an attribute of the entity.
    private func values(_ assignments: [Assignment], _ entity: Entity) -> [(Attribute, Value)]? {
        var values: [(Attribute, Value)] = []
        for assignment in assignments {
            guard let attribute = entity.attribute(assignment.property) else { return nil }
            values.append((attribute, assignment.value))
        }
        return values
    }
}
