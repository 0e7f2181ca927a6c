import CambiumModel

/// Proves columns of texts and bytes, which contain values of different lengths.
extension GraphProof {
    /// Proves that all cells of a leaf refer to bytes within its heap, and that the heap is large enough for all values together. Also
    /// proves that the values have the attribute's type.
    mutating func proveStrings(
        _ table: ProvenTable, _ slot: Int, _ leaf: UnsafeMutableRawPointer, _ live: UInt128, _ group: GroupPage
    ) {
        guard StringLeaf(leaf).isConsistent else { return report("A page with values of '\(table.name)' has values outside its heap.") }
        var check = StoredValueCheck(table.types[slot] ?? .data)
        for place in 0..<PageLayout.fanOut {
            let cell = StringLeaf(leaf).cell(UInt32(place))
            if cell == 0 { continue }
            guard live >> UInt128(place) & 1 != 0 else { return report("'\(table.name)' has a value of an object that does not exist.") }
            let flaw =
                !StringLeaf.isBlob(cell)
                ? check.flaw(bytes: StringLeaf(leaf).inlineBytes(cell)) : blobFlaw(leaf, cell, table.types[slot] ?? .data, &check)
            if let flaw { return report("\(object(table, group, place)): '\(attribute(table, slot))' \(flaw).") }
        }
    }

    /// Returns the flaw of a value of more than 255 bytes, or `nil` if the value is valid. Several cells may refer to the value, but its
    /// pages are proven only once.
    private mutating func blobFlaw(
        _ leaf: UnsafeMutableRawPointer, _ cell: UInt32, _ type: AttributeType, _ check: inout StoredValueCheck
    ) -> String? {
        let (reference, byteCount) = StringLeaf(leaf).blob(cell)
        let birth = PageHeader(leaf).birth
        if let known = blobs[reference] {
            blobs[reference]?.sharerCount += 1
            guard chunks.birth(reference) <= birth else { return "is in a page that is younger than the page that refers to it" }
            guard Int(truncatingIfNeeded: BlobHead(chunks[reference]).byteCount) == byteCount else {
                return "does not have the length that its leaf states"
            }
            if known.types.contains(type) { return nil }
        } else {
            guard proveBlob(reference, birth) else { return "does not consist of valid pages" }
            guard Int(truncatingIfNeeded: BlobHead(chunks[reference]).byteCount) == byteCount else {
                return "does not have the length that its leaf states"
            }
            blobs[reference] = (0, [])
        }
        blobs[reference]?.types.insert(type)
        return type == .data ? nil : Blob.bytes(reference, chunks).withUnsafeBytes { check.flaw(bytes: $0) }
    }

    private mutating func proveBlob(_ reference: PageRef, _ birth: UInt64) -> Bool {
        guard let page = claim(reference, .blobHead, notAfter: birth) else { return false }
        let (header, head) = (PageHeader(page), BlobHead(page))
        let stated = head.byteCount
        guard stated > UInt64(StringLeaf.inlineMax), stated <= UInt64(Blob.byteCountMax) else { return false }
        let byteCount = Int(stated)
        let extentCount = (byteCount + Blob.extentByteCountMax - 1) / Blob.extentByteCountMax
        guard head.extentCount == extentCount, BlobHead.pageByteCount(extentCount: extentCount) <= header.byteCount else { return false }
        for index in 0..<extentCount {
            let count = min(Blob.extentByteCountMax, byteCount - index * Blob.extentByteCountMax)
            let granules = PageLayout.granules(PageLayout.header + count)
            guard claim(head[index], .blobExtent, granules: granules, notAfter: header.birth) != nil else { return false }
        }
        return true
    }

    /// Proves that as many cells refer to each blob (a value of more than 255 bytes) as the vector of shared blobs states.
    mutating func proveBlobs() {
        let birth = chunks.birth(reader.directory)
        var noted: UInt64 = 0
        walk(reader.sharedBlobs, notAfter: birth) { _, _, count, _ in noted += UInt64(count) }
        guard isSound else { return }
        var counted: UInt64 = 0
        for (head, blob) in blobs {
            counted += UInt64(blob.sharerCount)
            guard reader.sharedBlobs.get(Blob.place(head), chunks) == blob.sharerCount else {
                return report("\(blob.sharerCount + 1) cells refer to a long value, but its stored count differs.")
            }
        }
        if counted != noted {
            report("In addition to the first cells, \(counted) cells refer to long values. The stored counts say \(noted).")
        }
    }
}
