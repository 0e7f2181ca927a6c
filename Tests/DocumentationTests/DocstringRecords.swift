import Cambium
import Foundation

// The records of the examples in docstrings. Product and Shelf are in BuildAShopSnippets.swift.

struct Note: BlankRecord {
    var id = 0
    var title = ""
    var rating = 0.0
    var isPrivate = false
    var photo: [UInt8] = []
    var items: [Item] = []
    var tags: Set<Ref<Label>> = []
    var ref: Ref<Note>?

    static let recordSchema = RecordSchema<Note>("Note") {
        RecordProperty("id", \.id, .identity)
        RecordProperty("title", \.title)
        RecordProperty("rating", \.rating)
        RecordProperty("isPrivate", \.isPrivate)
        RecordProperty("photo", \.photo)
        RecordProperty("items", \.items, .inverse(\Item.note), .onDelete(.cascade))
        RecordProperty("tags", \.tags)
    }
}

struct Item: BlankRecord {
    var name = ""
    var price: Decimal = 0
    var isDone = false
    var note: Ref<Note>?
    var ref: Ref<Item>?

    static let recordSchema = RecordSchema<Item>("Item") {
        RecordProperty("name", \.name)
        RecordProperty("price", \.price)
        RecordProperty("isDone", \.isDone)
        RecordProperty("note", \.note)
    }
}

struct Label: BlankRecord {
    var name = ""
    var ref: Ref<Label>?

    static let recordSchema = RecordSchema<Label>("Label") { RecordProperty("name", \.name, .identity) }
}

struct Person: BlankRecord {
    var id = 0
    var name = ""
    var nick: String?
    var age = 0
    var city: City?
    var boss: Ref<Person>?
    var ref: Ref<Person>?

    static let recordSchema = RecordSchema<Person>("Person") {
        RecordProperty("id", \.id, .identity)
        RecordProperty("name", \.name)
        RecordProperty("nick", \.nick)
        RecordProperty("age", \.age)
        RecordProperty("city", \.city)
        RecordProperty("boss", \.boss)
    }
}

struct City: BlankRecord {
    var name = ""
    var ref: Ref<City>?

    static let recordSchema = RecordSchema<City>("City") { RecordProperty("name", \.name, .identity) }
}

/// A list whose items are loaded on request.
struct Checklist: BlankRecord {
    var items = ToMany<Item>()
    var ref: Ref<Checklist>?

    static let recordSchema = RecordSchema<Checklist>("Checklist") { RecordProperty("items", \.items) }
}
