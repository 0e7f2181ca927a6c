import Cambium

/// Makes a call that ends the process. The call would deadlock in a write, or reads a property that a schema does not list.
func trap(by call: String) throws {
    if call == "read" { return try readUnlistedProperty() }
    let store = try Store.inMemory(schema: Schema(SchemaDefinition { EntityDefinition("Note") { AttributeDefinition("id", .int64) } }))
    try store.write { _ in
        switch call {
        case "memory": _ = store.memory
        case "reserveMemory": store.reserveMemory(byteCount: 1)
        default: fatalError("usage: KilledWriter trap memory|reserveMemory|read")
        }
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
