@testable import CambiumGraph

/// The counts of buckets, overflow pages and entries in an index.
struct IndexShape {
    private(set) var bucketCount = 0
    private(set) var overflowPageCount = 0
    private(set) var entryCount = 0
    /// The maximum number of pages in one bucket.
    private(set) var pageCountMax = 0

    init(_ reader: Reader, table: Int = 0, index: Int = 0) {
        let record = reader.tablePage(table).index(index)
        let directory = record.directory
        var last: PageRef = 0
        for slot in 0..<1 << record.bits {
            let bucket = directory.get(slot, reader.chunks)
            if bucket == 0 || bucket == last { continue }
            last = bucket
            bucketCount += 1
            var page = bucket
            var pageCount = 0
            while page != 0 {
                pageCount += 1
                entryCount += Bucket(reader.chunks[page]).count
                page = Bucket(reader.chunks[page]).overflow
            }
            overflowPageCount += pageCount - 1
            pageCountMax = max(pageCountMax, pageCount)
        }
    }
}
