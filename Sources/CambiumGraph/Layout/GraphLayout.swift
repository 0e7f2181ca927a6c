import CambiumBytes
package import CambiumModel
import Synchronization

/// How a schema lies in pages: which tables there are, which columns they have, and how each link is kept.
package final class GraphLayout: Sendable {
    package let schema: Schema
    /// Which layout of this process it is: what was resolved for another one has to be resolved again.
    let number = GraphLayout.count.wrappingAdd(1, ordering: .relaxed).newValue
    private static let count = Atomic<UInt64>(0)
    /// A table for each root entity, in the order of `schema.roots`; then one for each link that is kept as edges.
    let tables: [TableLayout]
    /// As `schema.links`.
    let links: [LinkLayout]
    /// The two ends of each link.
    let ends: [EndLayout]
    /// As `ends`.
    let marks: [EndMark]
    /// For each table, the relationships with a fewest or a most number of members.
    private let countedProperties: [Set<PropertyNumber>]
    private let tableByRoot: [Int]
    /// The roots of the tables of objects, which come first.
    private let roots: [EntityNumber]
    /// For each entity's number, the index over its identity.
    private let identityByEntity: [IdentityIndex?]
    /// Whether the directory page refers to a register. That of a graph of format 1 does not, nor does that of a register.
    package let hasRegister: Bool
    /// The ordered indexes. If there are any, the directory page refers to their directory.
    let ordered: [OrderedIndexLayout]
    /// For each table, its ordered indexes.
    let orderedByTable: [(table: Int, indexes: [OrderedIndexLayout])]

    /// What the columns say about objects, once a comparison has asked for it.
    private let knownMeanings = Guarded<ColumnMeanings?>(nil)

    struct IdentityIndex: Sendable {
        let table: Int
        let layout: IndexLayout
    }

    /// - Parameter hasIndexes: `false` for pages that were stored before there were ordered indexes.
    package init(_ schema: Schema, hasRegister: Bool = true, hasIndexes: Bool = true) {
        self.schema = schema
        self.hasRegister = hasRegister
        let hierarchies = Dictionary(grouping: schema.entities, by: \.root)
        var drafts = schema.roots.enumerated().map {
            TableDraft(index: $0.offset, root: $0.element, members: hierarchies[$0.element.number] ?? [])
        }
        roots = schema.roots.map(\.number)
        var byRoot = [Int](repeating: -1, count: Int(schema.roots.map(\.number.rawValue).max() ?? 0) + 1)
        for (index, root) in schema.roots.enumerated() { byRoot[Int(root.number.rawValue)] = index }
        links = schema.links.map { link in
            LinkLayout(link, tables: &drafts, tableOf: { byRoot[Int($0.rawValue)] })
        }
        let linkLayouts = links
        ends = linkLayouts.indices.flatMap { link in [0, 1].map { EndLayout(link: link, end: $0, layout: linkLayouts[link]) } }
        let tables = drafts.map(TableLayout.init)
        self.tables = tables
        let ordered = !hasIndexes ? [] : OrderedIndexLayout.all(of: schema, tables: tables) { tables[byRoot[Int($0.rawValue)]] }
        self.ordered = ordered
        orderedByTable = Set(ordered.map(\.table)).sorted().map { table in (table, ordered.filter { $0.table == table }) }
        let countedProperties = drafts.map { draft in
            let members = draft.root.flatMap { hierarchies[$0.number] } ?? []
            let counted = members.flatMap(\.relationships).filter { $0.minCount > 0 || ($0.isToMany && $0.maxCount != nil) }
            return Set(counted.map(\.number))
        }
        self.countedProperties = countedProperties
        marks = schema.links.flatMap { link in
            [link.first, link.second].map { end in
                let table = byRoot[Int(end.root.rawValue)]
                return EndMark(
                    table: table, isVisible: end.property != nil,
                    isCounted: end.property.map { countedProperties[table].contains($0) } ?? false)
            }
        }
        tableByRoot = byRoot
        var identities = [IdentityIndex?](repeating: nil, count: Int(schema.entities.map(\.number.rawValue).max() ?? 0) + 1)
        for table in tables {
            for index in table.indexes where index.set.isIdentity {
                for entity in index.family { identities[Int(entity.rawValue)] = IdentityIndex(table: table.index, layout: index) }
            }
        }
        identityByEntity = identities
    }

    /// The index over the identity of an entity, which it may inherit.
    @inline(__always) func identityIndex(_ entity: Entity) -> IdentityIndex? {
        let number = Int(entity.number.rawValue)
        return number < identityByEntity.count ? identityByEntity[number] : nil
    }

    /// What the columns say about objects. Complexity: O(columns) for the first call, then O(1).
    var meanings: ColumnMeanings {
        knownMeanings.withLock { known in
            if let known { return known }
            let meanings = ColumnMeanings(self)
            known = meanings
            return meanings
        }
    }

    /// The table that holds the objects of a root entity; nil where the schema has none of that number.
    func table(of root: EntityNumber) -> TableLayout? {
        let number = Int(root.rawValue)
        guard number < tableByRoot.count, tableByRoot[number] >= 0 else { return nil }
        return tables[tableByRoot[number]]
    }

    /// The root entity of a table of objects.
    @inline(__always) func root(ofTable index: Int) -> EntityNumber { roots[index] }

    @inline(__always)
    func needsCount(_ table: Int, _ property: PropertyNumber) -> Bool {
        !countedProperties[table].isEmpty && countedProperties[table].contains(property)
    }

    /// Throws `.limitExceeded` if the directory, or what a table needs, does not fit into a page.
    func checkPageSizes() throws(CambiumError) {
        guard DirectoryPage.byteCount(self) <= PageLayout.chunkByteCount else {
            throw CambiumError(.limitExceeded, "A schema has at most 16,000 root entities and many-to-many links.")
        }
        for table in tables where max(table.pageByteCount, table.groupByteCount) > PageLayout.chunkByteCount {
            throw CambiumError(.limitExceeded, "The hierarchy of '\(table.root?.name ?? "")' has too many properties.")
        }
    }

    /// The table of a relationship's or attribute's own schema, where a root is known to exist.
    @inline(__always)
    func tableIndex(ofKnown root: EntityNumber) -> Int { tableByRoot[Int(root.rawValue)] }
}

/// What a column holds, and so which page kind its leaves have.
enum ColumnKind: Hashable, Sendable {
    /// Values of 1, 2, 4, 8 or 16 bytes with presence bits.
    case fixed(width: Int)
    case string
    /// Rows of a table; `noRow` where there is none.
    case rows
    /// Counts and offsets that start at zero.
    case numbers

    func emptyLeaf(_ constants: ConstantPages) -> PageRef {
        switch self {
        case .fixed(let width): constants.null(width: width)
        case .string: constants.nullString
        case .rows: constants.noRows
        case .numbers: constants.zeroes
        }
    }
}

/// A hash index over the values of a unique set.
final class IndexLayout: Sendable {
    let number: Int
    let set: UniqueSet
    /// The entities whose objects are in it.
    let family: Set<EntityNumber>
    let coversTable: Bool
    let slots: [Int]
    let kinds: [ColumnKind]
    /// For each component the bits that are the same value as zero.
    let negativeZeros: [UInt64]

    init(
        number: Int, set: UniqueSet, family: Set<EntityNumber>, coversTable: Bool, slots: [Int], kinds: [ColumnKind],
        negativeZeros: [UInt64]
    ) {
        self.number = number
        self.set = set
        self.family = family
        self.coversTable = coversTable
        self.slots = slots
        self.kinds = kinds
        self.negativeZeros = negativeZeros
    }
}

/// One table: the objects of a root entity and its sub-entities, or the edges of a link.
final class TableLayout: Sendable {
    static let createdSlot = 0
    static let changedSlot = 1
    /// The serial of the object that a row is a copy of.
    static let sourceSlot = 2
    /// The virtual page of each row, in groups that several share.
    static let virtualPageSlot = 3
    /// Rows are numbered with 32 bits, the last of which says that there is none.
    static let rowCountMax = UInt64(UInt32.max)
    /// As many entities are found faster without hashing.
    private static let comparedCountMax = 16
    static let groupCountMax = Int(rowCountMax / UInt64(PageLayout.fanOut))

    let index: Int
    /// Nil for a table of edges.
    let root: Entity?
    let columns: [ColumnKind]
    /// The number of the concrete entity; nil where the hierarchy has one entity only.
    let entitySlot: Int?
    let indexes: [IndexLayout]
    /// For each column, the indexes that it is a part of.
    let indexesOfSlot: [[Int]]
    /// The entities of the hierarchy, in the order of their counts in the table page.
    let entities: [EntityNumber]
    private let places: [EntityNumber: Int]
    private let slotOfProperty: [Int32]
    private let typeOfProperty: [AttributeType]
    private let nameOfProperty: [SchemaName]

    init(_ draft: TableDraft) {
        index = draft.index
        root = draft.root
        columns = draft.columns
        entitySlot = draft.entitySlot
        indexes = draft.indexes
        entities = draft.entities
        slotOfProperty = draft.slotOfProperty
        typeOfProperty = draft.typeOfProperty
        nameOfProperty = draft.nameOfProperty
        var indexesOfSlot = [[Int]](repeating: [], count: draft.columns.count)
        for index in draft.indexes { for slot in index.slots { indexesOfSlot[slot].append(index.number) } }
        self.indexesOfSlot = indexesOfSlot
        places = Dictionary(uniqueKeysWithValues: draft.entities.enumerated().map { ($1, $0) })
    }

    /// The column of an attribute of this hierarchy.
    @inline(__always) func slot(of property: PropertyNumber) -> Int { Int(slotOfProperty[Int(property.rawValue)]) }

    /// The type of an attribute of this hierarchy.
    @inline(__always) func type(of property: PropertyNumber) -> AttributeType { typeOfProperty[Int(property.rawValue)] }

    /// Whether an attribute of this hierarchy has this number and name.
    func hasSlot(for property: PropertyNumber, _ name: SchemaName) -> Bool {
        let number = Int(property.rawValue)
        return number < slotOfProperty.count && slotOfProperty[number] >= 0 && nameOfProperty[number].isSame(as: name)
    }

    var groupByteCount: Int { GroupLayout.columnsOffset + 4 * columns.count }
    var pageByteCount: Int { TablePage.indexesOffset + TablePage.indexStride * indexes.count + 8 * entities.count }
    func countOffset(of entity: EntityNumber) -> Int {
        let place = entities.count <= Self.comparedCountMax ? entities.firstIndex(of: entity) : places[entity]
        return TablePage.indexesOffset + TablePage.indexStride * indexes.count + 8 * (place ?? 0)
    }
}

/// Offsets in the page of a group of 128 rows.
enum GroupLayout {
    static let virtualPageOffset = 16
    /// In the place of the virtual page: rows of several lie in the group, and a column tells of which each is.
    static let isShared = UInt32.max
    static let liveCountOffset = 20
    static let provenanceOffset = 24
    static let liveBitsOffset = 32
    static let stubBitsOffset = 48
    static let columnsOffset = 64
}

/// Offsets in the page of a table.
enum TablePage {
    static let rowsOffset = 16
    static let virtualPagesOffset = 24
    static let nextSerialOffset = 32
    static let liveCountOffset = 40
    static let groupCountOffset = 48
    static let freeCountOffset = 52
    static let freeOffset = 56
    static let indexesOffset = 64
    static let indexStride = 24
    static let indexBitsOffset = 8
    static let indexEntryCountOffset = 16
}

/// Offsets in the page that everything else hangs from.
enum DirectoryPage {
    static let transactionOffset = 16
    /// A vector: how many cells beside the first refer to a blob, by the place of its head. Absent for most.
    static let sharedBlobsOffset = 24
    static let hashKeyOffset = 32
    static let tablesOffset = hashKeyOffset + MemoryLayout<HashKey>.stride

    /// Where the reference of the register is; nil if the layout has none.
    static func registerOffset(_ layout: GraphLayout) -> Int? { layout.hasRegister ? tablesOffset + 4 * layout.tables.count : nil }

    /// Where the reference of the directory of ordered indexes is; nil if the layout has none.
    static func indexesOffset(_ layout: GraphLayout) -> Int? {
        layout.ordered.isEmpty ? nil : tablesOffset + 4 * (layout.tables.count + (layout.hasRegister ? 1 : 0))
    }

    static func byteCount(_ layout: GraphLayout) -> Int {
        tablesOffset + 4 * (layout.tables.count + (layout.hasRegister ? 1 : 0) + (layout.ordered.isEmpty ? 0 : 1))
    }
}
