/// A command that is killed while it writes.
struct KilledCommand: Sendable {
    let name: String
    let arguments: [String]
    /// Whether the command creates a new store `out`, and does not change the store `store`.
    var makesOut = false
    /// Whether the command can run a second time without a different result.
    var isRepeatable = true
    /// Whether a killed command may leave a part of its changes, because it writes several transactions: an import with `--batch`. Other
    /// commands make all of their changes or none.
    var hasParts = false

    static let all = [
        KilledCommand(name: "init", arguments: ["init", "out", "--schema", "input/schema.json"], makesOut: true),
        KilledCommand(name: "import", arguments: ["import", "store", "Note", "input/many.json"]),
        KilledCommand(name: "import-batches", arguments: ["import", "store", "Note", "input/many.json", "--batch", "20"], hasParts: true),
        KilledCommand(name: "insert", arguments: ["insert", "store", "Note", "id=70000", "--request", "k1"]),
        KilledCommand(name: "set", arguments: ["set", "store", "Note/2", "title=killed"]),
        KilledCommand(name: "delete", arguments: ["delete", "store", "Note/3"], isRepeatable: false),
        KilledCommand(name: "clone", arguments: ["clone", "store", "Note/1", "--set", "id=70001", "--request", "k2"]),
        KilledCommand(name: "link", arguments: ["link", "store", "Note/1", "tags", "Tag/2"]),
        KilledCommand(name: "label", arguments: ["label", "store", "killed", "7"]),
        KilledCommand(name: "migrate", arguments: ["schema", "store", "--set", "input/next.json"]),
        KilledCommand(name: "checkpoint", arguments: ["checkpoint", "store"]),
        KilledCommand(name: "compress", arguments: ["checkpoint", "store", "--compression", "lz4"]),
        KilledCommand(name: "compact", arguments: ["compact", "store", "--retain", "snapshots:1"]),
        KilledCommand(name: "compact-archive", arguments: ["compact", "store", "--retain", "snapshots:1", "--archive", "archive"]),
        KilledCommand(name: "backup", arguments: ["backup", "store", "out"], makesOut: true),
        KilledCommand(name: "restore", arguments: ["restore", "store", "out", "--at", "8"], makesOut: true),
        KilledCommand(name: "apply", arguments: ["apply", "store", "out"], makesOut: true),
        KilledCommand(name: "repair", arguments: ["repair", "store", "--to", "out"], makesOut: true),
    ]
}
