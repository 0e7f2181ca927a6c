import Cambium
import CambiumGraph
import CambiumLog
import CambiumModel
import CambiumTesting
import TestFixtures

/// A random program for an edit that stays open while other transactions commit and the schema changes. Each rebase is compared with an
/// `EditReference`, and each commit with a rebase.
struct KeptEditRun {
    /// The numbers of calls that succeeded.
    struct Counts {
        var rebases = 0
        var migrations = 0
        var commits = 0
    }

    var counts = Counts()
    var random: SplitMix64
    private let volume = MemoryVolume()
    let store: Store
    var edit: Edit
    /// The edit as it is after all of its steps are undone.
    var floor: Edit

    /// A schema with a relationship of each kind, in which a few objects lead to each other.
    private static let definition = SchemaDefinition {
        EntityDefinition("Place") {
            AttributeDefinition("name", .string, default: "")
            AttributeDefinition("size", .int16, .optional)
            RelationshipDefinition("parts", to: "Thing", .toMany, inverse: "place", onDelete: .cascade)
            RelationshipDefinition("queue", to: "Thing", .orderedToMany, inverse: "holder")
            RelationshipDefinition("near", to: "Place", .toMany, inverse: "near")
        }
        EntityDefinition("Thing") {
            AttributeDefinition("weight", .float, .optional)
            AttributeDefinition("mark", .string, .optional, default: "new")
            RelationshipDefinition("place", to: "Place", inverse: "parts")
            RelationshipDefinition("holder", to: "Place", inverse: "queue")
            RelationshipDefinition("pair", to: "Thing", inverse: "pairOf")
            RelationshipDefinition("pairOf", to: "Thing", inverse: "pair")
            RelationshipDefinition("tools", to: "Tool", .orderedToMany, inverse: "users")
            RelationshipDefinition("path", to: "Place", .orderedToMany)
            RelationshipDefinition("last", to: "Thing")
        }
        EntityDefinition("Tool", parent: "Thing") {
            AttributeDefinition("page", .uri, .optional)
            RelationshipDefinition("users", to: "Thing", .orderedToMany, inverse: "tools")
        }
    }

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        var tuning = LogTuning()
        (tuning.sealsInBackground, tuning.checkpointsInBackground) = (false, false)
        store = try Store.create(
            volume, schema: Schema(Self.definition), durability: .synced, environment: fixedEnvironment(seed: seed), tuning: tuning)
        try store.write { transaction in
            let places = try (0..<3).map { try transaction.insert("Place", ["size": .int(Int64($0))]) }
            for number in 0..<5 {
                let links: KeyValuePairs = ["place": [places[number % 3]], "holder": [places[number % 2]]]
                try transaction.insert(number < 3 ? "Thing" : "Tool", links: links)
            }
        }
        edit = store.edit()
        floor = edit
    }

    mutating func run(_ stepCount: Int) throws {
        for number in 1...stepCount {
            let kind = Int.random(in: 0..<24, using: &random)
            do { try step(kind) } catch { throw Finding("step \(number) of kind \(kind): \(error)") }
        }
        try Finding.check(store.graph.invariantFindings(), "invariants")
        let verification = try Verification(volume)
        if verification.isSound, verification.digest == store.graph.digest() { return }
        throw Finding("the store is not sound: \(verification.findings)")
    }

    private mutating func step(_ kind: Int) throws {
        switch kind {
        case 0..<8:
            var changed = edit
            change(&changed)
            edit = changed
        case 8, 9: try changeInGroup()
        case 10: edit.undo()
        case 11: edit.redo()
        case 12..<16: try commitOutside()
        case 16: try cloneOutside()
        case 17, 18: try migrate()
        case 19..<22: try rebase()
        default: try commit()
        }
    }

    // MARK: Changes

    /// Makes a random change to an edit.
    private mutating func change(_ edit: inout Edit) {
        // A call that throws must leave the edit as it was. The later comparisons show this.
        do throws(CambiumError) { try call(&edit) } catch {}
    }

    func ids(_ edit: Edit) -> [ObjectID] { edit.schema.roots.flatMap { edit.objects(of: $0) } }

    private mutating func call(_ edit: inout Edit) throws(CambiumError) {
        let ids = ids(edit)
        guard let id = random.pick(ids), let entity = edit.entity(of: id) else { return try insert(&edit) }
        let kind = Int.random(in: 0..<20, using: &random)
        if kind < 6 {
            guard let attribute = random.pick(entity.attributes.filter { !$0.isDerived }) else { return }
            return try edit.set(id, attribute, to: value(attribute))
        }
        if kind >= 17 {
            if ids.count < 6 || (ids.count < 12 && random.isTrue(1, outOf: 2)) { return try insert(&edit) }
            return try edit.delete([id])
        }
        guard let relationship = random.pick(entity.relationships) else { return }
        let members = edit.currentMembers(relationship, of: id)
        if kind < 12 {
            guard let destination = edit.schema.entity(relationship.destination) else { return }
            guard let target = random.pick(edit.objects(of: destination)) else { return }
            return try edit.link(id, relationship, target, at: relationship.isOrdered && random.isTrue(1, outOf: 2) ? 0 : nil)
        }
        guard let member = random.pick(members) else { return }
        if kind < 15 { return try edit.unlink(id, relationship, member) }
        if relationship.isOrdered { try edit.move(id, relationship, member, to: Int.random(in: 0..<members.count, using: &random)) }
    }

    private mutating func insert(_ edit: inout Edit) throws(CambiumError) {
        guard let entity = random.pick(edit.schema.entities.filter { !$0.isAbstract }) else { return }
        let attributes = entity.attributes.filter { !$0.isDerived && (!$0.isOptional || random.isTrue(1, outOf: 2)) }
        _ = try edit.insert(entity, attributes.map { ($0, value($0)) })
    }

    /// Returns one of four values, so that the edit and the store often set the same one.
    private mutating func value(_ attribute: Attribute) -> Value {
        if attribute.isOptional, random.isTrue(1, outOf: 6) { return .null }
        return RandomValues.value(-Int64.random(in: 0..<4, using: &random), attribute.type)
    }

    /// Makes two changes in one step. Occasionally, the group throws, and so must change nothing.
    private mutating func changeInGroup() throws {
        struct Stop: Error {}
        let isStopped = random.isTrue(1, outOf: 3)
        var changed = edit
        do {
            try changed.group { (edit: inout Edit) throws -> Void in
                change(&edit)
                change(&edit)
                if isStopped { throw Stop() }
            }
        } catch is Stop {
            if changed.dump != edit.dump { throw Finding("a group that threw changed the edit") }
        }
        edit = changed
    }

    // MARK: Changes of the store

    private mutating func commitOutside() throws {
        var other = store.edit()
        for _ in 0..<Int.random(in: 1...3, using: &random) { change(&other) }
        let graph = store.graph
        do { try store.commit(&other) } catch let error as CambiumError where error.code == .ruleViolated {
            try checkUnchanged(graph)
        }
    }

    private mutating func cloneOutside() throws {
        let graph = store.graph
        let ids = ids(store.edit())
        guard ids.count < 12, let id = random.pick(ids) else { return }
        do { _ = try store.write { try $0.clone(id) } } catch let error as CambiumError where error.code == .ruleViolated {
            try checkUnchanged(graph)
        }
    }

    private mutating func migrate() throws {
        let graph = store.graph
        var definition = RandomSchema.changed(graph.schema, &random)
        if random.isTrue(1, outOf: 4) { Self.removeFormerNames(&definition) }
        do {
            if random.isTrue(1, outOf: 3) { try store.migrate(to: definition) { _, _ in } } else { try store.migrate(to: definition) }
            if store.graph.transaction != graph.transaction { counts.migrations += 1 }
        } catch let error as CambiumError where error.code == .ruleViolated || error.code == .invalidInput {
            try checkUnchanged(graph)
        }
    }

    /// Removes the former names, as the author of a schema may do after the migration.
    private static func removeFormerNames(_ definition: inout SchemaDefinition) {
        for entity in definition.entities.indices {
            definition.entities[entity].formerName = nil
            for place in definition.entities[entity].attributes.indices { definition.entities[entity].attributes[place].formerName = nil }
            for place in definition.entities[entity].relationships.indices {
                definition.entities[entity].relationships[place].formerName = nil
            }
        }
    }

    func checkUnchanged(_ graph: Graph) throws {
        if store.graph.transaction != graph.transaction { throw Finding("a refused call changed the store") }
    }
}
