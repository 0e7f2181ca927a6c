extension OrderedTree {
    /// Whether the root, the height and the count agree with each other and are within the limits of a tree.
    var isPossible: Bool {
        height == 0 ? self == OrderedTree() : root != 0 && height <= UInt32(OrderedNode.heightMax) && count <= TableLayout.rowCountMax
    }
}

extension IndexDirectory {
    /// Returns whether the records belong to the ordered indexes of a layout, in the same order.
    @inline(__always) func fits(_ layout: GraphLayout) -> Bool {
        count == layout.ordered.count && layout.ordered.allSatisfy { self[$0.number].specification == $0.specification }
    }
}

extension OrderedIndexLayout {
    /// Returns whether the object at a row is in the index.
    @inline(__always) func covers(_ row: UInt32, _ rows: Rows, _ table: TableLayout) -> Bool {
        if let ownerSlot { return rows.link(row, ownerSlot) != noRow }
        return coversTable || family.contains(rows.entity(row, table))
    }
}

extension Reader {
    /// Returns the reference to the page of the index directory, or 0 if the graph does not have one yet.
    func indexDirectoryReference(of layout: GraphLayout) -> PageRef {
        layout.indexesPlace.map { directoryPage[$0] } ?? 0
    }

    func indexDirectory(of layout: GraphLayout) -> IndexDirectory? {
        let page = indexDirectoryReference(of: layout)
        if page == 0 { return nil }
        let directory = IndexDirectory(chunks[page])
        if !chunks.isProven {
            guard chunks.kind(page) == .indexDirectory, directory.count <= OrderedIndexLayout.countMax,
                IndexDirectory.byteCount(directory.count) <= chunks.granules(page) * PageLayout.granule
            else { chunks.refuse("page \(page) is not a valid directory of indexes") }
        }
        return directory
    }

    /// Returns the record of an index, or an empty record if the pages do not have the index.
    func record(of index: OrderedIndexLayout, _ layout: GraphLayout) -> IndexDirectory.Record {
        if let directory = indexDirectory(of: layout), index.number < directory.count,
            directory[index.number].specification == index.specification
        {
            return directory[index.number]
        }
        return IndexDirectory.Record(specification: index.specification)
    }
}
