/// A command that runs against an attacked store, in a directory (`Site`) that contains the store.
struct AttackCommand: Sendable {
    enum Effect: Sendable, Equatable {
        /// Prints contents of the store and changes nothing.
        case reads
        /// Makes `out` from the store and changes nothing else.
        case copies
        /// Changes the store.
        case writes
        /// Is refused in every state of the store.
        case isRefused
    }

    /// The way in which a check compares the output of the command with its output for the sound store.
    enum Comparison: Sendable {
        case whole
        /// Compares the counts of objects, links and transactions. The sizes of files may differ.
        case counts
        /// Compares nothing.
        case none
    }

    let name: String
    /// The arguments. `arguments(in:)` replaces placeholders such as `{moment}` (the keys of `SampleKind.moments`) by moments.
    private let arguments: [String]
    let effect: Effect
    var comparison = Comparison.whole
    /// Whether the command may exit with 1 and print findings, as `verify` does.
    var reportsFindings = false

    init(_ name: String, _ arguments: [String], _ effect: Effect, comparison: Comparison = .whole, reportsFindings: Bool = false) {
        (self.name, self.arguments, self.effect) = (name, arguments, effect)
        (self.comparison, self.reportsFindings) = (comparison, reportsFindings)
    }

    private init(reads name: String, _ arguments: String..., comparison: Comparison = .whole) {
        self.init(name, arguments, .reads, comparison: comparison)
    }

    private init(copies name: String, _ arguments: String..., reportsFindings: Bool = false) {
        self.init(name, arguments, .copies, comparison: .none, reportsFindings: reportsFindings)
    }

    /// Whether the command changes only the form in which transactions are stored, and not their contents. If such a command fails, a part
    /// of its changes may stay.
    var isUpkeep: Bool { effect == .writes && ["checkpoint", "compact"].contains(arguments[0]) }

    private init(writes name: String, _ arguments: String...) { self.init(name, arguments, .writes, comparison: .none) }

    func arguments(in kind: SampleKind) -> [String] { arguments.map { kind.moments[$0] ?? $0 } }

    var usesArchive: Bool { arguments.contains("--archive") }

    static let export = AttackCommand(reads: "export", "export", "store")
    static let exportThen = AttackCommand(reads: "export-then", "export", "store", "--at", "{next}")
    static let verify = AttackCommand(
        "verify", ["verify", "store", "--json"], .reads, comparison: .none, reportsFindings: true)

    static let readers = [
        export,
        AttackCommand(reads: "show", "show", "store", "Note/1", "--include", "items,memos,tags", "--json"),
        AttackCommand(reads: "show-then", "show", "store", "Note/1", "--at", "{moment}"),
        AttackCommand(reads: "walk", "walk", "store", "Note/1", "items", "memos", "tags", "--json"),
        AttackCommand(reads: "walk-path", "walk", "store", "Note/1", "memos", "--to", "Memo/1"),
        AttackCommand(reads: "find", "find", "store", "Note", "--json"),
        AttackCommand(reads: "find-identity", "find", "store", "Note", "--identity", "3"),
        AttackCommand(reads: "find-count", "find", "store", "Item", "--count"),
        // Standard input is empty, so the prompt only opens the store.
        AttackCommand(reads: "query", "query", "store"),
        AttackCommand(reads: "export-csv", "export", "store", "Note", "--format", "csv"),
        exportThen,
        AttackCommand(reads: "export-label", "export", "store", "--at", "label:early"),
        AttackCommand(reads: "log", "log", "store", "--json"),
        AttackCommand(reads: "log-ops", "log", "store", "--ops"),
        AttackCommand(reads: "log-object", "log", "store", "--object", "Note/1"),
        AttackCommand(reads: "labels", "label", "store"),
        AttackCommand(reads: "schema", "schema", "store"),
        AttackCommand(reads: "stats", "stats", "store", "--json", comparison: .counts),
        AttackCommand(reads: "import-dry", "import", "store", "Note", "input/rows.json", "--dry-run"),
        // The answers contain a measured time and the sizes of files.
        AttackCommand(reads: "migrate-dry", "schema", "store", "--set", "input/next.json", "--dry-run", comparison: .none),
        AttackCommand(reads: "compact-dry", "compact", "store", "--retain", "snapshots:1", "--dry-run", comparison: .none),
    ]

    static let copiers = [
        AttackCommand(copies: "backup", "backup", "store", "out"),
        AttackCommand(copies: "restore", "restore", "store", "out"),
        AttackCommand(copies: "restore-then", "restore", "store", "out", "--at", "{next}"),
        AttackCommand(copies: "restore-archive", "restore", "store", "out", "--archive", "archive"),
        AttackCommand(copies: "apply-from", "apply", "store", "out"),
        AttackCommand(copies: "repair", "repair", "store", "--to", "out", reportsFindings: true),
    ]

    static let writers = [
        AttackCommand(writes: "insert", "insert", "store", "Note", "id=500", "title=inserted"),
        AttackCommand(writes: "set", "set", "store", "Note/2", "title=set", "--request", "r2"),
        AttackCommand(writes: "repeat", "set", "store", "Note/2", "title=never", "--request", "r1"),
        AttackCommand(writes: "delete", "delete", "store", "Note/3"),
        AttackCommand(writes: "link", "link", "store", "Note/1", "tags", "Tag/2"),
        AttackCommand(writes: "unlink", "unlink", "store", "Note/1", "tags", "Tag/1"),
        AttackCommand(writes: "move", "move", "store", "Note/1", "memos", "Memo/3", "--to", "0"),
        AttackCommand(writes: "clone", "clone", "store", "Note/1", "--set", "id=600"),
        AttackCommand(writes: "import", "import", "store", "Note", "input/rows.json"),
        AttackCommand(writes: "label", "label", "store", "late", "7"),
        AttackCommand(writes: "migrate", "schema", "store", "--set", "input/next.json"),
        AttackCommand(writes: "checkpoint", "checkpoint", "store"),
        AttackCommand(writes: "compress", "checkpoint", "store", "--compression", "lz4"),
        AttackCommand(writes: "compact", "compact", "store", "--retain", "snapshots:1"),
        AttackCommand(writes: "compact-since", "compact", "store", "--retain", "since:{kept}"),
        AttackCommand(writes: "compact-archive", "compact", "store", "--retain", "snapshots:1", "--archive", "archive"),
        AttackCommand(writes: "apply-to", "apply", "input/copy", "store"),
    ]

    static let refused = [
        AttackCommand("init", ["init", "store", "--schema", "input/schema.json"], .isRefused, comparison: .none),
        AttackCommand("restore-onto", ["restore", "input/copy", "store"], .isRefused, comparison: .none),
        AttackCommand("repair-onto", ["repair", "input/copy", "--to", "store"], .isRefused, comparison: .none),
    ]

    static let all = [verify] + readers + copiers + writers + refused
}
