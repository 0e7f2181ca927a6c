/// Moves pages of ordered indexes out of the chunks that packing empties.
extension Packer {
    /// Copies the directory page of the ordered indexes, if the page lies in a chunk to be emptied.
    ///
    /// - Parameter victims: For each chunk, whether it is to be emptied.
    static func evacuateIndexDirectory(_ draft: inout Draft, _ victims: [Bool]) {
        guard let place = draft.layout.indexesPlace, let directory = draft.reader.indexDirectory(of: draft.layout) else { return }
        if draft.reader.indexDirectoryReference(of: draft.layout).lies(in: victims) { _ = owned(&draft, place, directory.count) }
    }

    /// Visits the nodes on the path to an entry, and all leaves of the last inner node on this path. Copies each visited node that lies in
    /// a chunk to be emptied.
    ///
    /// Complexity: O(children of a node).
    ///
    /// - Parameter entry: The position of the entry in the index. If the index has fewer entries, the method uses its last entry.
    static func evacuateIndex(_ draft: inout Draft, _ number: Int, _ entry: Int, _ victims: [Bool]) {
        guard let place = draft.layout.indexesPlace, let directory = draft.reader.indexDirectory(of: draft.layout), number < directory.count
        else { return }
        let (tree, count) = (directory[number].tree, directory.count)
        if tree.height == 0 { return }
        var root = tree.root
        guard evacuate(&draft, victims, &root, level: Int(tree.height) - 1, entry) else { return }
        let own = owned(&draft, place, count)
        own[number].tree.root = root
    }

    private static func owned(_ draft: inout Draft, _ place: Int, _ count: Int) -> IndexDirectory {
        let directory = draft.tableWriter.ownedDirectory()
        draft.pageWriter.own(&directory[place], .indexDirectory, byteCount: IndexDirectory.byteCount(count))
        return IndexDirectory(draft.chunks[directory[place]])
    }

    /// Copies a page if the page lies in a chunk to be emptied. Does the same below this page: on the path to an entry, and for all leaves
    /// of the last inner node.
    ///
    /// - Returns: Whether the page was replaced with a copy, which the draft owns. A page is also copied if a page below it was copied.
    private static func evacuate(_ draft: inout Draft, _ victims: [Bool], _ page: inout PageRef, level: Int, _ entry: Int) -> Bool {
        if level > OrderedNode.heightMax { draft.chunks.refuse("the tree of an index has too many levels") }
        let before = page
        if level == 0 {
            if page.lies(in: victims) { draft.pageWriter.own(&page, .indexLeaf) }
            return page != before
        }
        if page.lies(in: victims) { draft.pageWriter.own(&page, .indexInner) }
        var (children, rest) = (0..<draft.chunks.inner(page).count, entry)
        if level > 1 {
            var child = 0
            while child < children.count - 1, rest >= Int(draft.chunks.inner(page).counts[child]) {
                rest -= Int(draft.chunks.inner(page).counts[child])
                child += 1
            }
            children = child..<child + 1
        }
        for child in children {
            var reference = draft.chunks.inner(page).references[child]
            guard evacuate(&draft, victims, &reference, level: level - 1, rest) else { continue }
            draft.pageWriter.own(&page, .indexInner)
            draft.chunks.inner(page).references[child] = reference
        }
        return page != before
    }
}
