package import CambiumModel

/// The labels of a graph in memory, for a writer that looks up labels in each of many versions.
///
/// The index of the register compares bytes, but names with different bytes may be equal strings. So only a dictionary finds a label by
/// every equal name. Making the dictionary again for each version would take too long.
package struct KnownLabels: Sendable {
    private var labels: [String: TransactionNumber] = [:]
    /// The serial that the next label will get. The dictionary contains all labels with smaller serials.
    private var nextSerial: UInt64 = 1

    package init() {}

    /// Returns the transaction that a label names, or `nil` if there is no such label. Complexity: O(1) expected.
    package subscript(name: String) -> TransactionNumber? { labels[name] }

    /// Adds the labels that were set since the last call. The graph must be the graph of the last call, or a later version of it.
    /// Removes the labels that were removed. Complexity: O(labels that were set or removed since the last call).
    package mutating func update(to graph: Graph) {
        guard let register = graph.reader.register(of: graph.layout) else { return }
        let (columns, first) = (Register.labels, nextSerial)
        nextSerial = register.nextSerial(columns.table.index)
        // Most of the new serials may be gaps, because a label that moves gets a new serial. If so, reading all labels is faster.
        if nextSerial < first || nextSerial - first > UInt64(register.liveCount(columns.table.index)) {
            labels = graph.labels
            return
        }
        for serial in first..<nextSerial {
            guard let row = register.row(columns.table.index, serial: serial) else { continue }
            let entry = register.entry(row, of: columns)
            labels[entry.name] = entry.transaction == .none ? nil : entry.transaction
        }
    }
}
