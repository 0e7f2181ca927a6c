import CambiumModel

/// The members of an owner, stored in columns of both tables as a doubly linked chain or as an ordered tree.
struct ListLayout: Sendable, Hashable {
    enum Shape: Sendable, Hashable {
        /// Unordered: columns of the owner contain the first member, the last member and the count. Columns of each member contain the
        /// previous and the next member.
        case chain(first: Int, last: Int, count: Int, previous: Int, next: Int)
        /// Ordered: a column of the owner contains the root. Columns of each member contain its left and right children, its parent, and
        /// the size of its subtree.
        case tree(root: Int, left: Int, right: Int, up: Int, size: Int)
    }

    let ownerTable: Int
    let memberTable: Int
    /// The column of `memberTable` that contains the owner of each member.
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

/// Two values, one for each end of a link. Unlike an array, a pair has no reference count.
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

/// The form in which a link is stored. A link is a relationship and its inverse.
enum LinkLayout: Sendable, Equatable {
    /// The objects at each end have a column that contains the row of the object at the other end. If the relationship is its own inverse,
    /// both ends use the same column.
    case pair(tables: Pair<Int>, slots: Pair<Int>)
    /// Columns of both tables connect an owner and its members. The members are at the end `childEnd`, whose relationship is to-one.
    case list(ListLayout, childEnd: Int)
    /// Each link between two objects is an edge: a row of a separate table. The row refers to the objects at both ends. `lists[e]` contains
    /// the edges of an object at end `e`. The column `lists[1 - e].ownerSlot` of an edge contains the object at the other end.
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
