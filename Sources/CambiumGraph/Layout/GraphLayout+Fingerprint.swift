import CambiumBytes

extension GraphLayout {
    /// A hash of all that says what pages mean: with another one they cannot be used, and the log is replayed.
    package var fingerprint: UInt64 {
        let sizes = [PageLayout.fanOut, Bucket.blockCount, Bucket.blockCapacity, GroupLayout.columnsOffset, TablePage.indexesOffset]
        var parts = (sizes + [DirectoryPage.tablesOffset]).map(String.init)
        parts += ConstantPages.stored.all.map(String.init)
        for table in tables {
            parts.append("table \(table.entities.map(\.rawValue)) \(table.columns) \(table.entitySlot ?? -1)")
            for index in table.indexes { parts.append("index \(index.slots) \(index.kinds) \(index.family.map(\.rawValue).sorted())") }
        }
        for link in links { parts.append("link \(link)") }
        if hasRegister { parts.append("register \(Register.layout.fingerprint)") }
        // Which indexes there are the pages say.
        if !ordered.isEmpty { parts.append("ordered 1 \(OrderedNode.byteCount) \(OrderedNode.keyByteCountMax)") }
        // The hashes that buckets are filled by.
        parts.append("hash \(KeyHash.fingerprint)")
        return Array(parts.joined(separator: "\n").utf8).withUnsafeBytes { XXH3.hash64($0, seed: 0) }
    }
}
