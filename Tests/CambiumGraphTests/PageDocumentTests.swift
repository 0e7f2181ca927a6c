import Foundation
import TestFixtures
import Testing

@testable import CambiumGraph

/// The constants of the code are those in the tables of Docs/Formats/PAGES.md.
@Suite struct PageDocumentTests {
    private static let path = "Docs/Formats/PAGES.md"
    private static let text = PackageFolder.text(path)

    /// Returns the parts of lines that the document lacks.
    private func missing(_ parts: [String]) -> [String] { parts.filter { !Self.text.contains("| " + $0) } }

    @Test func `the kinds of pages have the numbers of the document`() {
        let kinds: [(PageKind, String)] = [
            (.free, "free"), (.directory, "directory |"), (.table, "table |"), (.vectorNode, "node of a vector"), (.rowGroup, "group |"),
            (.fixedLeaf, "leaf of values of fixed width"), (.linkLeaf, "leaf of links"), (.wideLeaf, "leaf of numbers of 64 bits"),
            (.stringLeaf, "leaf of texts"), (.blobHead, "head of a long value"), (.blobExtent, "extent of a long value"),
            (.bucket, "bucket"), (.indexDirectory, "directory of ordered"), (.indexInner, "inner node"), (.indexLeaf, "leaf of an ordered"),
        ]
        #expect(missing(kinds.map { "\($0.rawValue) | \($1)" }) == [])
    }

    @Test func `pages have the offsets of the document`() {
        let pages = [
            "\(PageHeader.birthOffset) | 8 | the epoch", "\(PageHeader.granulesOffset) | 2 | its size",
            "\(PageHeader.kindOffset) | 1 | its kind",
        ]
        let directory = [
            "\(DirectoryPage.transactionOffset) | 8 | the last transaction", "\(DirectoryPage.sharedBlobsOffset) | 8 | a vector",
            "\(DirectoryPage.hashKeyOffset) | \(MemoryLayout<HashKey>.stride) | the key",
            "\(DirectoryPage.schemaTransactionOffset) | 8 | the last transaction that changed the schema",
            "\(DirectoryPage.tablesOffset) | 4 each | the reference",
        ]
        let table = [
            "\(TablePage.rowsOffset) | 8 | a vector: the reference of each group",
            "\(TablePage.virtualPagesOffset) | 8 | a vector: for each",
            "\(TablePage.nextSerialOffset) | 8 | the next serial", "\(TablePage.liveCountOffset) | 8 | the number of live",
            "\(TablePage.groupCountOffset) | 4 | the number of groups", "\(TablePage.freeCountOffset) | 4 | the number of elements",
            "\(TablePage.freeOffset) | 8 | a vector: released",
            "\(TablePage.indexesOffset) | \(TablePage.indexStride) each | each hash index",
        ]
        let group = [
            "\(GroupPage.virtualPageOffset) | 4 | its virtual page", "\(GroupPage.liveCountOffset) | 4 | the number of live",
            "\(GroupPage.provenanceOffset) | 8 | the base", "\(GroupPage.liveBitsOffset) | 16 | a bit for each row",
            "\(GroupPage.stubBitsOffset) | 16 | likewise", "\(GroupPage.columnsOffset) | 4 each | the reference of the leaf",
        ]
        let bucket = [
            "\(Bucket.overflowOffset) | 4 | an overflow page",
            "\(Bucket.blocksOffset) | \(Bucket.blockStride) each | \(Bucket.blockCount) blocks: \(Bucket.blockCapacity) u16s",
        ]
        #expect(missing(pages + directory + table + group + bucket) == [])
    }
}
