extension Draft {
    /// Makes every page of the ordered indexes its own that lies in one of some chunks. Complexity: O(nodes).
    ///
    /// - Parameter victims: for each chunk, whether it is one.
    mutating func evacuateIndexes(_ victims: [Bool]) {
        let page = reader.indexDirectoryReference(of: layout)
        guard page != 0, let offset = DirectoryPage.indexesOffset(layout), let directory = reader.indexDirectory(of: layout) else { return }
        let count = directory.count
        if Self.has(victims, page) { _ = owned(offset, count) }
        for number in 0..<count {
            guard let directory = reader.indexDirectory(of: layout) else { return }
            let tree = directory[number].tree
            if tree.height == 0 { continue }
            var root = tree.root
            guard evacuate(victims, &root, level: Int(tree.height) - 1) else { continue }
            let own = owned(offset, count)
            own[number].tree.root = root
        }
    }

    private mutating func owned(_ offset: Int, _ count: Int) -> IndexDirectory {
        let slot = (ownedDirectory() + offset).assumingMemoryBound(to: PageRef.self)
        own(&slot.pointee, .indexDirectory, byteCount: IndexDirectory.byteCount(count))
        return IndexDirectory(chunks[slot.pointee])
    }

    /// - Returns: whether the page, or one below it, lies elsewhere now; then it is the draft's own.
    private mutating func evacuate(_ victims: [Bool], _ page: inout PageRef, level: Int) -> Bool {
        if level > OrderedNode.heightMax { chunks.refuse("an index is too high") }
        let before = page
        if level == 0 {
            if Self.has(victims, page) { own(&page, .indexLeaf) }
            return page != before
        }
        if Self.has(victims, page) { own(&page, .indexInner) }
        for child in 0..<chunks.inner(page).count {
            var reference = chunks.inner(page).references[child]
            guard evacuate(victims, &reference, level: level - 1) else { continue }
            own(&page, .indexInner)
            chunks.inner(page).references[child] = reference
        }
        return page != before
    }

    private static func has(_ victims: [Bool], _ page: PageRef) -> Bool {
        let chunk = Int(page >> 12)
        return page != 0 && chunk < victims.count && victims[chunk]
    }
}
