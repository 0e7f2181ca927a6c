import Testing

@testable import CambiumGraph

/// Forged leaves of texts and bytes.
@Suite struct ForgedLeafTests {
    @Test func `a leaf whose heap ends beyond the offsets of cells is not consistent`() throws {
        let leaf = UnsafeMutableRawBufferPointer.allocate(byteCount: PageLayout.chunkByteCount, alignment: 16)
        defer { leaf.deallocate() }
        leaf.initializeMemory(as: UInt8.self, repeating: 0)
        leaf.storeBytes(of: UInt16(PageLayout.chunkGranules), toByteOffset: PageHeader.granulesOffset, as: UInt16.self)
        let page = try #require(leaf.baseAddress)
        for end in [StringLeaf.heapOffset, 65_535, 65_536] {
            for offset in [StringLeaf.heapUsedOffset, StringLeaf.heapGarbageOffset] {
                leaf.storeBytes(of: UInt32(end - StringLeaf.heapOffset), toByteOffset: offset, as: UInt32.self)
            }
            #expect(StringLeaf(page).isConsistent == (end < 65_536), "the heap ends at \(end)")
        }
    }
}
