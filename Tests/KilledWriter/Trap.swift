import Cambium

/// Makes a call inside the closure of a write, where it would deadlock. The call ends the process.
func trap(by call: String) throws {
    let store = try Store.inMemory(schema: Schema(SchemaDefinition { EntityDefinition("Note") { AttributeDefinition("id", .int64) } }))
    try store.write { _ in
        switch call {
        case "memory": _ = store.memory
        case "reserveMemory": store.reserveMemory(byteCount: 1)
        default: fatalError("usage: KilledWriter trap memory|reserveMemory")
        }
    }
}
