import Cambium
import Dispatch
import Foundation

// Commits notes from some threads until it is killed, and says on standard output which of them it was told are durable.
//
//     KilledWriter STORE FIRST THREADS synced|buffered
//
// One line for each acknowledged commit: the number of its note.

let arguments = CommandLine.arguments
guard arguments.count == 5, let first = Int(arguments[2]), let threadCount = Int(arguments[3]) else {
    fatalError("usage: KilledWriter STORE FIRST THREADS synced|buffered")
}

let definition = SchemaDefinition {
    EntityDefinition("Note", identity: ["id"]) {
        AttributeDefinition("id", .int64)
        AttributeDefinition("text", .string, .optional)
    }
}
let durability: Durability = arguments[4] == "synced" ? .synced : .buffered(every: .milliseconds(20))
let isThere = FileManager.default.fileExists(atPath: arguments[1] + "/store.json")
let store =
    try isThere
    ? Store.open(at: arguments[1], durability: durability)
    : Store.create(at: arguments[1], schema: try Schema(definition), durability: durability)
let note = try store.schema.required("Note")
let (id, text) = (try note.requiredAttribute("id"), try note.requiredAttribute("text"))

DispatchQueue.concurrentPerform(iterations: threadCount) { thread in
    var number = first + thread
    while true {
        do {
            // Some are longer than a block of the disk.
            let content = String(repeating: "x", count: number % 7 == 0 ? 9000 : number % 50)
            try store.write { _ = try $0.insert(note, [(id, .int(Int64(number))), (text, .string(content))]) }
        } catch {
            fatalError("\(error)")
        }
        let line = Array("\(number)\n".utf8)
        // One call, so that lines of several threads do not mix.
        _ = line.withUnsafeBytes { Foundation.write(1, $0.baseAddress, $0.count) }
        number += threadCount
    }
}
