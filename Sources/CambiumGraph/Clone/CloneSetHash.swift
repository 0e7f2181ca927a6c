import CambiumBytes
import CambiumModel

/// A hash of the serials of the copied objects. The hash does not depend on the pages and rows in which the objects are stored. FORMAT.md 4
/// states the input of the hash.
enum CloneSetHash {
    static func of(_ rows: [CloneRows], _ layout: GraphLayout) -> UInt64 {
        var hash: UInt64 = 0
        var buffer: [UInt64] = []
        func flush() {
            if buffer.isEmpty { return }
            hash = buffer.withUnsafeBytes { XXH3.hash64($0, seed: hash) }
            buffer.removeAll(keepingCapacity: true)
        }
        let tables = layout.tables.filter { rows[$0.index].count > 0 }
        for table in tables.sorted(by: { layout.root(ofTable: $0.index) < layout.root(ofTable: $1.index) }) {
            buffer.append(UInt64(layout.root(ofTable: table.index).rawValue).littleEndian)
            rows[table.index].forEachRun { first, count in
                buffer.append(first.littleEndian)
                buffer.append(count.littleEndian)
                if buffer.count >= bufferCount { flush() }
            }
            flush()
        }
        return hash
    }

    private static let bufferCount = 1024
}

extension CloneRows {
    /// Calls `body` with the first serial and the length of each run of consecutive serials, ascending.
    func forEachRun(_ body: (_ first: UInt64, _ count: UInt64) -> Void) {
        var first: UInt64 = 0
        var end: UInt64 = 0
        for page in pages {
            let base = UInt64(page.virtualPage) << UInt64(PageLayout.fanOutShift)
            var bits = page.bits
            var offset: UInt64 = 0
            while bits != 0 {
                let gap = UInt64(bits.trailingZeroBitCount)
                bits >>= UInt128(gap)
                offset += gap
                let length = UInt64((~bits).trailingZeroBitCount)
                bits = length >= 128 ? 0 : bits >> UInt128(length)
                if base + offset != end {
                    if end > first { body(first, end - first) }
                    first = base + offset
                }
                offset += length
                end = base + offset
            }
        }
        if end > first { body(first, end - first) }
    }
}
