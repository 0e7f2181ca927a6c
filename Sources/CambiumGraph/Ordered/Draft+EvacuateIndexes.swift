/// Pages of ordered indexes that lie in chunks which are to be emptied.
extension Draft {
    /// Makes the page that the indexes hang from the draft's own if it lies in one of some chunks.
    ///
    /// - Parameter victims: for each chunk, whether it is one.
    mutating func evacuateIndexDirectory(_ victims: [Bool]) {
        guard let offset = DirectoryPage.indexesOffset(layout), let directory = reader.indexDirectory(of: layout) else { return }
        if reader.indexDirectoryReference(of: layout).lies(in: victims) { _ = owned(offset, directory.count) }
    }

    /// The same for the nodes on the way to an entry of an index, and for all leaves beside that of the entry.
    ///
    /// Complexity: O(children of a node).
    ///
    /// - Parameter entry: how many entries are before it. If there are fewer, the last one is meant.
    mutating func evacuateIndex(_ number: Int, _ entry: Int, _ victims: [Bool]) {
        guard let offset = DirectoryPage.indexesOffset(layout), let directory = reader.indexDirectory(of: layout), number < directory.count
        else { return }
        let (tree, count) = (directory[number].tree, directory.count)
        if tree.height == 0 { return }
        var root = tree.root
        guard evacuate(victims, &root, level: Int(tree.height) - 1, entry) else { return }
        let own = owned(offset, count)
        own[number].tree.root = root
    }

    private mutating func owned(_ offset: Int, _ count: Int) -> IndexDirectory {
        let slot = (ownedDirectory() + offset).assumingMemoryBound(to: PageRef.self)
        own(&slot.pointee, .indexDirectory, byteCount: IndexDirectory.byteCount(count))
        return IndexDirectory(chunks[slot.pointee])
    }

    /// - Returns: whether the page, or one below it, lies elsewhere now; then it is the draft's own.
    private mutating func evacuate(_ victims: [Bool], _ page: inout PageRef, level: Int, _ entry: Int) -> Bool {
        if level > OrderedNode.heightMax { chunks.refuse("an index is too high") }
        let before = page
        if level == 0 {
            if page.lies(in: victims) { own(&page, .indexLeaf) }
            return page != before
        }
        if page.lies(in: victims) { own(&page, .indexInner) }
        var (children, rest) = (0..<chunks.inner(page).count, entry)
        if level > 1 {
            var child = 0
            while child < children.count - 1, rest >= Int(chunks.inner(page).counts[child]) {
                rest -= Int(chunks.inner(page).counts[child])
                child += 1
            }
            children = child..<child + 1
        }
        for child in children {
            var reference = chunks.inner(page).references[child]
            guard evacuate(victims, &reference, level: level - 1, rest) else { continue }
            own(&page, .indexInner)
            chunks.inner(page).references[child] = reference
        }
        return page != before
    }
}
