import Cambium
import Glibc

/// Measures proofs, verification and undo of large imports.
struct AuditImports {
    private let settings: Settings
    private var rowCount: Int { settings.isSmall ? 100_000 : 1_000_000 }
    private var undoneCount: Int { settings.isSmall ? 10_000 : 100_000 }

    init(_ settings: Settings) { self.settings = settings }

    func run() throws {
        let path = settings.store("audit-import")
        try Tree(path).remove()
        let schema = try Schema {
            EntityDefinition("Item", identity: ["key"]) {
                AttributeDefinition("key", .string)
                AttributeDefinition("price", .int64, default: 0)
                AttributeDefinition("note", .string, .optional)
            }
        }
        let store = try Store.create(at: path, schema: schema)
        let report = try importRows("item", rowCount, into: store)
        try store.checkpoint()
        try store.close()
        try measureProofs(path)
        let verified = try timed { try Store.verify(at: path) }
        try check(verified.result.isSound, "\(verified.result.findings)")
        settings.emit("A.verify, an import of \(rowCount) rows", Double(rowCount) / verified.seconds, "objects/s")
        settings.emit("A.verify, an import of \(rowCount) rows |log", Double(report.logByteCount) / 1e6, "MB")
        try measureUndo(path)
        try Tree(path).remove()
        try measureValues()
    }

    private func importRows(_ name: String, _ count: Int, into store: Store) throws -> ImportReport {
        var rows: [UInt8] = []
        for number in 0..<count {
            rows += Array(#"{"key":"\#(name) \#(number)","price":\#(number * 7919 % 100_003),"note":"row \#(number) of an import"}"#.utf8)
            rows.append(0x0A)
        }
        let report = try store.importRows(try store.schema.required("Item"), from: [.bytes(rows)])
        try check(report.counts.inserted, is: count, "inserted rows")
        return report
    }

    private func measureProofs(_ path: String) throws {
        let store = try Store.open(at: path)
        let item = try store.schema.required("Item")
        let ids = try (0..<20).map { number in
            try store.graph.find(item, identity: [.string("item \(number * (rowCount / 20))")]).required("an imported row")
        }
        try store.close()
        _ = try Store.prove("price", of: ids[0], at: path)
        let proofs = try ids.map { id in try timed { try Store.prove("price", of: id, at: path) } }
        let name = "A.proof of a row of an import of \(rowCount) rows"
        settings.emit("\(name), p50", proofs.map { $0.seconds }.sorted()[10] * 1e3, "ms")
        settings.emit("\(name), size", Double(proofs.map { $0.result.description.utf8.count }.max() ?? 0), "B")
    }

    /// Undoes an import, then undoes the undo, and so on. Each call reads the changes and makes the plan.
    private func measureUndo(_ path: String) throws {
        let store = try Store.open(at: path)
        _ = try importRows("more", undoneCount, into: store)
        let count = store.graph.objectCount
        var (previews, undos, redos): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<3 {
            previews.append(
                try timed { try store.previewUndo(.transaction(store.graph.transaction)) { preview in preview.changes.count } }.seconds)
            undos.append(try timed { try store.undo(.transaction(store.graph.transaction)) }.seconds)
            try check(store.graph.objectCount, is: count - undoneCount, "objects after an undo")
            redos.append(try timed { try store.undo(.transaction(store.graph.transaction)) }.seconds)
            try check(store.graph.objectCount, is: count, "objects after a redo")
        }
        let name = "of an import of \(undoneCount) objects"
        settings.emit("A.undo \(name)", undos.sorted()[1] * 1e3, "ms")
        settings.emit("A.preview of the undo \(name)", previews.sorted()[1] * 1e3, "ms")
        settings.emit("A.redo \(name)", redos.sorted()[1] * 1e3, "ms")
        try store.close()
    }

    /// Verifies values that cannot be compressed, in transactions of 1 MiB.
    private func measureValues() throws {
        let path = settings.store("audit-values")
        try Tree(path).remove()
        let schema = try Schema { EntityDefinition("File") { AttributeDefinition("content", .data) } }
        let store = try Store.create(at: path, schema: schema, durability: .buffered(every: .seconds(1)))
        let (byteCount, transactionCount) = (64 << 10, settings.isSmall ? 32 : 256)
        var random = SplitMix(seed: 9)
        for _ in 0..<transactionCount {
            try store.write { transaction in
                for _ in 0..<16 {
                    var content: [UInt8] = []
                    content.reserveCapacity(byteCount)
                    for _ in 0..<byteCount / 8 { withUnsafeBytes(of: random.next()) { content.append(contentsOf: $0) } }
                    _ = try transaction.insert("File", ["content": .data(content)])
                }
            }
        }
        try store.close()
        let verified = try timed { try Store.verify(at: path) }
        try check(verified.result.isSound, "\(verified.result.findings)")
        settings.emit("A.verify, values of 64 KiB", Double(transactionCount * 16 * byteCount) / 1e6 / verified.seconds, "MB/s")
        try Tree(path).remove()
    }
}
