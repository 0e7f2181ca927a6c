public import CambiumModel

extension Graph {
    /// The labels of the store at this moment, with the transactions that they name. Complexity: O(labels x log labels).
    public var labels: [String: TransactionNumber] {
        guard let register = reader.register(of: layout) else { return [:] }
        var labels: [String: TransactionNumber] = [:]
        for entry in register.entries(of: Register.labels) { labels[entry.name] = entry.transaction == .none ? nil : entry.transaction }
        return labels
    }

    /// Returns whether the labels of another graph are known to equal the labels of this graph, because both share the pages of labels. The
    /// graphs must belong to one timeline. Complexity: O(1).
    package func sharesLabels(with other: Graph) -> Bool {
        guard version.space === other.version.space else { return false }
        return reader.labelsReference(of: layout) == other.reader.labelsReference(of: other.layout)
    }

    /// Returns the entry of a request, or `nil` if the store does not remember the request. Complexity: O(1) expected.
    package func request(_ id: String) -> RegisterEntry? {
        guard let register = reader.register(of: layout), let row = register.row(of: id, in: Register.requests) else { return nil }
        return register.entry(row, of: Register.requests)
    }

    /// The requests that the store remembers, oldest first. Complexity: O(requests x log requests).
    package var requests: [RegisterEntry] { reader.register(of: layout)?.entries(of: Register.requests) ?? [] }
}

extension Reader {
    /// Returns the reference of the register's directory page, or 0 if the graph has no register. The register contains requests and
    /// labels.
    func registerReference(of layout: GraphLayout) -> PageRef {
        layout.registerPlace.map { directoryPage[$0] } ?? 0
    }

    /// Returns the reference of the page of the table of labels, or 0 if the graph has no register.
    fileprivate func labelsReference(of layout: GraphLayout) -> PageRef {
        let page = registerReference(of: layout)
        if page == 0 { return 0 }
        return DirectoryPage(chunks[page])[Register.labels.table.index]
    }

    /// Returns a reader of a graph's register (its requests and labels), or `nil` if the graph has no register.
    func register(of layout: GraphLayout) -> Reader? {
        let page = registerReference(of: layout)
        return page == 0 ? nil : Reader(chunks: chunks, directory: page)
    }

    /// Returns the row of the request or the label whose name has exactly these bytes, or `nil` if there is no such row.
    func row(of name: String, in columns: Register.TableColumns) -> UInt32? {
        let row = name.utf8Span.span.bytes.withUnsafeBytes {
            self.row(columns.table.index, columns.table.indexes[0], key: .bytes($0))
        }
        return row == noRow ? nil : row
    }

    func entry(_ row: UInt32, of columns: Register.TableColumns) -> RegisterEntry {
        let rows = rows(columns.table.index)
        let name = rows.withCell(row, columns.name, .string) { String(decoding: $0.bytes, as: UTF8.self) }
        let digest = columns.digest.flatMap { rows.withCell(row, $0, .string) { $0.kind == .null ? nil : RequestDigest($0.bytes) } }
        let transaction = TransactionNumber(rawValue: rows.fixed(row, columns.transaction, as: UInt64.self))
        let object = columns.object.flatMap { slot in
            rows.isNull(row, slot, .fixed(width: 8)) ? nil : ObjectID(storedValue: rows.fixed(row, slot, as: UInt64.self))
        }
        return RegisterEntry(name: name, transaction: transaction, digest: digest, object: object)
    }

    /// Returns the entries in the order in which they were recorded.
    func entries(of columns: Register.TableColumns) -> [RegisterEntry] {
        let rows = rows(columns.table.index)
        var found: [(serial: UInt64, row: UInt32)] = []
        forEachRow(of: columns.table) { found.append((rows.serial($0), $0)) }
        return found.sorted { $0.serial < $1.serial }.map { entry($0.row, of: columns) }
    }
}
