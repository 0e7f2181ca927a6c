import CambiumModel

/// The members of an owner, in columns of the members' table: a doubly linked chain, or an ordered tree.
struct ListLayout: Sendable, Hashable {
    enum Shape: Sendable, Hashable {
        /// Unordered: first, last and count at the owner; previous and next at the member.
        case chain(first: Int, last: Int, count: Int, previous: Int, next: Int)
        /// Ordered: the root at the owner; left, right, up and the size of the subtree at the member.
        case tree(root: Int, left: Int, right: Int, up: Int, size: Int)
    }

    let ownerTable: Int
    let memberTable: Int
    /// The column of the member that holds its owner.
    let ownerSlot: Int
    let shape: Shape

    init(isOrdered: Bool, ownerTable: Int, memberTable: Int, ownerSlot: Int, tables: inout [TableDraft]) {
        self.ownerTable = ownerTable
        self.memberTable = memberTable
        self.ownerSlot = ownerSlot
        shape =
            isOrdered
            ? .tree(
                root: tables[ownerTable].add(.rows), left: tables[memberTable].add(.rows),
                right: tables[memberTable].add(.rows), up: tables[memberTable].add(.rows),
                size: tables[memberTable].add(.numbers))
            : .chain(
                first: tables[ownerTable].add(.rows), last: tables[ownerTable].add(.rows),
                count: tables[ownerTable].add(.numbers), previous: tables[memberTable].add(.rows),
                next: tables[memberTable].add(.rows))
    }

    var isOrdered: Bool { if case .tree = shape { true } else { false } }
}

/// Something for each of the two ends of a link, without the reference count of an array.
struct Pair<Element: Sendable>: Sendable {
    let first: Element
    let second: Element

    init(_ first: Element, _ second: Element) {
        self.first = first
        self.second = second
    }

    @inline(__always) subscript(_ end: Int) -> Element { end == 0 ? first : second }
}

extension Pair: Equatable where Element: Equatable {}

/// How a link, a relationship and its inverse, is kept.
enum LinkLayout: Sendable, Equatable {
    /// Each side has a column with the other's row. For a link that is its own inverse it is the same column.
    case pair(tables: Pair<Int>, slots: Pair<Int>)
    /// The members are rows of the child's table; `childEnd` is the end that is to-one.
    case list(ListLayout, childEnd: Int)
    /// The members are rows of a table of edges. `lists[e]` are the edges of an owner at end e; an edge's owner at the
    /// other end is in column `lists[1 - e].ownerSlot`.
    case edges(table: Int, lists: Pair<ListLayout>, isSymmetric: Bool)

    init(_ link: Link, tables: inout [TableDraft], tableOf: (EntityNumber) -> Int) {
        let ends = [link.first, link.second]
        let endTables = ends.map { tableOf($0.root) }
        switch (ends[0].isToMany, ends[1].isToMany) {
        case (false, false):
            let first = tables[endTables[0]].add(.rows)
            let second = link.isSymmetric ? first : tables[endTables[1]].add(.rows)
            self = .pair(tables: Pair(endTables[0], endTables[1]), slots: Pair(first, second))
        case (true, true):
            let edges = tables.count
            tables.append(TableDraft(edgesAt: edges))
            let owners = [tables[edges].add(.rows), tables[edges].add(.rows)]
            let lists = [0, 1].map { end in
                ListLayout(
                    isOrdered: ends[end].isOrdered, ownerTable: endTables[end], memberTable: edges,
                    ownerSlot: owners[end], tables: &tables)
            }
            self = .edges(table: edges, lists: Pair(lists[0], lists[1]), isSymmetric: link.isSymmetric)
        default:
            let childEnd = ends[0].isToMany ? 1 : 0
            let target = tables[endTables[childEnd]].add(.rows)
            self = .list(
                ListLayout(
                    isOrdered: ends[1 - childEnd].isOrdered, ownerTable: endTables[1 - childEnd],
                    memberTable: endTables[childEnd], ownerSlot: target, tables: &tables),
                childEnd: childEnd)
        }
    }
}
