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
        let source = PageHeader(chunks[page])
        let birth = source.birth
        // The copy gets the size and the kind of the page, which are in the tail of the header.
        let tail = source.tail
        let granules = Int(truncatingIfNeeded: tail & 0xFFFF)
        if !space.isProven {
            space.checkCopied(page, source.page, kind, byteCount)
            if birth == epoch { return page }
        }
        let copy = space.allocate(tail: tail, granules: granules, birth: epoch)
        born.append(copy)
        memcpy(chunks[copy] + PageLayout.header, source.page + PageLayout.header, (granules - 1) * PageLayout.granule)
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
        var page: GroupPage?
    }

    @inline(__always)
    mutating func ownedDirectory() -> DirectoryPage {
        hasWritten = true
        if chunks.birth(directory) != epoch { directory = copy(directory, .directory, 0) }
        return DirectoryPage(chunks[directory])
    }

    @inline(__always)
    mutating func ownedTable(_ table: Int) -> TablePage {
        let directory = ownedDirectory()
        own(&directory[table])
        return TablePage(chunks[directory[table]])
    }

    @inline(__always)
    mutating func ownedGroup(_ table: Int, _ row: UInt32) -> GroupPage {
        let index = row &>> PageLayout.rowShift
        if groupCache.table == table, groupCache.index == index, let page = groupCache.page { return page }
        return ownedGroupByPath(table, index)
    }

    @inline(never)
    private mutating func ownedGroupByPath(_ table: Int, _ index: UInt32) -> GroupPage {
        hasWritten = true
        let found = reader.rows(table).group(index &<< PageLayout.rowShift)
        // If the draft created the group, it also created all pages on the path to the group, and need not copy them.
        if found.birth == trustedEpoch {
            groupCache = GroupCache(table: table, index: index, page: found)
            return found
        }
        let slot = slot(&ownedTable(table).rows, Int(index))
        own(&slot.pointee, .rowGroup, byteCount: layout.tables[table].groupByteCount)
        let page = chunks.group(slot.pointee)
        groupCache = GroupCache(table: table, index: index, page: page)
        return page
    }

    /// Clears the cache of the last written group, for example because the page of the group is released.
    mutating func forgetGroup() { groupCache.table = -1 }
}
