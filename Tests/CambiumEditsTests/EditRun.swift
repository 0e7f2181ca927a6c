import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import Foundation
import TestFixtures

@testable import CambiumEdits
@testable import CambiumStore

/// A random schema, a store of random objects, and random changes that are applied to edits, transactions and a reference.
struct EditRun {
    var random: SplitMix64
    var program: RandomProgram
    /// The graph of the store.
    private(set) var reference: ReferenceGraph
    let store: Store
    /// A store with the same objects.
    let twin: Store

    static func seeds(_ usual: Int, from first: UInt64) -> Range<UInt64> { TestSettings.seeds("programs", usual: usual, from: first) }

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        let schema = try RandomSchema.make(&random)
        program = RandomProgram(schema: schema, seed: random.next())
        reference = ReferenceGraph(schema: schema)
        (store, twin) = (try Store.inMemory(schema: schema), try Store.inMemory(schema: schema))
        var ops: [Op] = []
        for _ in 0..<40 {
            let op = program.next(for: reference)
            var trial = reference
            if case .clone = op { continue }
            do throws(CambiumError) { try trial.apply(op) } catch { continue }
            reference = trial
            ops.append(op)
        }
        reference.commit()
        for store in [store, twin] { try store.unchecked { transaction in for op in ops { try transaction.record(op) } } }
    }

    /// Returns an op for which edits and transactions have a call with the same effect.
    mutating func op(for graph: ReferenceGraph) -> Op? { Self.callable(program.next(for: graph), graph) }

    /// Returns an op that must fail in most cases, for which edits and transactions have a call.
    mutating func wrongOp(for graph: ReferenceGraph) -> Op? { Self.callable(program.wrongOp(graph), graph) }

    private static func callable(_ op: Op, _ graph: ReferenceGraph) -> Op? {
        switch op {
        case .insert(let id, let number, let assignments):
            guard let entity = graph.schema.entity(number), entity.root == id.root, !graph.contains(id) else { return nil }
            return hasAll(assignments, entity) ? op : nil
        case .set(let id, let assignments):
            return graph.entity(of: id).map { hasAll(assignments, $0) } ?? true ? op : nil
        case .link(let id, let number, let target, let index):
            guard let relationship = graph.entity(of: id)?.relationship(number) else { return nil }
            return .link(id, number, target: target, index: relationship.isOrdered ? index : nil)
        case .unlink(let id, let number, _): return graph.entity(of: id)?.relationship(number) == nil ? nil : op
        case .move(let id, let number, _, let index):
            guard let relationship = graph.entity(of: id)?.relationship(number) else { return nil }
            return index < graph.members(relationship, of: id).count ? op : nil
        case .delete: return op
        case .upsert, .relink, .clone, .schema, .label, .digest, .mark, .undo: return nil
        }
    }

    /// Throws if the store's graph is not sound. Objects may share unique values, because these commits check no rules.
    func checkInvariants() throws {
        let findings = store.graph.invariantFindings().filter { !$0.hasSuffix("is a duplicate.") }
        try Finding.check(findings, "invariants")
    }

    private static func hasAll(_ assignments: [Assignment], _ entity: Entity) -> Bool {
        assignments.allSatisfy { entity.attribute($0.property) != nil }
    }
}

/// A target that random ops change: an edit or a transaction.
protocol OpTarget: ~Copyable {
    var schema: Schema { get }

    mutating func insert(_ entity: Entity, _ values: [(Attribute, Value)]) throws(CambiumError) -> ObjectID
    mutating func set(_ id: ObjectID, _ values: [(Attribute, Value)]) throws(CambiumError)
    mutating func delete(_ ids: [ObjectID]) throws(CambiumError)
    mutating func link(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, at index: Int?) throws(CambiumError)
    mutating func unlink(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) throws(CambiumError)
    mutating func move(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, to index: Int) throws(CambiumError)
}

extension Edit: OpTarget {}
extension WriteTransaction: OpTarget {}

extension OpTarget where Self: ~Copyable {
    /// Makes the call for an op. Returns the code of the error, or `nil`.
    ///
    /// - Parameter ids: The ids of objects in the target, by their ids in the op.
    mutating func perform(_ op: Op, _ ids: inout [ObjectID: ObjectID], _ graph: ReferenceGraph) -> CambiumError.Code? {
        do throws(CambiumError) {
            try call(op, &ids, graph)
            return nil
        } catch {
            return error.code
        }
    }

    private mutating func call(_ op: Op, _ ids: inout [ObjectID: ObjectID], _ graph: ReferenceGraph) throws(CambiumError) {
        func values(_ assignments: [Assignment], _ entity: Entity) -> [(Attribute, Value)] {
            assignments.compactMap { assignment in entity.attribute(assignment.property).map { ($0, assignment.value) } }
        }
        switch op {
        case .insert(let id, let number, let assignments):
            guard let entity = schema.entity(number) else { return }
            ids[id] = try insert(entity, values(assignments, entity))
        case .set(let id, let assignments):
            guard let entity = graph.entity(of: id) else { return try set(ids[id] ?? id, []) }
            try set(ids[id] ?? id, values(assignments, entity))
        case .link(let id, let number, let target, let index):
            guard let relationship = graph.entity(of: id)?.relationship(number) else { return }
            try link(ids[id] ?? id, relationship, ids[target] ?? target, at: index)
        case .unlink(let id, let number, let target):
            guard let relationship = graph.entity(of: id)?.relationship(number) else { return }
            try unlink(ids[id] ?? id, relationship, ids[target] ?? target)
        case .move(let id, let number, let target, let index):
            guard let relationship = graph.entity(of: id)?.relationship(number) else { return }
            try move(ids[id] ?? id, relationship, ids[target] ?? target, to: index)
        case .delete(let targets): try delete(targets.map { ids[$0] ?? $0 })
        case .upsert, .relink, .clone, .schema, .label, .digest, .mark, .undo: break
        }
    }
}

extension Store {
    /// Commits a transaction without the checks at its end, which random changes often break.
    func unchecked(_ body: (inout WriteTransaction) throws -> Void) throws {
        _ = try commits.settle(try pipeline.commit(Author(), nil, checks: .none, waiter: .thread, body))
    }

    /// Commits an edit without the checks at the end. Returns the permanent ids.
    func uncheckedCommit(_ edit: Edit, _ policy: EditPolicy = .error) throws -> [ObjectID: ObjectID] {
        var ids: [ObjectID: ObjectID] = [:]
        try unchecked { ids = try edit.apply(to: &$0, policy) }
        return ids
    }
}

extension Edit {
    /// Returns a sentence about the first object that another reader shows differently, or `nil`.
    ///
    /// - Parameters:
    ///   - ids: The ids of the other reader, by the edit's ids.
    ///   - objects: Returns the ids that the other reader has for an entity.
    func difference(
        _ ids: (ObjectID) -> ObjectID, objects: (Entity) -> [ObjectID], value: (Attribute, ObjectID) -> Value?,
        members: (Relationship, ObjectID) -> [ObjectID]
    ) -> String? {
        for entity in schema.entities {
            let own = self.objects(of: entity)
            if own.map(ids).sorted() != objects(entity).sorted() { return "\(entity.name) has the objects \(own)" }
            if own.count != count(of: entity) { return "\(entity.name) has \(count(of: entity)) instead of \(own.count) objects" }
            for id in own where self.entity(of: id) === entity {
                for attribute in entity.attributes where !attribute.isDerived {
                    let (mine, other) = (self[id, attribute], value(attribute, ids(id)))
                    if mine != other { return "\(id).\(attribute.name) is \(String(describing: mine)), not \(String(describing: other))" }
                }
                for relationship in entity.relationships {
                    var mine = (self.members(relationship, of: id) ?? []).map(ids)
                    if !relationship.isOrdered { mine.sort() }
                    let other = members(relationship, ids(id))
                    if mine != other { return "\(id).\(relationship.name) has \(mine), not \(other)" }
                }
            }
        }
        return nil
    }

    func difference(from reference: ReferenceGraph, _ ids: [ObjectID: ObjectID]) -> String? {
        let back = Dictionary(ids.filter { reference.contains($0.key) }.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        return difference(
            { back[$0] ?? $0 }, objects: reference.ids(of:), value: { reference.value(of: $0, of: $1) },
            members: { reference.members($0, of: $1) })
    }

    func difference(from graph: Graph, _ ids: [ObjectID: ObjectID]) -> String? {
        difference(
            { ids[$0] ?? $0 }, objects: { Array(graph.objects(of: $0)) }, value: { graph[$1, $0] },
            members: { graph.members($0, of: $1) ?? [] })
    }
}
