import Cambium
import CambiumLog
import Dispatch
import Foundation

// Commits notes from several threads until it is killed, and prints the notes that the store reports as durable.
//
//     KilledWriter STORE FIRST THREADS synced|buffered
//     KilledWriter trap memory|reserveMemory|read|id|entity|provenance|table|conflicts
//
// Each acknowledged commit prints one line with the number of its note. The first commit and each commit with a number divisible by 97
// insert 40 more notes, whose numbers go down from -100 times the number of the commit. Such a transaction is large enough for a file of
// its own. Segments are small, and the store seals them while the program runs.

let arguments = CommandLine.arguments
if arguments.count == 3, arguments[1] == "trap" { try trap(by: arguments[2]) }
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
var tuning = LogTuning()
(tuning.largeByteCount, tuning.opsFrameByteCount, tuning.segmentByteCount) = (20_000, 5_000, 60_000)
(tuning.checkpointByteCount, tuning.closingCheckpointByteCount) = (50_000, 0)
(tuning.mergedByteCountMax, tuning.sealedFrameByteCount) = (200_000, 8_000)
let volume = SystemVolume(root: arguments[1])
try volume.createDirectory("")
// A store whose creation was interrupted before its first transaction is created again.
var isThere = true
do {
    _ = try ReadOnlyStore(at: arguments[1])
} catch let error as CambiumError where error.code == .notFound {
    isThere = false
}
let store =
    try isThere
    ? Store.open(volume, durability: durability, tuning: tuning)
    : Store.create(volume, schema: try Schema(definition), durability: durability, tuning: tuning)
let note = try store.schema.required("Note")
let (id, text) = (try note.requiredAttribute("id"), try note.requiredAttribute("text"))

DispatchQueue.concurrentPerform(iterations: threadCount) { thread in
    var number = first + thread
    while true {
        do {
            // Some texts are longer than a block of the disk.
            let content = String(repeating: "x", count: number % 7 == 0 ? 9000 : number % 50)
            try store.write { transaction in
                _ = try transaction.insert(note, [(id, .int(Int64(number))), (text, .string(content))])
                for other in 0..<(number == first || number % 97 == 0 ? 40 : 0) {
                    let long = Value.string(String(repeating: "y", count: 1000))
                    _ = try transaction.insert(note, [(id, .int(Int64(-100 * number - other))), (text, long)])
                }
            }
        } catch {
            fatalError("\(error)")
        }
        let line = Array("\(number)\n".utf8)
        // A single call, so that lines of several threads do not mix.
        _ = line.withUnsafeBytes { Foundation.write(1, $0.baseAddress, $0.count) }
        number += threadCount
    }
}
