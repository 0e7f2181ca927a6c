package import CambiumModel

extension Draft {
    /// Records in the register, the inner graph of requests and labels, that the current transaction applied a request. If the register has
    /// as many requests as allowed, the register forgets the oldest request.
    ///
    /// If the register already contains the request, nothing changes, and the request keeps its first transaction. Throws `.limitExceeded`
    /// if the store has already applied 2^38 - 1 requests. Complexity: O(1) expected.
    ///
    /// - Parameter object: The object of the transaction's first op, if there is one.
    package mutating func note(_ request: String, _ digest: RequestDigest?, object: ObjectID?) throws(CambiumError) {
        try note(RegisterEntry(name: request, transaction: TransactionNumber(rawValue: transaction), digest: digest, object: object))
    }

    /// Records a request of any transaction, as `note(_:_:object:)` does for the current transaction.
    package mutating func note(_ request: RegisterEntry) throws(CambiumError) {
        if requestCountMax == 0 { return }
        let columns = Register.requests
        if let register = reader.register(of: layout) {
            if register.row(of: request.name, in: columns) != nil { return }
            guard register.nextSerial(columns.table.index) <= ObjectID.serialMax else {
                throw CambiumError(.limitExceeded, "A store applies at most 2^38 - 1 requests. Commit without a request id.")
            }
        }
        inRegister { draft in
            while draft.reader.liveCount(columns.table.index) >= draft.requestCountMax { draft.forgetOldestRequest() }
            draft.insert(request, columns)
        }
    }

    /// Sets a label, so that it names a transaction. The label must not name this transaction already. The transaction `.none` removes
    /// the label: its row remains and names no transaction, because readers of the labels that were set since then must find it. Throws
    /// `.limitExceeded` if labels were already set 2^38 - 1 times.
    package mutating func setLabel(_ name: String, _ number: TransactionNumber) throws(CambiumError) {
        let columns = Register.labels
        if let register = reader.register(of: layout), register.nextSerial(columns.table.index) > ObjectID.serialMax {
            throw CambiumError(
                .limitExceeded, "A store sets its labels at most 2^38 - 1 times. Use a transaction number instead of a label.")
        }
        inRegister { draft in
            // Names with different bytes may be equal strings, and the last row of equal names applies. So a label that is set again gets a
            // new row.
            if let row = draft.reader.row(of: name, in: columns) { draft.erase(ObjectPlace(table: columns.table.index, row: row)) }
            draft.insert(RegisterEntry(name: name, transaction: number, digest: nil), columns)
        }
    }

    private mutating func insert(_ entry: RegisterEntry, _ columns: Register.TableColumns) {
        let table = columns.table.index
        let row = insertRow(columns.table, serial: reader.nextSerial(table), entity: columns.entity)
        entry.name.utf8Span.span.bytes.withUnsafeBytes { tableWriter.setBytes(table, row, columns.name, $0) }
        tableWriter.setFixed(table, row, columns.transaction, entry.transaction.rawValue)
        if let slot = columns.digest, let digest = entry.digest {
            digest.bytes.withUnsafeBytes { tableWriter.setBytes(table, row, slot, $0) }
        }
        if let slot = columns.object, let object = entry.object { tableWriter.setFixed(table, row, slot, object.rawValue) }
        addToIndex(columns.table, columns.table.indexes[0], row)
    }

    private mutating func forgetOldestRequest() {
        let table = Register.requests.table.index
        // The oldest request is forgotten first, so the remaining requests have consecutive serials, and the oldest serial can be computed.
        let expected = reader.nextSerial(table) &- UInt64(reader.liveCount(table))
        guard let row = reader.row(table, serial: expected) ?? firstRow(table) else {
            chunks.refuse("a table has fewer rows than its count states")
        }
        erase(ObjectPlace(table: table, row: row))
    }

    /// Returns the row with the smallest serial. The search is needed only if the serials have gaps. Only pages from another program can
    /// have such gaps.
    private func firstRow(_ table: Int) -> UInt32? {
        let map = reader.tablePage(table).virtualPages
        var next = 0
        while let page = map.firstIndex(from: next, chunks) {
            let first = UInt64(page) << UInt64(PageLayout.fanOutShift)
            for serial in first..<first + UInt64(PageLayout.fanOut) { if let row = reader.row(table, serial: serial) { return row } }
            next = page + 1
        }
        return nil
    }

    /// Runs `body` with the register (the inner graph of requests and labels) in place of the draft's graph.
    mutating func inRegister(_ body: (inout Draft) -> Void) {
        guard let place = layout.registerPlace else {
            preconditionFailure("A register does not contain another register.")
        }
        let (graph, graphDirectory) = (layout, directory)
        let before = reader.registerReference(of: graph)
        var (checks, changes) = (PendingChecks(), TouchedRows?.none)
        checks.isOff = true
        swap(&checks, &pending)
        swap(&changes, &touched)
        layout = Register.layout
        directory = before != 0 ? before : newRegister()
        tableWriter.forgetGroup()
        body(&self)
        let after = directory
        if chunks.birth(after) == epoch { tableWriter.stamp() }
        (layout, directory) = (graph, graphDirectory)
        tableWriter.forgetGroup()
        swap(&checks, &pending)
        swap(&changes, &touched)
        if after != before { tableWriter.ownedDirectory()[place] = after }
    }

    /// Creates the directory of a register without requests and labels. The layout of the draft must be the layout of the register.
    private mutating func newRegister() -> PageRef { tableWriter.newDirectory(sharedBlobs: .empty, register: 0) { $0.newTable($1) } }
}
