import Cambium

/// Makes a call that ends the process.
func trap(by call: String) throws {
    if call == "read" { return try readUnlistedProperty() }
    let store = try Store.inMemory(schema: schema("Note"))
    switch call {
    case "memory", "reserveMemory": try trapInWrite(to: store, by: call)
    case "id", "entity", "provenance": try trapWithPlace(of: "Note", in: store, by: call)
    case "table": try trapWithPlace(of: "Tag", in: store, by: "id")
    case "conflicts": print(store.edit().conflicts(with: try Store.inMemory(schema: schema("Note")).graph))
    default: fatalError("usage: KilledWriter trap memory|reserveMemory|read|id|entity|provenance|table|conflicts")
    }
}

private func schema(_ entities: String...) throws -> Schema {
    try Schema(SchemaDefinition(entities: entities.map { EntityDefinition($0) { AttributeDefinition("id", .int64) } }))
}

/// Makes a call inside the closure of a write, where it would deadlock.
private func trapInWrite(to store: Store, by call: String) throws {
    try store.write { _ in
        if call == "memory" { _ = store.memory } else { store.reserveMemory(byteCount: 1) }
    }
}

/// Passes a place of another store's object to the empty graph of a store.
private func trapWithPlace(of entity: String, in store: Store, by call: String) throws {
    let other = try Store.inMemory(schema: schema("Note", "Tag"))
    let id = try other.write { try $0.insert(entity, ["id": .int(1)]) }.result
    guard let place = other.graph.place(of: id) else { fatalError("The store has no object.") }
    switch call {
    case "id": print(store.graph.id(of: place))
    case "entity": print(store.graph.entity(of: place).name)
    default: print(store.graph.provenance(of: place))
    }
}

/// A record whose initializer reads a property that the schema does not list.
private struct Note: EntityRecord {
    var title: String
    var ref: Ref<Note>?

    static let recordSchema = RecordSchema<Note>("Note") { RecordProperty("title", \.title) }

    init(from row: inout RecordReader) throws { title = try row.read(1) }

    mutating func write(to row: inout RecordWriter) throws { try row.write(0, &title) }
}

private func readUnlistedProperty() throws {
    let store = try Store.inMemory(schema: Schema(of: Note.self))
    try store.write { _ = try $0.insert("Note", ["title": "a"]) }
    _ = try store.graph.fetch(Note.self)
}
