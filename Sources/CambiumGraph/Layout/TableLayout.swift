import CambiumModel

/// A hash index over the values of a unique set: attributes and to-one relationships that must be unique together.
final class IndexLayout: Sendable {
    /// A column of the index.
    struct Part: Sendable {
        let slot: Int
        let kind: ColumnKind
        /// The bits of -0.0, which an index treats as 0.0. The bits are zero for a type without -0.0.
        let negativeZero: UInt64
        /// The table of the targets of a to-one relationship; `nil` for an attribute.
        let targetTable: Int?
    }

    let number: Int
    let set: UniqueSet
    /// The entities whose objects are in the index.
    let family: Set<EntityNumber>
    let coversTable: Bool
    let slots: [Int]
    let kinds: [ColumnKind]
    let negativeZeros: [UInt64]
    /// For each column of the index, the table of the targets of a to-one relationship; `nil` for an attribute.
    let targetTables: [Int?]
    /// Whether the set contains a to-one relationship.
    let hasRelationship: Bool

    init(number: Int, set: UniqueSet, family: Set<EntityNumber>, coversTable: Bool, parts: [Part]) {
        self.number = number
        self.set = set
        self.family = family
        self.coversTable = coversTable
        slots = parts.map(\.slot)
        kinds = parts.map(\.kind)
        negativeZeros = parts.map(\.negativeZero)
        targetTables = parts.map(\.targetTable)
        hasRelationship = parts.contains { $0.targetTable != nil }
    }
}

/// One table: the objects of a root entity and its sub-entities, or the edges of a link.
final class TableLayout: Sendable {
    static let createdSlot = 0
    static let changedSlot = 1
    /// The column with the serial of each object's source, the object that a clone copied.
    static let sourceSlot = 2
    /// The column with the virtual page (a range of consecutive serials) of each row. Only groups with the objects of several virtual pages
    /// use this column.
    static let virtualPageSlot = 3
    /// The maximum number of rows. Rows have 32-bit numbers, and the largest number is reserved for `noRow`.
    static let rowCountMax = UInt64(UInt32.max)
    /// The number of entities up to which a linear search is faster than a hash table.
    private static let comparedCountMax = 16
    static let groupCountMax = Int(rowCountMax / UInt64(PageLayout.fanOut))

    let index: Int
    /// The root entity; `nil` for a table of edges.
    let root: Entity?
    let columns: [ColumnKind]
    /// The column with the number of the concrete entity; `nil` if the hierarchy has only one entity.
    let entitySlot: Int?
    let indexes: [IndexLayout]
    /// For each column, the numbers of the indexes that contain its values.
    let indexesOfSlot: [[Int]]
    /// Whether an index contains a to-one relationship.
    let hasIndexedLinks: Bool
    /// The entities of the hierarchy. The page of the table counts the objects of each entity in this order.
    let entities: [EntityNumber]
    private let places: [EntityNumber: Int]
    private let slotOfProperty: [Int32]
    private let typeOfProperty: [AttributeType]
    private let nameOfProperty: [SchemaName]
    /// For each attribute that is a sum of floating-point numbers, the column with the exact sum.
    let exactSlots: [PropertyNumber: Int]

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
        exactSlots = draft.exactSlots
        var indexesOfSlot = [[Int]](repeating: [], count: draft.columns.count)
        for index in draft.indexes { for slot in index.slots { indexesOfSlot[slot].append(index.number) } }
        self.indexesOfSlot = indexesOfSlot
        hasIndexedLinks = indexes.contains(where: \.hasRelationship)
        places = Dictionary(uniqueKeysWithValues: draft.entities.enumerated().map { ($1, $0) })
    }

    /// Returns the column of an attribute of this hierarchy.
    @inline(__always) func slot(of property: PropertyNumber) -> Int { Int(slotOfProperty[Int(property.rawValue)]) }

    /// Returns the column of an attribute, or `nil` if the hierarchy has no such attribute.
    @inline(__always) func slot(ifKnown property: PropertyNumber) -> Int? {
        let number = Int(property.rawValue)
        return number < slotOfProperty.count && slotOfProperty[number] >= 0 ? Int(slotOfProperty[number]) : nil
    }

    /// Returns the type of an attribute of this hierarchy.
    @inline(__always) func type(of property: PropertyNumber) -> AttributeType { typeOfProperty[Int(property.rawValue)] }

    /// Whether an attribute of this hierarchy has this number and name.
    func hasSlot(for property: PropertyNumber, _ name: SchemaName) -> Bool {
        let number = Int(property.rawValue)
        return number < slotOfProperty.count && slotOfProperty[number] >= 0 && nameOfProperty[number].isSame(as: name)
    }

    var groupByteCount: Int { GroupPage.byteCount(columnCount: columns.count) }
    var pageByteCount: Int { TablePage.byteCount(indexCount: indexes.count, entityCount: entities.count) }

    /// Returns the number of objects of an entity, in the page of the table.
    func count(of entity: EntityNumber, in page: TablePage) -> UnsafeMutablePointer<Int> {
        page.entityCounts(after: indexes.count) + (place(of: entity) ?? 0)
    }

    /// Returns the index of an entity in `entities`, or `nil` if the entity does not belong to the hierarchy. Complexity: O(1) expected.
    func place(of entity: EntityNumber) -> Int? {
        entities.count <= Self.comparedCountMax ? entities.firstIndex(of: entity) : places[entity]
    }
}
