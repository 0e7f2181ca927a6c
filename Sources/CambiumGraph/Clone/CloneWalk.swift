import CambiumModel

/// Finds the objects that a clone copies: breadth-first from the roots, without recursion.
///
/// The walk keeps one bit for each row, and the objects of the current level. If an attribute of copies takes its value from a parent, the
/// walk also keeps 12 bytes for each object. The parent of an object is the object from which the walk reached it.
struct CloneWalk {
    /// An object that the walk reached, and its parent: the index in `entries` of the object from which the walk reached it.
    struct Entry {
        let table: UInt32
        let row: UInt32
        let parent: UInt32
    }

    static let noParent = UInt32.max

    private struct BranchCache {
        var first: LeafCache
        var chain: ChainRows
    }

    private let reader: Reader
    private let layout: GraphLayout
    private let objectCountMax: Int
    /// The copied rows, by table.
    let rows: [CloneRows]
    private(set) var objectCount = 0
    /// If copies take values from parents: all objects in the order in which the walk reached them. Otherwise: the objects of the current
    /// level from which the walk follows a relationship.
    private(set) var entries: [Entry] = []
    /// For each table, the entity of all of its rows, or `nil` if the table has several concrete entities.
    private let single: [EntityNumber?]
    /// For each table, whether the walk follows a relationship from any of its rows.
    private let leadsOn: [Bool]
    private let branches: CloneBranches
    /// For each relationship that the walk follows, the pages that were read last. The next object usually needs the same pages.
    private var caches: [BranchCache]
    private let needsOrder: Bool

    init(_ reader: Reader, _ layout: GraphLayout, _ members: CloneMembers, objectCountMax: Int?) {
        self.reader = reader
        self.layout = layout
        self.objectCountMax = objectCountMax ?? Int.max
        rows = layout.tables.map { CloneRows(groupCount: $0.root == nil ? 0 : reader.groupCount($0.index), reader.chunks) }
        single = layout.tables.map { $0.entities.count == 1 ? $0.entities[0] : nil }
        var leadsOn = [Bool](repeating: false, count: layout.tables.count)
        for member in members.all where !members.branches.range(member.entity.number, isRoot: false).isEmpty {
            leadsOn[layout.tableIndex(ofKnown: member.entity.root)] = true
        }
        self.leadsOn = leadsOn
        branches = members.branches
        let none = BranchCache(first: LeafCache(), chain: ChainRows(reader.rows(0), from: noRow, next: 0))
        caches = [BranchCache](repeating: none, count: branches.count)
        needsOrder = members.needsOrder
    }

    /// Finds all objects to copy. Throws `.limitExceeded` if there are more objects than the request allows.
    mutating func run(_ roots: [ObjectPlace], depth: Int?) throws(CambiumError) {
        for root in roots where rows[Int(root.table)].chosen.insert(root.row) {
            objectCount += 1
            entries.append(Entry(table: root.table, row: root.row, parent: Self.noParent))
        }
        var start = 0
        var level = 0
        while start < entries.count, level < depth ?? Int.max, objectCount <= objectCountMax {
            let end = entries.count
            for index in start..<end where objectCount <= objectCountMax { expand(index, isRoot: level == 0) }
            level += 1
            if needsOrder {
                start = end
            } else {
                entries.removeSubrange(..<end)
            }
        }
        if objectCount > objectCountMax {
            let limit = objectCountMax == 1 ? "1 object" : "\(objectCountMax) objects"
            throw CambiumError(
                .limitExceeded, "The clone would exceed its limit of \(limit). Raise the limit, or exclude relationships.")
        }
    }

    private mutating func expand(_ index: Int, isRoot: Bool) {
        let entry = entries[index]
        let table = Int(entry.table)
        let owners = reader.rows(table)
        for place in branches.range(single[table] ?? owners.entity(entry.row, layout.tables[table]), isRoot: isRoot) {
            let branch = branches[place]
            switch branch.shape {
            case .one(let slot):
                let target = owners.link(entry.row, slot)
                if target != noRow { visit(branch.targetTable, target, from: index) }
            case .chain(let first, let next) where !needsOrder:
                let member = caches[place].first.link(entry.row, owners, first)
                if member == noRow { continue }
                caches[place].chain.restart(reader.rows(branch.targetTable), from: member, next: next)
                visit(place, branch.targetTable)
            default:
                visitInOrder(branch, entry.row, from: index)
            }
        }
    }

    /// Visits the members of an owner in the order of their chain. The caller must not use this method if copies take values from parents,
    /// because the order would be wrong.
    private mutating func visit(_ place: Int, _ table: Int) {
        if !leadsOn[table] {
            objectCount &+= rows[table].chosen.insert(&caches[place].chain)
            return
        }
        while let row = caches[place].chain.next() { visit(table, row, from: 0) }
    }

    /// Visits the members of an owner. The members of an ordered relationship are visited in its order. Other members are visited by
    /// ascending id if copies take values from parents, and otherwise in any order.
    private mutating func visitInOrder(_ branch: CloneBranch, _ owner: UInt32, from index: Int) {
        let reader = reader
        let end = layout.end(branch.link, branch.end)
        if branch.isOrdered || !needsOrder {
            return reader.forEachMember(end, owner: owner) { visit(branch.targetTable, $0, from: index) }
        }
        let targets = reader.rows(branch.targetTable)
        var found: [(serial: UInt64, row: UInt32)] = []
        var isAscending = true
        reader.forEachMember(end, owner: owner) { row in
            let serial = targets.serial(row)
            if let last = found.last, last.serial > serial { isAscending = false }
            found.append((serial, row))
        }
        if !isAscending { found.sort { $0.serial < $1.serial } }
        for (_, row) in found { visit(branch.targetTable, row, from: index) }
    }

    @inline(__always)
    private mutating func visit(_ table: Int, _ row: UInt32, from index: Int) {
        guard rows[table].chosen.insert(row) else { return }
        objectCount &+= 1
        if needsOrder {
            entries.append(Entry(table: UInt32(table), row: row, parent: UInt32(index)))
        } else if leadsOn[table] {
            entries.append(Entry(table: UInt32(table), row: row, parent: Self.noParent))
        }
    }

    /// Returns the copied rows, by table. If copies take values from parents, also returns the objects in the order of the walk.
    consuming func take() -> (rows: [CloneRows], entries: [Entry]) { (rows, needsOrder ? entries : []) }
}
