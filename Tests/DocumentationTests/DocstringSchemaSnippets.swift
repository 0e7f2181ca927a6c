import Cambium
import Foundation

/// The examples of the docstrings about schemas and values, word for word. The code is compiled only.
enum DocstringSchemaSnippets {
    static func schema() throws {
        let schema = try Schema {
            EntityDefinition("Note", identity: ["id"]) { AttributeDefinition("id", .int64) }
        }
        let store = try Store.open(at: "notes", creating: schema)
        print(store.schema.entities.map(\.name))
    }

    static func catalog() throws -> Schema {
        let schema = try Schema { EntityDefinition("Note") { AttributeDefinition("title", .string) } }
        return schema
    }

    static func definition() throws -> Schema {
        let definition = SchemaDefinition {
            EntityDefinition("Note", identity: ["id"]) {
                AttributeDefinition("id", .uuid)
                AttributeDefinition("title", .string, default: "", maxLength: 200)
                RelationshipDefinition("items", to: "Item", .toMany, inverse: "note", onDelete: .cascade)
            }
            EntityDefinition("Item") {
                AttributeDefinition("name", .string, .optional)
                RelationshipDefinition("note", to: "Note", inverse: "items")
            }
        }
        let schema = try Schema(definition)
        return schema
    }

    static func entities() throws -> Schema {
        let schema = try Schema {
            EntityDefinition("Shelf") { AttributeDefinition("code", .string) }
            EntityDefinition("Product") { AttributeDefinition("sku", .string) }
        }
        return schema
    }

    static func entity() throws -> Schema {
        try Schema {
            EntityDefinition("Person", parent: "Party", identity: ["id"], indexes: [["name[c]", "-born"]]) {
                AttributeDefinition("name", .string)
            }
        }
    }

    static func properties() throws -> SchemaDefinition {
        let created: any PropertyDefinition = AttributeDefinition("created", .date)
        let definition = SchemaDefinition {
            EntityDefinition("Order") { created }
            EntityDefinition("Customer") { created }
        }
        return definition
    }

    static func attribute() -> EntityDefinition {
        EntityDefinition("Box") {
            AttributeDefinition("size", .int32, .optional, default: 3, min: 0, max: 10)
        }
    }

    static func types() -> EntityDefinition {
        EntityDefinition("Order") {
            AttributeDefinition("price", .decimal, min: 0)
            AttributeDefinition("due", .date, .optional)
        }
    }

    static func derivations() -> EntityDefinition {
        EntityDefinition("Note") {
            AttributeDefinition("itemCount", .int64, derived: .count("items"))
            AttributeDefinition("total", .decimal, derived: .sum("items.price"))
            AttributeDefinition("searchName", .string, derived: .folded("name"))
        }
    }

    static func queries() -> EntityDefinition {
        EntityDefinition("Item") {
            QueryDefinition("expensive", where: "price > $min", sort: "-price", limit: 10)
            QueryDefinition("rivals", of: "Team", where: "city == $source.city and self != $source")
        }
    }

    static func relationship() -> EntityDefinition {
        EntityDefinition("Note") {
            RelationshipDefinition("items", to: "Item", .orderedToMany, inverse: "note", onDelete: .cascade, min: 1)
        }
    }

    static func deleteRules() -> EntityDefinition {
        EntityDefinition("Note") {
            RelationshipDefinition("items", to: "Item", .toMany, inverse: "note", onDelete: .cascade)
            RelationshipDefinition("author", to: "Person", inverse: "notes", onDelete: .deny)
        }
    }

    static func orphanRules() -> EntityDefinition {
        EntityDefinition("User") {
            RelationshipDefinition("addresses", to: "Address", .toMany, inverse: "user", onDelete: .cascade, orphans: .delete)
        }
    }

    // MARK: Resolved schemas

    static func printEntity(_ store: Store) throws {
        let note = try store.schema.required("Note")
        print(note.name, note.identity.map(\.name), note.relationships.map(\.name))
    }

    static func printIdentity(_ store: Store) throws {
        let issue = try store.schema.required("Issue")  // "identity": ["project", "number"]
        for component in issue.identity { print(component.name) }
    }

    static func printAttributes(_ store: Store) throws {
        let note = try store.schema.required("Note")
        for attribute in note.attributes { print(attribute.name, attribute.type, attribute.isOptional) }
    }

    static func printRelationships(_ store: Store) throws {
        let note = try store.schema.required("Note")
        for relationship in note.relationships { print(relationship.name, relationship.isToMany, relationship.deleteRule) }
    }

    // MARK: Values

    static func values(_ store: Store) throws {
        let values: KeyValuePairs<String, Value> = ["title": "Paris", "rating": 4.5, "due": .date(Date.now)]
        let note = try store.write { try $0.insert("Note", values) }.result
        if case .string(let title) = try store.graph[note, "title"] { print(title) }
    }

    static func decimal(_ store: Store, _ order: ObjectID) throws {
        let price = DecimalNumber("19.90") ?? DecimalNumber(0)
        try store.write { try $0.set(order, "total", to: .decimal(price * DecimalNumber(3))) }
    }
}
