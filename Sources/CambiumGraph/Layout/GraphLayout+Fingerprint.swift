import CambiumBytes

extension GraphLayout {
    /// A hash of everything that determines the meaning of pages. If the fingerprint of a checkpoint differs from this one, the
    /// checkpoint's pages cannot be used, and the log is replayed instead.
    package var fingerprint: UInt64 {
        let sizes = [
            PageLayout.fanOut, Bucket.blockCount, Bucket.blockCapacity, GroupPage.byteCount(columnCount: 0),
            TablePage.byteCount(indexCount: 0, entityCount: 0), DirectoryPage.byteCount(referenceCount: 0),
        ]
        var parts = sizes.map(String.init)
        parts += ConstantPages.stored.all.map(String.init)
        for table in tables {
            parts.append(
                "table \(list(table.entities.map(\.rawValue))) \(list(table.columns.map(\.fingerprintText))) \(table.entitySlot ?? -1)")
            for index in table.indexes {
                parts.append(
                    "index \(list(index.slots)) \(list(index.kinds.map(\.fingerprintText))) \(list(index.family.map(\.rawValue).sorted()))")
            }
        }
        for link in links { parts.append("link \(link.fingerprintText)") }
        if hasRegister { parts.append("register \(Register.layout.fingerprint)") }
        // The hash does not depend on which ordered indexes exist, because the index directory in the pages states them.
        if !ordered.isEmpty { parts.append("ordered 1 \(OrderedNode.byteCount) \(OrderedNode.keyByteCountMax)") }
        // Stored buckets can be used only with the hash function that filled them.
        parts.append("hash \(KeyHasher.fingerprint)")
        return Array(parts.joined(separator: "\n").utf8).withUnsafeBytes { XXH3.hash64($0, seed: 0) }
    }

    private func list(_ elements: [some CustomStringConvertible]) -> String {
        "[" + elements.lazy.map(\.description).joined(separator: ", ") + "]"
    }
}

// The texts below must never change, because the fingerprints of stored checkpoints are computed from them. They equal the texts that
// Swift's reflection returned when the format was defined. The code does not call reflection: a later version of Swift may return other
// texts, and opening a store would take longer.

extension ColumnKind {
    var fingerprintText: String {
        switch self {
        case .fixed(let width): "CambiumGraph.ColumnKind.fixed(width: \(width))"
        case .string: "CambiumGraph.ColumnKind.string"
        case .rows: "CambiumGraph.ColumnKind.rows"
        case .numbers: "CambiumGraph.ColumnKind.numbers"
        }
    }
}

extension LinkLayout {
    var fingerprintText: String {
        switch self {
        case .pair(let tables, let slots): "pair(tables: \(Self.text(tables)), slots: \(Self.text(slots)))"
        case .list(let list, let childEnd): "list(\(list.fingerprintText), childEnd: \(childEnd))"
        case .edges(let table, let lists, let isSymmetric):
            "edges(table: \(table), lists: CambiumGraph.Pair<CambiumGraph.ListLayout>(first: \(lists.first.fingerprintText), "
                + "second: \(lists.second.fingerprintText)), isSymmetric: \(isSymmetric))"
        }
    }

    private static func text(_ pair: Pair<Int>) -> String { "CambiumGraph.Pair<Swift.Int>(first: \(pair.first), second: \(pair.second))" }
}

extension ListLayout {
    fileprivate var fingerprintText: String {
        "CambiumGraph.ListLayout(ownerTable: \(ownerTable), memberTable: \(memberTable), ownerSlot: \(ownerSlot), "
            + "shape: CambiumGraph.ListLayout.Shape.\(shape.fingerprintText))"
    }
}

extension ListLayout.Shape {
    fileprivate var fingerprintText: String {
        switch self {
        case .chain(let first, let last, let count, let previous, let next):
            "chain(first: \(first), last: \(last), count: \(count), previous: \(previous), next: \(next))"
        case .tree(let root, let left, let right, let up, let size):
            "tree(root: \(root), left: \(left), right: \(right), up: \(up), size: \(size))"
        }
    }
}
