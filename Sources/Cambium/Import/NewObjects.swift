import CambiumGraph
import CambiumJSON
import CambiumModel

/// The objects that a row makes, to be found again by their identity. Few are compared one by one, many by a hash.
final class NewObjects {
    private var objects: [(root: EntityNumber, place: Int)] = []
    /// For each hash of an identity the objects of it, as far as they were looked at.
    private var byHash: [Int: [Int]] = [:]
    private var hashedCount = 0
    private static let comparedCountMax = 16

    var isEmpty: Bool { objects.isEmpty }

    func append(_ root: EntityNumber, _ place: Int) { objects.append((root, place)) }

    func removeAll() {
        objects.removeAll(keepingCapacity: true)
        if hashedCount == 0 { return }
        byHash = [:]
        hashedCount = 0
    }

    /// The place in the plan of the object with this identity.
    func place(_ root: EntityNumber, _ identity: [Cell], _ plan: RowPlan, _ tokens: JSONTokens) -> Int? {
        if objects.count <= Self.comparedCountMax {
            return objects.first { $0.root == root && has(identity, plan.objects[$0.place], plan, tokens) }?.place
        }
        while hashedCount < objects.count {
            let (root, place) = objects[hashedCount]
            byHash[hash(root, plan.objects[place], plan, tokens), default: []].append(hashedCount)
            hashedCount += 1
        }
        var hasher = Hasher()
        hasher.combine(root)
        for cell in identity { Self.add(cell, to: &hasher) }
        let found = byHash[hasher.finalize()]?.first {
            objects[$0].root == root && has(identity, plan.objects[objects[$0].place], plan, tokens)
        }
        return found.map { objects[$0].place }
    }

    private func value(_ attribute: Int, _ object: RowPlan.Object, _ plan: RowPlan) -> RowPlan.Value? {
        plan.values[object.values].last { $0.attribute == attribute }
    }

    private func has(_ identity: [Cell], _ object: RowPlan.Object, _ plan: RowPlan, _ tokens: JSONTokens) -> Bool {
        zip(object.entity.identity, identity).allSatisfy { attribute, cell in
            guard let value = value(attribute, object, plan) else { return false }
            return plan.withCell(value, tokens) { $0.map { $0.equals(cell) } ?? false }
        }
    }

    private func hash(_ root: EntityNumber, _ object: RowPlan.Object, _ plan: RowPlan, _ tokens: JSONTokens) -> Int {
        var hasher = Hasher()
        hasher.combine(root)
        for attribute in object.entity.identity {
            guard let value = value(attribute, object, plan) else { continue }
            plan.withCell(value, tokens) { cell in if let cell { Self.add(cell, to: &hasher) } }
        }
        return hasher.finalize()
    }

    private static func add(_ cell: Cell, to hasher: inout Hasher) {
        hasher.combine(cell.low)
        hasher.combine(cell.high)
        hasher.combine(bytes: cell.bytes)
    }
}
