import Cambium
import CambiumJSON

/// The result of a clone, or of the preview of a clone.
struct CloneReport {
    /// The transaction of the clone, or `nil` for a preview.
    private let transaction: TransactionNumber?
    private let roots: [String]
    private let summary: CloneSummary
    private let logByteCount: Int

    init(_ clone: Clone, _ receipt: Receipt) {
        let graph = receipt.graph
        transaction = receipt.transaction
        roots = clone.roots.map { graph.text(of: $0) }
        summary = clone.summary
        logByteCount = receipt.logByteCount
    }

    init(_ preview: CloneSummary) {
        transaction = nil
        roots = []
        summary = preview
        logByteCount = 0
    }

    /// Creates the report for a request that was applied earlier. The op of the clone, which is read from the log, contains the result.
    init(_ op: CloneOp, _ transaction: TransactionNumber, _ byteCount: Int, _ graph: Graph) {
        self.transaction = transaction
        roots = graph.copiesOfRoots(in: op).map { graph.text(of: $0) }
        summary = CloneSummary(op, graph.schema)
        logByteCount = byteCount
    }

    func print(json: Bool, isRepeated: Bool = false) {
        if json { return printJSON(isRepeated: isRepeated) }
        let objects = Readable.of(summary.objectCount, "object")
        if let transaction {
            let names = roots.prefix(5).joined(separator: ", ") + (roots.count > 5 ? ", ..." : "")
            let effect =
                isRepeated
                ? Repetition.text(transaction)
                : "in transaction \(transaction), \(Readable.of(logByteCount, "byte")) of log"
            Terminal.print("\(names): \(objects) \(effect)")
        } else {
            Terminal.print("\(objects) would be copied; nothing was written")
        }
        for (entity, count) in summary.counts { Terminal.print("  \(entity.name): \(Readable.count(count))") }
    }

    private func printJSON(isRepeated: Bool) {
        Terminal.printObject { writer in
            writer.member("transaction", transaction)
            writer.member("root", roots.first)
            if roots.count > 1 { writer.member("roots", roots) }
            writer.member("objects", summary.objectCount)
            writer.object("byEntity") { writer in
                for (entity, count) in summary.counts { writer.member(entity.name, count) }
            }
            writer.member("logBytes", logByteCount)
            if isRepeated { writer.member("repeated", true) }
        }
    }
}

extension Graph {
    /// Returns an id in its readable form.
    func text(of id: ObjectID) -> String {
        (entity(of: id) ?? schema.entity(id.root)).map { schema.text(of: id, entity: $0) } ?? ""
    }

    /// Returns an id in its readable form, followed by the identity of the object if there is one, for human readers: `Issue/65 (CORE-17)`.
    func title(of id: ObjectID) -> String { fullName(of: id) ?? text(of: id) }

    /// Returns the copies of a clone's roots, in the order in which the op names the roots. Omits copies that were deleted. Reads each copy
    /// at most once.
    fileprivate func copiesOfRoots(in op: CloneOp) -> [ObjectID] {
        let roots = Set(op.roots)
        var copies: [ObjectID: ObjectID] = [:]
        for hierarchy in op.hierarchies where roots.contains(where: { $0.root == hierarchy.root }) {
            for serial in hierarchy.firstSerial..<hierarchy.firstSerial + UInt64(hierarchy.objectCount) {
                if copies.count == roots.count { break }
                let copy = ObjectID(root: hierarchy.root, serial: serial)
                if let original = source(of: copy), roots.contains(original) { copies[original] = copy }
            }
        }
        return op.roots.compactMap { copies[$0] }
    }
}
