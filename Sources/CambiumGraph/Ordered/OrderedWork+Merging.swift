extension OrderedWork {
    /// Merges the entries of a leaf with a range of changes.
    ///
    /// - Returns: `false` if an entry to remove does not exist, or if an entry to add already exists.
    func merge(_ leaf: OrderedLeaf, _ changes: OrderedChanges, _ range: Range<Int>) -> Bool {
        var next = range.lowerBound
        var isSound = true
        leaf.forEach { prefix, rest in
            append(prefix, rest)
            let entry = entries[entries.count - 1]
            var order = -1
            while next < range.upperBound {
                let change = changes.entry(next)
                order = OrderedNode.order(change.start, change.count, entry.start, entry.count)
                if order >= 0 { break }
                entries[entries.count - 1] = change
                entries.append(entry)
                isSound = isSound && changes.isAdded(next)
                next += 1
            }
            if next < range.upperBound, order == 0 {
                isSound = isSound && !changes.isAdded(next)
                entries.removeLast()
                next += 1
            }
        }
        while next < range.upperBound {
            entries.append(changes.entry(next))
            isSound = isSound && changes.isAdded(next)
            next += 1
        }
        return isSound
    }
}
