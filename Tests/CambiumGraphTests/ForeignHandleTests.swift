import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// A read through a handle of another entity returns null or no members, and never a value of another object.
@Suite struct ForeignHandleTests {
    private let timeline = Timeline()
    private let graph: Graph
    private let product: Entity
    private let customer: Entity
    private let vip: Entity

    private static let definition = SchemaDefinition {
        EntityDefinition("Product", identity: ["code"]) {
            AttributeDefinition("code", .string)
            AttributeDefinition("price", .int64, .optional)
            AttributeDefinition("weight", .double, .optional)
            AttributeDefinition("isSold", .bool, .optional)
            RelationshipDefinition("parts", to: "Product", .orderedToMany, inverse: "whole")
            RelationshipDefinition("whole", to: "Product", inverse: "parts")
            RelationshipDefinition("similar", to: "Product", .toMany, inverse: "similar")
            RelationshipDefinition("buyers", to: "Customer", .toMany, inverse: "bought")
        }
        EntityDefinition("Customer") {
            AttributeDefinition("name", .string, .optional)
            RelationshipDefinition("bought", to: "Product", inverse: "buyers")
        }
        EntityDefinition("Vip", parent: "Customer") {
            AttributeDefinition("discount", .int64, .optional)
            RelationshipDefinition("gift", to: "Product")
        }
        EntityDefinition("Firm", parent: "Customer")
    }

    /// Inserts products and customers, both in rows 1 to 3. Each product has a price, a part and a buyer.
    init() throws {
        let schema = try Schema(Self.definition)
        (product, customer) = (try #require(schema.entity("Product")), try #require(schema.entity("Customer")))
        vip = try #require(schema.entity("Vip"))
        var ops: [Op] = [.schema(schema.catalog)]
        for (index, name) in ["Vip", "Firm", "Customer"].enumerated() {
            let serial = UInt64(index + 1)
            let values: [Value] = [.string("p\(serial)"), .int(Int64(serial)), .double(1.5), .bool(true)]
            let assignments = zip(product.attributes, values).map { Assignment($0.number, $1) }
            ops.append(.insert(Self.id(product, serial), entity: product.number, assignments))
            ops.append(.insert(Self.id(customer, serial), entity: try #require(schema.entity(name)).number, []))
        }
        for (name, target) in [("parts", Self.id(product, 3)), ("similar", Self.id(product, 2)), ("buyers", Self.id(customer, 1))] {
            for serial in UInt64(1)...2 {
                let number = try #require(product.relationship(name)).number
                ops.append(.link(Self.id(product, serial), number, target: target, index: nil))
            }
        }
        try ProgramRun.commit(ops, to: timeline)
        graph = timeline.head
    }

    private static func id(_ entity: Entity, _ serial: UInt64) -> ObjectID { ObjectID(root: entity.root, serial: serial) }

    /// Expects a graph to have no value of an attribute for an object.
    private func expectNull(_ attribute: Attribute, _ id: ObjectID, at location: SourceLocation = #_sourceLocation) throws {
        let place = try #require(graph.place(of: id))
        #expect(graph.value(of: attribute, of: id) == .null, sourceLocation: location)
        #expect(graph.value(of: graph.field(attribute), at: place) == .null, sourceLocation: location)
        #expect(graph.withCell(graph.field(attribute), place) { $0.kind } == .null, sourceLocation: location)
        let column = graph.column(attribute)
        #expect(column.value(at: place) == .null && column.string(at: place) == nil, sourceLocation: location)
        #expect(column.int(at: place) == nil && column.double(at: place) == nil, sourceLocation: location)
        #expect(column.bool(at: place) == nil && column.withBytes(at: place) { $0 == nil }, sourceLocation: location)
        let written = timeline.draft().value(of: attribute, of: id)
        #expect(written == .null, sourceLocation: location)
    }

    /// Expects a graph to have no members of a relationship for an object.
    private func expectNone(_ relationship: Relationship, _ id: ObjectID, at location: SourceLocation = #_sourceLocation) throws {
        let place = try #require(graph.place(of: id))
        let (end, relation) = (graph.end(relationship), graph.relation(relationship))
        #expect(graph.members(relationship, of: id) == [] && graph.memberIDs(end, of: place) == [], sourceLocation: location)
        #expect(Array(graph.members(end, of: place)).isEmpty && graph.memberCount(end, of: place) == 0, sourceLocation: location)
        #expect(graph.target(end, of: place) == nil && graph.member(end, of: place, at: 0) == nil, sourceLocation: location)
        #expect(relation.target(of: place) == nil && relation.count(of: place) == 0, sourceLocation: location)
        relation.forEach(of: place) { _ in Issue.record("a member", sourceLocation: location) }
        let draft = timeline.draft()
        let (members, count) = (draft.members(relationship, of: id), draft.memberCount(relationship, of: id))
        #expect(members == [] && count == 0, sourceLocation: location)
        let isLinked = graph.objects(of: product).contains { draft.isLinked(id, relationship, $0) }
        #expect(!isLinked, sourceLocation: location)
    }

    @Test func `an attribute of another entity is null, whatever the row numbers are`() throws {
        for attribute in product.attributes {
            for serial in UInt64(1)...3 {
                #expect(graph.value(of: attribute, of: Self.id(product, serial)) != .null)
                try expectNull(attribute, Self.id(customer, serial))
            }
        }
    }

    @Test func `a relationship of another entity has no members, whatever the row numbers are`() throws {
        for relationship in product.relationships {
            for serial in UInt64(1)...3 { try expectNone(relationship, Self.id(customer, serial)) }
        }
        for serial in UInt64(1)...3 { try expectNone(try #require(customer.relationship("bought")), Self.id(product, serial)) }
    }

    @Test func `a property of a sub-entity is null for its siblings and its parent`() throws {
        let (discount, gift) = (try #require(vip.attribute("discount")), try #require(vip.relationship("gift")))
        let first = Self.id(customer, 1)
        let ops: [Op] = [
            .set(first, [Assignment(discount.number, .int(5))]), .link(first, gift.number, target: Self.id(product, 2), index: nil),
        ]
        try ProgramRun.commit(ops, to: timeline)
        #expect(timeline.head.value(of: discount, of: first) == .int(5))
        for serial in UInt64(2)...3 {
            try expectNull(discount, Self.id(customer, serial))
            try expectNone(gift, Self.id(customer, serial))
        }
    }

    @Test func `a target is looked up in its own table`() throws {
        let draft = timeline.draft()
        let (buyers, bought) = (try #require(product.relationship("buyers")), try #require(customer.relationship("bought")))
        let outcomes = [
            draft.isLinked(Self.id(customer, 1), bought, Self.id(product, 2)),
            draft.isLinked(Self.id(customer, 1), bought, Self.id(customer, 2)),
            draft.isLinked(Self.id(product, 2), buyers, Self.id(customer, 1)),
            draft.isLinked(Self.id(product, 2), buyers, Self.id(product, 1)),
        ]
        #expect(outcomes == [true, false, true, false])
    }

    // MARK: Schemas

    /// Returns a schema that has only its numbers in common with the graph's schema.
    private func foreign() throws -> Schema {
        var definition = Self.definition
        for entity in definition.entities.indices {
            definition.entities[entity].name += "2"
            definition.entities[entity].parent = definition.entities[entity].parent.map { $0 + "2" }
            definition.entities[entity].identity = definition.entities[entity].identity.map { $0 + "2" }
            for place in definition.entities[entity].attributes.indices { definition.entities[entity].attributes[place].name += "2" }
            for place in definition.entities[entity].relationships.indices {
                definition.entities[entity].relationships[place].name += "2"
                definition.entities[entity].relationships[place].destination += "2"
                let inverse = definition.entities[entity].relationships[place].inverse
                definition.entities[entity].relationships[place].inverse = inverse.map { $0 + "2" }
            }
        }
        return try Schema(definition)
    }

    @Test func `a handle of an unrelated schema with equal numbers reads nothing`() throws {
        let foreign = try #require(try self.foreign().entity("Product2"))
        #expect(foreign.attributes.map(\.number) == product.attributes.map(\.number))
        for attribute in foreign.attributes { try expectNull(attribute, Self.id(product, 1)) }
        for relationship in foreign.relationships { try expectNone(relationship, Self.id(product, 1)) }
        #expect(graph.count(of: foreign) == 0 && Array(graph.objects(of: foreign)).isEmpty && graph.finder(foreign) == nil)
        #expect(graph.place(foreign, identity: "p1") == nil && graph.place(foreign, identity: [.string("p1")]) == nil)
        let other = Timeline()
        try ProgramRun.commit([.schema(try self.foreign().catalog)], to: other)
        let place = try #require(graph.place(of: Self.id(product, 1)))
        for attribute in foreign.attributes { #expect(graph.value(of: other.head.field(attribute), at: place) == .null) }
        for relationship in foreign.relationships { #expect(graph.memberCount(other.head.end(relationship), of: place) == 0) }
    }

    @Test func `handles from before and after a renaming read the same properties`() throws {
        var definition = Self.definition
        definition.entities[0].attributes[1].name = "cost"
        definition.entities[0].attributes[1].formerName = "price"
        definition.entities[0].relationships[0].name = "pieces"
        definition.entities[0].relationships[0].formerName = "parts"
        definition.entities[0].relationships[1].inverse = "pieces"
        let renamed = try SchemaMigration(from: graph.schema, to: definition).after
        try ProgramRun.commit([.schema(renamed.catalog)], to: timeline)
        let (after, second) = (timeline.head, Self.id(product, 2))
        let entity = try #require(after.schema.entity("Product"))
        let pairs = [(graph, entity.attributes[1]), (after, product.attributes[1])]
        for (graph, attribute) in pairs { #expect(graph.value(of: attribute, of: second) == .int(2)) }
        #expect(graph.members(entity.relationships[0], of: second) == [Self.id(product, 3)])
        #expect(after.members(product.relationships[0], of: second) == [Self.id(product, 3)])
    }
}
