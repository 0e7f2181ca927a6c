extension Draft {
    /// The number of edges (many-to-many links) whose memory is prefetched together.
    private static let stepCount = 64

    /// Links an object without members to distinct objects, in the order of `targets`.
    mutating func linkFirst(_ end: EndLayout, owner: UInt32, targets: [UInt32]) {
        guard case .edges(let table, let lists, let isSymmetric) = end.layout else {
            for target in targets { link(end, owner: owner, target: target) }
            return
        }
        guard !isSymmetric, let own = LinkWriter.Chain(lists[end.end]), let far = LinkWriter.Chain(lists[1 - end.end]) else {
            for target in targets { addEdge(end, layout.tables[table], lists, isSymmetric, owner, target, nil) }
            return
        }
        let tableLayout = layout.tables[table]
        for start in stride(from: 0, to: targets.count, by: Self.stepCount) {
            addEdges(end, tableLayout, own, far, owner, targets[start..<min(start + Self.stepCount, targets.count)])
        }
    }

    /// Adds edges that do not exist yet. First prefetches the memory that the links of all edges need, because this memory is scattered.
    private mutating func addEdges(
        _ end: EndLayout, _ table: TableLayout, _ own: LinkWriter.Chain, _ far: LinkWriter.Chain, _ owner: UInt32,
        _ targets: ArraySlice<UInt32>
    ) {
        let reader = reader
        for target in targets {
            reader.prefetchBlock(table.index, 0, edgeHash(end, owner, target))
            let last = reader.rows(far.owners).link(target, far.last)
            if last != noRow { reader.rows(far.members).prefetchLink(last, far.next) }
        }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: targets.count) { edges in
            var count = 0
            for target in targets {
                let (first, second) = EndLayout.pair(end.end, false, owner, target)
                let edge = linkWriter.newEdge(table, first, second)
                touched?.markEdge(end.link, edge)
                if count > 0 {
                    tableWriter.setLink(own.members, edge, own.previous, edges[count - 1])
                    tableWriter.setLink(own.members, edges[count - 1], own.next, edge)
                }
                edges[count] = edge
                count += 1
            }
            linkWriter.append(own, owner, first: edges[0], last: edges[count - 1], count: count)
            noteChange(end.link, end.end, owner)
            for (place, target) in targets.enumerated() {
                linkWriter.append(far, owner: target, member: edges[place])
                noteChange(end.link, 1 - end.end, target)
            }
            for (place, target) in targets.enumerated() {
                indexWriter.addEntry(table.index, 0, hash: edgeHash(end, owner, target), row: edges[place])
            }
        }
    }

    @inline(__always)
    private func edgeHash(_ end: EndLayout, _ owner: UInt32, _ target: UInt32) -> UInt64 {
        let (first, second) = EndLayout.pair(end.end, false, owner, target)
        return reader.edgeHash(first, second)
    }
}
