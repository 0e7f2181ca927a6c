package import CambiumModel

/// Writes the register, the inner graph of requests and labels.
package enum RegisterWriter {
    /// Records in the register, the inner graph of requests and labels, that the current transaction applied a request. If the register has
    /// as many requests as allowed, the register forgets the oldest request.
    ///
    /// If the register already contains the request, nothing changes, and the request keeps its first transaction. Throws `.limitExceeded`
    /// if the store has already applied 2^38 - 1 requests. Complexity: O(1) expected.
    ///
    /// - Parameter object: The object of the transaction's first op, if there is one.
    package static func record(_ draft: inout Draft, _ request: String, _ digest: RequestDigest?, object: ObjectID?) throws(CambiumError) {
        try record(
            &draft,
            RegisterEntry(name: request, transaction: TransactionNumber(rawValue: draft.transaction), digest: digest, object: object))
    }

    /// Records a request of any transaction, as `record(_:_:_:object:)` does for the current transaction.
    package static func record(_ draft: inout Draft, _ request: RegisterEntry) throws(CambiumError) {
        if draft.requestCountMax == 0 { return }
        let columns = Register.requests
        if let register = draft.reader.register(of: draft.layout) {
            if register.row(of: request.name, in: columns) != nil { return }
            guard register.nextSerial(columns.table.index) <= ObjectID.serialMax else {
                throw CambiumError(.limitExceeded, "A store applies at most 2^38 - 1 requests. Commit without a request id.")
            }
        }
        inRegister(&draft) { draft in
            while draft.reader.liveCount(columns.table.index) >= draft.requestCountMax { forgetOldestRequest(&draft) }
            insert(&draft, request, columns)
        }
    }

    /// Sets a label, so that it names a transaction. The label must not name this transaction already. The transaction `.none` removes
    /// the label: its row remains and names no transaction, because readers of the labels that were set since then must find it. Throws
    /// `.limitExceeded` if labels were already set 2^38 - 1 times.
    package static func setLabel(_ draft: inout Draft, _ name: String, _ number: TransactionNumber) throws(CambiumError) {
        let columns = Register.labels
        if let register = draft.reader.register(of: draft.layout), register.nextSerial(columns.table.index) > ObjectID.serialMax {
            throw CambiumError(
                .limitExceeded, "A store sets its labels at most 2^38 - 1 times. Use a transaction number instead of a label.")
        }
        inRegister(&draft) { draft in
            // Names with different bytes may be equal strings, and the last row of equal names applies. So a label that is set again gets a
            // new row.
            if let row = draft.reader.row(of: name, in: columns) { draft.erase(ObjectPlace(table: columns.table.index, row: row)) }
            insert(&draft, RegisterEntry(name: name, transaction: number, digest: nil), columns)
        }
    }

    private static func insert(_ draft: inout Draft, _ entry: RegisterEntry, _ columns: Register.TableColumns) {
        let table = columns.table.index
        let row = draft.insertRow(columns.table, serial: draft.reader.nextSerial(table), entity: columns.entity)
        entry.name.utf8Span.span.bytes.withUnsafeBytes { draft.tableWriter.setBytes(table, row, columns.name, $0) }
        draft.tableWriter.setFixed(table, row, columns.transaction, entry.transaction.rawValue)
        if let slot = columns.digest, let digest = entry.digest {
            digest.bytes.withUnsafeBytes { draft.tableWriter.setBytes(table, row, slot, $0) }
        }
        if let slot = columns.object, let object = entry.object { draft.tableWriter.setFixed(table, row, slot, object.rawValue) }
        draft.addToIndex(columns.table, columns.table.indexes[0], row)
    }

    private static func forgetOldestRequest(_ draft: inout Draft) {
        let table = Register.requests.table.index
        // The oldest request is forgotten first, so the remaining requests have consecutive serials, and the oldest serial can be computed.
        let expected = draft.reader.nextSerial(table) &- UInt64(draft.reader.liveCount(table))
        guard let row = draft.reader.row(table, serial: expected) ?? firstRow(draft, table) else {
            draft.chunks.refuse("a table has fewer rows than its count states")
        }
        draft.erase(ObjectPlace(table: table, row: row))
    }

    /// Returns the row with the smallest serial. The search is needed only if the serials have gaps. Only pages from another program can
    /// have such gaps.
    private static func firstRow(_ draft: borrowing Draft, _ table: Int) -> UInt32? {
        let map = draft.reader.tablePage(table).virtualPages
        var next = 0
        while let page = map.firstIndex(from: next, draft.chunks) {
            let first = UInt64(page) << UInt64(PageLayout.fanOutShift)
            for serial in first..<first + UInt64(PageLayout.fanOut) { if let row = draft.reader.row(table, serial: serial) { return row } }
            next = page + 1
        }
        return nil
    }

    /// Runs `body` with the register (the inner graph of requests and labels) in place of the draft's graph.
    static func inRegister(_ draft: inout Draft, _ body: (inout Draft) -> Void) {
        guard let place = draft.layout.registerPlace else {
            preconditionFailure("A register does not contain another register.")
        }
        let (graph, graphDirectory) = (draft.layout, draft.directory)
        let before = draft.reader.registerReference(of: graph)
        var (checks, changes) = (PendingChecks(), TouchedRows?.none)
        checks.isOff = true
        swap(&checks, &draft.pending)
        swap(&changes, &draft.touched)
        draft.layout = Register.layout
        draft.directory = before != 0 ? before : newRegister(&draft)
        draft.tableWriter.forgetGroup()
        body(&draft)
        let after = draft.directory
        if draft.chunks.birth(after) == draft.epoch { draft.tableWriter.stamp() }
        (draft.layout, draft.directory) = (graph, graphDirectory)
        draft.tableWriter.forgetGroup()
        swap(&checks, &draft.pending)
        swap(&changes, &draft.touched)
        if after != before { draft.tableWriter.ownedDirectory()[place] = after }
    }

    /// Creates the directory of a register without requests and labels. The layout of the draft must be the layout of the register.
    private static func newRegister(_ draft: inout Draft) -> PageRef {
        draft.tableWriter.newDirectory(sharedBlobs: .empty, register: 0) { $0.newTable($1) }
    }
}
