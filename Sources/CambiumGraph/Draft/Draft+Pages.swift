import Glibc

/// The pages of a draft: allocating, copying and releasing them.
extension Draft {
    @inline(__always)
    mutating func allocate(_ byteCount: Int, _ kind: PageKind) -> PageRef {
        allocate(granules: PageLayout.granules(byteCount), kind)
    }

    @inline(__always)
    mutating func allocate(granules: Int, _ kind: PageKind) -> PageRef {
        hasWritten = true
        let page = space.allocate(granules: granules, kind: kind, birth: epoch)
        born.append(page)
        return page
    }

    /// Ensures that the draft may write to a page: if the draft did not create the page, copies it, and sets `page` to the copy.
    ///
    /// - Parameters:
    ///   - kind: The kind of page that the caller writes to; `nil` for any kind.
    ///   - byteCount: The minimum number of bytes that the page must have space for.
    @inline(__always)
    mutating func own(_ page: inout PageRef, _ kind: PageKind? = nil, byteCount: Int = 0) {
        if chunks.birth(page) != trustedEpoch { page = copy(page, kind, byteCount) }
    }

    @inline(never)
    private mutating func copy(_ page: PageRef, _ kind: PageKind?, _ byteCount: Int) -> PageRef {
        let source = chunks[page]
        let birth = source.load(fromByteOffset: PageLayout.birthOffset, as: UInt64.self)
        // The copy gets the size and the kind of the page, which are in the tail of the header. The tail also contains the link to the next
        // free page, which the 32-bit load omits.
        let tail = UInt64(source.load(fromByteOffset: PageLayout.granulesOffset, as: UInt32.self))
        let granules = Int(truncatingIfNeeded: tail & 0xFFFF)
        if !space.isProven {
            space.checkCopied(page, source, kind, byteCount)
            if birth == epoch { return page }
        }
        let copy = space.allocate(tail: tail, granules: granules, birth: epoch)
        born.append(copy)
        memcpy(chunks[copy] + PageLayout.header, source + PageLayout.header, (granules - 1) * PageLayout.granule)
        if birth != 0 { superseded.append(page) }
        return copy
    }

    /// Records that this draft no longer reaches a page. The page is released later. Constant pages, whose headers state epoch 0, are never
    /// released.
    private mutating func supersede(_ page: PageRef) {
        if chunks.birth(page) != 0 { superseded.append(page) }
    }

    /// Releases a page: immediately if the draft created it, otherwise as soon as no version reaches it.
    mutating func discard(_ page: PageRef) {
        if !space.isProven { space.checkCopied(page, chunks[page], nil, 0) }
        if chunks.birth(page) == epoch { space.release(page) } else { supersede(page) }
    }
}

/// Finds the group of a row, and copies those pages on the path to the group that the draft does not own.
extension Draft {
    /// The group of rows to which the draft wrote last. The next write probably needs the same group.
    struct GroupCache {
        var table = -1
        var index: UInt32 = 0
        var pointer = UnsafeMutableRawPointer(bitPattern: 16)
    }

    @inline(__always)
    mutating func ownedDirectory() -> UnsafeMutableRawPointer {
        hasWritten = true
        if chunks.birth(directory) != epoch { directory = copy(directory, .directory, 0) }
        return chunks[directory]
    }

    @inline(__always)
    mutating func ownedTable(_ table: Int) -> UnsafeMutableRawPointer {
        let slot = (ownedDirectory() + DirectoryPage.tablesOffset + 4 * table).assumingMemoryBound(to: PageRef.self)
        own(&slot.pointee)
        return chunks[slot.pointee]
    }

    @inline(__always)
    mutating func ownedGroup(_ table: Int, _ row: UInt32) -> UnsafeMutableRawPointer {
        let index = row &>> PageLayout.rowShift
        if groupCache.table == table, groupCache.index == index, let pointer = groupCache.pointer { return pointer }
        return ownedGroupByPath(table, index)
    }

    @inline(never)
    private mutating func ownedGroupByPath(_ table: Int, _ index: UInt32) -> UnsafeMutableRawPointer {
        hasWritten = true
        let found = reader.rows(table).group(index &<< PageLayout.rowShift)
        // If the draft created the group, it also created all pages on the path to the group, and need not copy them.
        if found.load(fromByteOffset: PageLayout.birthOffset, as: UInt64.self) == trustedEpoch {
            groupCache = GroupCache(table: table, index: index, pointer: found)
            return found
        }
        let page = ownedTable(table)
        let vector = (page + TablePage.rowsOffset).assumingMemoryBound(to: RadixVector.self)
        let slot = slot(&vector.pointee, Int(index))
        own(&slot.pointee, .rowGroup, byteCount: layout.tables[table].groupByteCount)
        let pointer = chunks[slot.pointee]
        groupCache = GroupCache(table: table, index: index, pointer: pointer)
        return pointer
    }

    /// Clears the cache of the last written group, for example because the page of the group is released.
    mutating func forgetGroup() { groupCache.table = -1 }
}
