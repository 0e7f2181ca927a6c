import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog

/// Steps between schemas that Core Data calls lightweight: nothing is lost, or the migration names what it would lose.
@Suite struct LightweightStepTests {
    /// Returns a hierarchy in which the given entities declare the attribute `x`.
    private static func shapes(_ holders: [String: AttributeType], top: Bool = false, isAbstract: Bool = true) -> SchemaDefinition {
        var definition = SchemaDefinition {
            EntityDefinition("Base", parent: top ? "Top" : nil)
            EntityDefinition("Left", parent: "Base")
            EntityDefinition("Right", parent: "Base")
            EntityDefinition("Third", parent: "Base")
        }
        if top { definition.entities.append(EntityDefinition("Top")) }
        if top, isAbstract { definition["Top"].isAbstract = true }
        for (name, type) in holders { definition[name][attribute: "x"] = AttributeDefinition("x", type, .optional) }
        return definition
    }

    /// Creates a store with an object of each of three sub-entities. The first two have a value.
    private static func store(_ definition: SchemaDefinition, _ left: Value, _ right: Value) throws -> MigratedStore {
        let store = try MigratedStore(definition)
        try store.store.write {
            _ = try $0.insert("Left", ["x": left])
            _ = try $0.insert("Right", ["x": right])
            _ = try $0.insert("Third", definition["Base"].attributes.isEmpty ? [:] : ["x": .null])
        }
        return store
    }

    @Test(arguments: [
        (AttributeType.bool, Value.bool(true), Value.bool(false)), (.string, .string(String(repeating: "é", count: 400)), .string("")),
        (.uuid, .uuid(.init()), .uuid(.init())), (.decimal, .decimal(DecimalNumber(7)), .null), (.data, .data([1, 2]), .data([])),
    ])
    func `an attribute of siblings moves to their parent and back, and each object keeps its value`(
        type: AttributeType, left: Value, right: Value
    ) throws {
        let apart = Self.shapes(["Left": type, "Right": type])
        let store = try Self.store(apart, left, right)
        let report = try store.migrate(to: Self.shapes(["Base": type]))
        #expect(report.entries.map(\.change.kind) == [.moved, .moved] && report.entries.allSatisfy { $0.lostCount == 0 })
        #expect(try store.values("Base", "x") == [left, right, .null])
        let back = try store.migrate(to: apart)
        #expect(back.entries.allSatisfy { $0.change.kind == .moved && $0.lostCount == 0 })
        #expect(try store.values("Left", "x") + store.values("Right", "x") == [left, right])
    }

    @Test func `siblings of different types convert their values, and a null does not become the default`() throws {
        let store = try Self.store(Self.shapes(["Left": .bool, "Right": .double]), .bool(true), .null)
        var definition = Self.shapes(["Base": .int32])
        definition["Base"][attribute: "x"].defaultValue = .number("5")
        let report = try store.migrate(to: definition)
        #expect(try store.values("Base", "x") == [.int(1), .null, .int(5)])
        #expect(report.entries.filter { $0.change.kind == .moved }.map(\.objectCount).reduce(0, +) == 1)
    }

    @Test func `a renamed attribute of siblings moves to their parent, and one that does not convert is refused`() throws {
        let store = try Self.store(Self.shapes(["Left": .bool, "Right": .string]), .bool(true), .string("a"))
        #expect(code { try store.store.migrate(to: Self.shapes(["Base": .bool])) } == .ruleViolated)
        try store.migrate(to: Self.shapes(["Left": .bool, "Right": .bool])) { _, _ in }
        var definition = Self.shapes([:])
        definition["Base"][attribute: "done"] = AttributeDefinition("done", .bool, .optional, renamedFrom: "x")
        try store.migrate(to: definition)
        #expect(try store.values("Base", "done") == [.bool(true), .null, .null])
    }

    @Test func `an object that loses an attribute of its parent is counted`() throws {
        let store = try Self.store(Self.shapes(["Base": .int16]), .int(1), .int(2))
        try store.store.write { transaction in
            for id in try transaction.draft.original.objects(of: "Third") { try transaction.set(id, "x", to: .int(3)) }
        }
        let report = try store.migrate(to: Self.shapes(["Left": .int16, "Right": .int16]))
        #expect(report.entries.map(\.lostCount).reduce(0, +) == 1)
        #expect(try store.values("Right", "x") == [.int(2)])
    }

    @Test(arguments: [false, true])
    func `a parent above a root keeps the ids and the values of the objects`(isAbstract: Bool) throws {
        let store = try Self.store(Self.shapes(["Base": .string]), .string("l"), .string("r"))
        let base = try store.store.write { try $0.insert("Base", ["x": .string("b")]) }.result
        let ids = try store.store.graph.objects(of: "Base").map(\.self)
        let moment = store.store.graph
        let report = try store.migrate(to: Self.shapes(["Base": .string], top: true, isAbstract: isAbstract))
        #expect(report.entries.allSatisfy { $0.lostCount == 0 && $0.handling == .automatic })
        #expect(try store.store.graph.objects(of: "Base").map(\.self) == ids)
        #expect(try store.values("Base", "x") == [.string("l"), .string("r"), .null, .string("b")])
        #expect(store.store.graph.entity(of: base)?.name == "Base" && moment.entity(of: base)?.name == "Base")
        let more = try store.store.write { try $0.insert(isAbstract ? "Base" : "Top") }.result
        #expect(store.store.graph.entity(of: more)?.name == (isAbstract ? "Base" : "Top") && more.root == base.root)
        try store.check()
    }

    @Test func `an edit from before the parent inserts objects of the same entity, and earlier handles still work`() throws {
        let store = try Self.store(Self.shapes(["Base": .string]), .string("l"), .string("r"))
        let base = try store.store.schema.required("Base")
        var edit = store.store.edit()
        _ = try edit.insert("Base", ["x": .string("b")])
        try store.migrate(to: Self.shapes(["Top": .string], top: true))
        try store.store.commit(&edit)
        #expect(store.store.graph.count(of: base) == 4)
        #expect(try store.values("Base", "x").last == .string("b"))
        try store.check()
    }

    @Test func `the hierarchy of a second root under a new parent is refused, because its ids would change`() throws {
        let roots = SchemaDefinition {
            EntityDefinition("A")
            EntityDefinition("B")
        }
        let store = try MigratedStore(roots)
        try store.store.write {
            _ = try $0.insert("A")
            _ = try $0.insert("B")
        }
        let joined = SchemaDefinition {
            EntityDefinition("Top", .abstract)
            EntityDefinition("A", parent: "Top")
            EntityDefinition("B", parent: "Top")
        }
        #expect(code { try store.store.migrate(to: joined) } == .ruleViolated)
        try store.store.write { try $0.delete($0.draft.original.objects(of: $0.schema.required("B")).map(\.self)) }
        try store.migrate(to: joined)
        #expect(store.store.graph.objectCount == 1)
    }

    // MARK: Relationships

    @Test func `a relationship becomes to-one if each object has one member`() throws {
        let notes = try MigratedNotes()
        try notes.migrate { $0["Tag"][relationship: "items"].cardinality = .orderedToMany }
        try notes.store.write { try $0.unlink(Self.id("Item", 1, $0), "tags", Self.id("Tag", 2, $0)) }
        let report = try notes.migrate { $0["Item"][relationship: "tags"].cardinality = .toOne }
        #expect(report.entries.map(\.lostCount).reduce(0, +) == 0)
        #expect(try notes.members("Item", "tags") == [[1], [1], []] && notes.members("Tag", "items") == [[1, 2], []])
    }

    private static func id(_ entity: String, _ serial: UInt64, _ transaction: borrowing WriteTransaction) throws -> ObjectID {
        ObjectID(root: try transaction.schema.required(entity).root, serial: serial)
    }

    @Test func `an object with several members of a relationship that becomes to-one is named, or keeps the first one`() throws {
        let notes = try MigratedNotes()
        try notes.store.write { try $0.move(Self.id("Note", 1, $0), "memos", Self.id("Memo", 3, $0), to: 0) }
        let error = try notes.refusal { $0["Note"][relationship: "memos"].cardinality = .toOne }
        #expect(error?.message.contains("Note/1 (1): 'memos' becomes to-one, but has 3 members; the first is Memo/3") == true)
        var definition = notes.store.schema.definition
        definition["Note"][relationship: "memos"].cardinality = .toOne
        let preview = try notes.store.previewMigration(to: definition)
        #expect(preview.violations.count == 1 && preview.entries.map(\.lostCount).reduce(0, +) == 2)
        try notes.store.migrate(to: definition, conversion: .nearest)
        try notes.check()
        #expect(try notes.members("Note", "memos") == [[3], [], []])
    }

    @Test func `a closure links another member, and a to-one inverse of a relationship without one keeps the first object`() throws {
        let notes = try MigratedNotes()
        try notes.migrate({ $0["Note"][relationship: "memos"].cardinality = .toOne }) { _, transaction in
            try transaction.link(Self.id("Note", 1, transaction), "memos", Self.id("Memo", 2, transaction))
        }
        #expect(try notes.members("Note", "memos") == [[2], [], []])
        try notes.migrate {
            $0["Item"][relationship: "tags"].inverse = nil
            $0["Tag"].remove("items")
        }
        let inverse: (inout SchemaDefinition) -> Void = {
            $0["Item"][relationship: "tags"].inverse = "item"
            $0["Tag"].relationships = [RelationshipDefinition("item", to: "Item", .toOne, inverse: "tags")]
        }
        #expect(try notes.refusal(inverse)?.code == .ruleViolated)
        var definition = notes.store.schema.definition
        inverse(&definition)
        let report = try notes.store.migrate(to: definition, conversion: .nearest)
        try notes.check()
        #expect(report.entries.map(\.lostCount).reduce(0, +) == 1)
        #expect(try notes.members("Tag", "item") == [[1], [1]] && notes.members("Item", "tags") == [[1, 2], [], []])
    }
}

/// A store whose migrations are checked against its log.
struct MigratedStore {
    let volume = MemoryVolume()
    let store: Store

    init(_ definition: SchemaDefinition) throws {
        store = try Store.create(volume, schema: Schema(definition), durability: .synced, environment: fixedEnvironment())
    }

    @discardableResult
    func migrate(
        to definition: SchemaDefinition, _ program: ((Graph, inout WriteTransaction) throws -> Void)? = nil
    ) throws -> MigrationReport {
        let report =
            if let program { try store.migrate(to: definition, Author(), program) } else { try store.migrate(to: definition) }
        try check()
        return report
    }

    func check() throws {
        #expect(store.graph.invariantFindings() == [])
        let verification = try Verification(volume)
        #expect(verification.findings == [] && verification.digest == store.graph.digest())
    }

    /// Returns the values of an attribute, by ascending id.
    func values(_ entity: String, _ attribute: String) throws -> [Value] {
        let entity = try store.graph.schema.required(entity)
        let attribute = try entity.requiredAttribute(attribute)
        return store.graph.objects(of: entity).map { store.graph[$0, attribute] ?? .null }
    }
}
