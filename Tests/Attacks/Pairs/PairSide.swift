import Foundation

/// The commands that one of two processes runs, one after another, while the other process runs its own.
struct PairSide: Sendable {
    enum Role: Sendable {
        /// Must succeed, whatever the other process does.
        case reads
        /// Succeeds or finds the store locked.
        case writes
        /// May find that the other process has retired the history that the command needs.
        case needsHistory
    }

    let name: String
    let role: Role
    /// The number of commands that a writer runs. A reader continues until the writer ends.
    var count = 1
    /// The command of each turn, counted from 0. `out` is a name that no other turn uses.
    let arguments: @Sendable (_ turn: Int, _ out: String) -> [String]

    private init(_ name: String, _ role: Role, count: Int = 1, _ arguments: @escaping @Sendable (Int, String) -> [String]) {
        (self.name, self.role, self.count, self.arguments) = (name, role, count, arguments)
    }

    private init(reads name: String, _ arguments: String...) { self.init(name, .reads) { _, _ in arguments } }

    /// The first id of the notes that the commands of each name insert.
    static let firstIDs = ["inserts": 10_000, "more inserts": 20_000, "import": 30_000, "clones": 50_000]
    static let importRowCount = 1500

    static let readers = [
        PairSide(reads: "export", "export", "store"),
        PairSide(reads: "show", "show", "store", "Note/1", "--json"),
        PairSide(reads: "find", "find", "store", "Note", "--json"),
        PairSide(reads: "count", "find", "store", "Note", "--count"),
        PairSide(reads: "log", "log", "store", "--json"),
        PairSide(reads: "log-ops", "log", "store", "--ops", "--json"),
        PairSide(reads: "stats", "stats", "store", "--json"),
        PairSide(reads: "verify", "verify", "store", "--json"),
        PairSide(reads: "labels", "label", "store", "--json"),
        PairSide(reads: "schema", "schema", "store"),
        PairSide("repair", .reads) { _, out in ["repair", "store", "--to", out, "--json"] },
        PairSide("backup", .needsHistory) { _, out in ["backup", "store", out] },
        PairSide("restore", .needsHistory) { _, out in ["restore", "store", out] },
        PairSide("apply", .needsHistory) { _, out in ["apply", "store", out] },
        PairSide("export-then", .needsHistory) { _, _ in ["export", "store", "--at", "6"] },
    ]

    static let writers = [
        PairSide("inserts", .writes, count: 8) { turn, _ in
            ["insert", "store", "Note", "id=\(10_000 + turn)", "title=\(String(repeating: "long ", count: 30))"]
        },
        PairSide("import", .writes) { _, _ in ["import", "store", "Note", "input/many.json", "--batch", "60"] },
        PairSide("checkpoints", .writes, count: 6) { _, _ in ["checkpoint", "store"] },
        PairSide("compactions", .writes, count: 5) { _, _ in ["compact", "store", "--retain", "snapshots:1"] },
    ]

    static let moreWriters = [
        PairSide("more inserts", .writes, count: 8) { turn, _ in ["insert", "store", "Note", "id=\(20_000 + turn)"] },
        PairSide("sets", .writes, count: 8) { turn, _ in ["set", "store", "Note/2", "title=\(turn)", "--request", "turn-\(turn)"] },
        PairSide("clones", .writes, count: 6) { turn, _ in ["clone", "store", "Note/1", "--set", "id=\(50_000 + turn)"] },
        PairSide("label", .writes, count: 6) { turn, _ in ["label", "store", "name-\(turn)"] },
        PairSide("archive", .writes, count: 3) { _, _ in ["compact", "store", "--retain", "snapshots:2", "--archive", "archive"] },
        PairSide("migration", .writes, count: 3) { _, _ in ["schema", "store", "--set", "input/next.json"] },
    ]

    static func writeRows(to path: String) throws {
        let rows = (0..<importRowCount).map { "{\"id\":\(30_000 + $0),\"title\":\"row \($0)\",\"tags\":[\"red\"]}\n" }
        try Data(rows.joined().utf8).write(to: URL(filePath: path))
    }
}
