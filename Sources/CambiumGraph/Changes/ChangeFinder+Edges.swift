import CambiumModel

extension ChangeFinder {
    /// An edge of a many-to-many link, identified by the serials of the objects at its two ends.
    private struct Edge: Hashable {
        let first: UInt64
        let second: UInt64
    }

    /// Compares the edges in each group of rows whose page differs between the graphs. An edge is identified by the serials of its ends, so
    /// an edge that only moved to another row counts as unchanged.
    mutating func compareEdges(_ table: Int, _ layout: ColumnMeanings.Edges) {
        let keepsEnds = keepsRows(meanings.ends[layout.firstEnd].table) && keepsRows(meanings.ends[layout.firstEnd + 1].table)
        var (removed, added): ([Edge], [Edge]) = ([], [])
        forEachGroup(table) { finder, before, after in
            let leaves = [0, 1].map { finder.leaves(before, after, layout.ownerSlots[$0]) }
            for word in 0..<RowGroup.wordCount {
                let (oldLive, newLive) = (before.live(word), after.live(word))
                let common = oldLive & newLive
                var differing = common
                if keepsEnds { differing = leaves.reduce(0) { $0 | ($1?.differingRows(.rows, common, word) ?? 0) } }
                before.forEachRow(oldLive & ~newLive, word) { removed.append(finder.edge(finder.old, table, layout, $0)) }
                after.forEachRow(newLive & ~oldLive, word) { added.append(finder.edge(finder.new, table, layout, $0)) }
                var other: UInt64 = 0
                after.forEachRow(differing, word) { row in
                    let (was, now) = (finder.edge(finder.old, table, layout, row), finder.edge(finder.new, table, layout, row))
                    if was == now { return }
                    removed.append(was)
                    added.append(now)
                    other |= 1 << UInt64(row & 63)
                }
                finder.trackReorderedEdges(table, layout, before, after, common & ~other, word)
            }
        }
        trackEdges(layout, removed, added)
    }

    private func edge(_ reader: Reader, _ table: Int, _ layout: ColumnMeanings.Edges, _ row: UInt32) -> Edge {
        let rows = reader.rows(table)
        let first = serial(reader, meanings.ends[layout.firstEnd].table, rows.link(row, layout.ownerSlots[0]))
        let second = serial(reader, meanings.ends[layout.firstEnd + 1].table, rows.link(row, layout.ownerSlots[1]))
        // The row numbers of the two objects decide which end of a symmetric edge is stored first, and these numbers may differ between the
        // graphs. Serials are the same in both graphs, so the ends are ordered by serial here.
        return layout.isSymmetric && first > second ? Edge(first: second, second: first) : Edge(first: first, second: second)
    }

    /// Records the ordered lists in which an edge may have different positions in the two graphs. `rows` has a bit for each edge to
    /// compare.
    private mutating func trackReorderedEdges(
        _ table: Int, _ layout: ColumnMeanings.Edges, _ before: RowGroup, _ after: RowGroup, _ rows: UInt64, _ word: Int
    ) {
        for column in meanings.columns[table] {
            guard case .order(let end, _) = column.meaning, let pair = leaves(before, after, column.slot) else { continue }
            let slot = layout.ownerSlots[end & 1]
            after.forEachRow(pair.differingRows(column.kind, rows, word), word) {
                trackReordered(end, owner: serial(new, meanings.ends[end].table, new.rows(table).link($0, slot)))
            }
        }
    }

    private mutating func trackEdges(_ layout: ColumnMeanings.Edges, _ removed: [Edge], _ added: [Edge]) {
        let kept = removed.isEmpty || added.isEmpty ? [] : Set(removed).intersection(added)
        for edge in kept {
            // The edge was removed and added again, or it moved to another row. In both cases, its position in the lists of the objects at
            // its ends may differ.
            trackReordered(layout.firstEnd, owner: edge.first)
            trackReordered(layout.firstEnd + 1, owner: edge.second)
        }
        for edge in removed where !kept.contains(edge) { track(.removed, edge, layout) }
        for edge in added where !kept.contains(edge) { track(.added, edge, layout) }
    }

    private mutating func track(_ kind: ChangeEvent.Kind, _ edge: Edge, _ layout: ColumnMeanings.Edges) {
        for side in 0...1 {
            let end = meanings.ends[layout.firstEnd + side]
            // A symmetric edge from an object to itself is one member, so it is reported for one side only.
            guard let property = end.property, side == 0 || !layout.isSymmetric || edge.first != edge.second else { continue }
            let (owner, member) = side == 0 ? (edge.first, edge.second) : (edge.second, edge.first)
            track(ChangeEvent(kind, end.root, owner, property, target: member))
        }
    }
}
