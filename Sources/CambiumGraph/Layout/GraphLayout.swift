import CambiumBytes
package import CambiumModel
import Synchronization

/// The form of a schema in pages: the tables, their columns, and the way in which each link is stored.
package final class GraphLayout: Sendable {
    package let schema: Schema
    /// The number of this layout in the process. The number shows whether a handle was resolved for this layout or must be resolved again.
    let number = GraphLayout.count.wrappingAdd(1, ordering: .relaxed).newValue
    private static let count = Atomic<UInt64>(0)
    /// A table for each root entity, in the order of `schema.roots`, and then one for each link that is stored as edges.
    let tables: [TableLayout]
    /// The number of hash indexes of all tables.
    let indexCount: Int
    /// The layouts of the links, in the order of `schema.links`.
    let links: [LinkLayout]
    /// The two ends of each link, in the order of `links`.
    let ends: [EndLayout]
    /// For each table, the ends at its objects, in the order of `ends`. Code that changes one object looks only at these ends, however many
    /// links the schema has.
    let endsByTable: [[EndLayout]]
    /// For each end, in the order of `ends`: the properties by which a draft decides which changed rows it must record.
    let marks: [EndMark]
    /// For each end, in the order of `ends`: whether an object at this end is deleted if it loses its last owner at the other end. Empty if
    /// the schema has no such rule.
    let ownedEnds: [Bool]
    /// For each table, the relationships with a minimum or a maximum number of members.
    private let countedProperties: [Set<PropertyNumber>]
    private let tableByRoot: [Int]
    /// The root entity of each table of objects. These tables precede the tables of edges.
    private let roots: [EntityNumber]
    /// For each entity number, the index over the entity's identity.
    private let identityByEntity: [IdentityIndex?]
    /// Whether the directory page refers to a register, the inner graph of requests and labels. A register
    /// does not contain another register.
    package let hasRegister: Bool
    /// The ordered indexes. If there are any, the directory page refers to an index directory.
    let ordered: [OrderedIndexLayout]
    /// The ordered indexes of each table that has any.
    let orderedByTable: [(table: Int, indexes: [OrderedIndexLayout])]

    let derived: DerivedLayout
    /// For each derived column, the ordered index of its members; `nil` if the column has none.
    let memberIndexes: [OrderedIndexLayout?]

    /// The meanings of the columns' values; `nil` until a comparison of two graphs first needs them.
    private let knownMeanings = Guarded<ColumnMeanings?>(nil)

    /// The objects that `derivedObject` has created, by the type for which they were requested.
    private let derivedObjects = Guarded<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// Returns the object that `make` creates from the layout for a type. Later calls for the type return the same object, unless several
    /// threads create it at the same time.
    ///
    /// `make` may call this method for other types.
    package func derivedObject<Object: AnyObject & Sendable, Failure: Error>(
        for type: Any.Type, _ make: () throws(Failure) -> Object
    ) throws(Failure) -> Object {
        let key = ObjectIdentifier(type)
        if let known = derivedObjects.withLock({ $0[key] }) as? Object { return known }
        let made = try make()
        derivedObjects.withLock { $0[key] = made }
        return made
    }

    struct IdentityIndex: Sendable {
        let table: Int
        let layout: IndexLayout
    }

    package init(_ schema: Schema, hasRegister: Bool = true) {
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
        var endsByTable = [[EndLayout]](repeating: [], count: drafts.count)
        for (number, link) in schema.links.enumerated() {
            endsByTable[byRoot[Int(link.first.root.rawValue)]].append(ends[2 * number])
            endsByTable[byRoot[Int(link.second.root.rawValue)]].append(ends[2 * number + 1])
        }
        self.endsByTable = endsByTable
        let allEnds = ends
        for (index, root) in schema.roots.enumerated() {
            drafts[index].addIndexes(hierarchies[root.number] ?? []) { allEnds[2 * $0.link + $0.end].target }
        }
        let tables = drafts.map(TableLayout.init)
        self.tables = tables
        indexCount = tables.reduce(0) { $0 + $1.indexes.count }
        let derived = DerivedLayout(schema, tables: tables, ends: ends, tableOf: { byRoot[Int($0.rawValue)] })
        self.derived = derived
        var ordered = OrderedIndexLayout.all(of: schema) { tables[byRoot[Int($0.rawValue)]] }
        memberIndexes = OrderedIndexLayout.addMembers(derived, tables: tables, to: &ordered)
        self.ordered = ordered
        let indexes = ordered
        orderedByTable = Set(ordered.map(\.table)).sorted().map { table in (table, indexes.filter { $0.table == table }) }
        let relationships = drafts.map { draft in (draft.root.flatMap { hierarchies[$0.number] } ?? []).flatMap(\.relationships) }
        let countedProperties = relationships.map { relationships in
            Set(relationships.filter { $0.minCount > 0 || ($0.isToMany && $0.maxCount != nil) }.map(\.number))
        }
        let requiredProperties = relationships.map { relationships in Set(relationships.filter { $0.minCount > 0 }.map(\.number)) }
        self.countedProperties = countedProperties
        marks = schema.links.enumerated().flatMap { number, link in
            [link.first, link.second].enumerated().map { side, end in
                let table = byRoot[Int(end.root.rawValue)]
                return EndMark(
                    table: table, isVisible: end.property != nil,
                    isCounted: end.property.map { countedProperties[table].contains($0) } ?? false,
                    hasMinimum: end.property.map { requiredProperties[table].contains($0) } ?? false,
                    isDerivedFrom: !derived.isEmpty && !derived.ofEnd[2 * number + side].isEmpty)
            }
        }
        ownedEnds = GraphLayout.ownedEnds(of: schema) { $0.orphanRule == .delete ? 1 : 0 }
        tableByRoot = byRoot
        var identities = [IdentityIndex?](repeating: nil, count: Int(schema.entities.map(\.number.rawValue).max() ?? 0) + 1)
        for table in tables {
            for index in table.indexes where index.set.isIdentity {
                for entity in index.family { identities[Int(entity.rawValue)] = IdentityIndex(table: table.index, layout: index) }
            }
        }
        identityByEntity = identities
    }

    /// Returns the index over the identity of an entity, or `nil` if the entity neither has nor inherits an identity.
    @inline(__always) func identityIndex(_ entity: Entity) -> IdentityIndex? {
        let number = Int(entity.number.rawValue)
        return number < identityByEntity.count ? identityByEntity[number] : nil
    }

    /// The meanings of the columns' values, for a comparison of two graphs. Complexity: O(columns) for the first call, then O(1).
    var meanings: ColumnMeanings {
        knownMeanings.withLock { known in
            if let known { return known }
            let meanings = ColumnMeanings(self)
            known = meanings
            return meanings
        }
    }

    /// Returns the table that contains the objects of a root entity, or `nil` if the schema has no root entity with this number.
    func table(of root: EntityNumber) -> TableLayout? {
        let number = Int(root.rawValue)
        guard number < tableByRoot.count, tableByRoot[number] >= 0 else { return nil }
        return tables[tableByRoot[number]]
    }

    /// Returns the root entity of a table of objects.
    @inline(__always) func root(ofTable index: Int) -> EntityNumber { roots[index] }

    /// Returns whether the graph has a table of objects with this index.
    @inline(__always) func hasObjects(inTable index: Int) -> Bool { index < roots.count }

    @inline(__always)
    func needsCount(_ table: Int, _ property: PropertyNumber) -> Bool {
        !countedProperties[table].isEmpty && countedProperties[table].contains(property)
    }

    /// Throws `.limitExceeded` if the directory page, or a page that a table needs, would be larger than a page can be.
    func checkPageSizes() throws(CambiumError) {
        guard directoryByteCount <= PageLayout.chunkByteCount else {
            throw CambiumError(
                .limitExceeded, "A schema has at most 16,000 root entities and many-to-many links. Declare fewer of them.")
        }
        for table in tables where max(table.pageByteCount, table.groupByteCount) > PageLayout.chunkByteCount {
            throw CambiumError(
                .limitExceeded, "The hierarchy of '\(table.root?.name ?? "")' has too many properties. Declare fewer properties.")
        }
    }

    /// Returns the index of a root entity's table. The entity must exist in this schema. Callers get its number from a relationship or an
    /// attribute of the schema.
    @inline(__always)
    func tableIndex(ofKnown root: EntityNumber) -> Int { tableByRoot[Int(root.rawValue)] }
}

/// The kind of a column's content, which determines the kind of the pages that store the column.
enum ColumnKind: Hashable, Sendable {
    /// Values of 1, 2, 4, 8 or 16 bytes. One bit for each row states whether the row has a value.
    case fixed(width: Int)
    case string
    /// Rows of a table, stored as links; `noRow` means no row.
    case rows
    /// Numbers that are 0 until they are set, such as counts and the offsets of provenance.
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

// MARK: - References in the directory page

extension GraphLayout {
    /// The place of the reference to the register (requests and labels), or `nil` if the layout has no register.
    var registerPlace: Int? { hasRegister ? tables.count : nil }

    /// The place of the reference to the directory of ordered indexes, or `nil` if the layout has no ordered indexes.
    var indexesPlace: Int? { ordered.isEmpty ? nil : tables.count + (hasRegister ? 1 : 0) }

    var directoryByteCount: Int {
        DirectoryPage.byteCount(referenceCount: tables.count + (hasRegister ? 1 : 0) + (ordered.isEmpty ? 0 : 1))
    }
}

/// The ends of links whose objects are owned by the objects at the other end.
extension GraphLayout {
    /// Returns, for each end of each link, whether the objects at this end are owned by the objects at the other end. Returns an empty
    /// array if no end is owned.
    ///
    /// - Parameter claim: Returns the strength with which a relationship makes its objects the owners of its members; 0 if it does not. Of
    ///   a relationship and its inverse, the stronger one decides. If both are equally strong, neither object owns the other.
    static func ownedEnds(of schema: Schema, _ claim: (Relationship) -> Int) -> [Bool] {
        var owned = [Bool](repeating: false, count: 2 * schema.links.count)
        for (number, link) in schema.links.enumerated() {
            let claims = [link.first, link.second].map { end in
                end.property.flatMap { schema.relationship($0, ofRoot: end.root) }.map(claim) ?? 0
            }
            owned[2 * number] = claims[1] > claims[0]
            owned[2 * number + 1] = claims[0] > claims[1]
        }
        return owned.contains(true) ? owned : []
    }

    /// A hash of everything that determines the meaning of pages. If the fingerprint of a checkpoint differs from this one, the
    /// checkpoint's pages cannot be used, and the log is replayed instead.
    package var fingerprint: UInt64 {
        let sizes = [
            PageLayout.fanOut, Bucket.blockCount, Bucket.blockCapacity, GroupPage.byteCount(columnCount: 0),
            TablePage.byteCount(indexCount: 0, entityCount: 0), DirectoryPage.byteCount(referenceCount: 0),
        ]
        var parts = sizes.map(String.init)
        parts += ConstantPages.stored.all.map(String.init)
        for table in tables {
            parts.append(
                "table \(list(table.entities.map(\.rawValue))) \(list(table.columns.map(\.fingerprintText))) \(table.entitySlot ?? -1)")
            for index in table.indexes {
                parts.append(
                    "index \(list(index.slots)) \(list(index.kinds.map(\.fingerprintText))) \(list(index.family.map(\.rawValue).sorted()))")
            }
        }
        for link in links { parts.append("link \(link.fingerprintText)") }
        if hasRegister { parts.append("register \(Register.layout.fingerprint)") }
        // The hash does not depend on which ordered indexes exist, because the index directory in the pages states them.
        if !ordered.isEmpty { parts.append("ordered 1 \(OrderedNode.byteCount) \(OrderedNode.keyByteCountMax)") }
        // Stored buckets can be used only with the hash function that filled them.
        parts.append("hash \(KeyHasher.fingerprint)")
        return Array(parts.joined(separator: "\n").utf8).withUnsafeBytes { XXH3.hash64($0, seed: 0) }
    }

    private func list(_ elements: [some CustomStringConvertible]) -> String {
        "[" + elements.lazy.map(\.description).joined(separator: ", ") + "]"
    }
}

// The texts below must never change, because the fingerprints of stored checkpoints are computed from them. They equal the texts that
// Swift's reflection returned when the format was defined. The code does not call reflection: a later version of Swift may return other
// texts, and opening a store would take longer.

extension ColumnKind {
    var fingerprintText: String {
        switch self {
        case .fixed(let width): "CambiumGraph.ColumnKind.fixed(width: \(width))"
        case .string: "CambiumGraph.ColumnKind.string"
        case .rows: "CambiumGraph.ColumnKind.rows"
        case .numbers: "CambiumGraph.ColumnKind.numbers"
        }
    }
}

extension LinkLayout {
    var fingerprintText: String {
        switch self {
        case .pair(let tables, let slots): "pair(tables: \(Self.text(tables)), slots: \(Self.text(slots)))"
        case .list(let list, let childEnd): "list(\(list.fingerprintText), childEnd: \(childEnd))"
        case .edges(let table, let lists, let isSymmetric):
            "edges(table: \(table), lists: CambiumGraph.Pair<CambiumGraph.ListLayout>(first: \(lists.first.fingerprintText), "
                + "second: \(lists.second.fingerprintText)), isSymmetric: \(isSymmetric))"
        }
    }

    private static func text(_ pair: Pair<Int>) -> String { "CambiumGraph.Pair<Swift.Int>(first: \(pair.first), second: \(pair.second))" }
}

extension ListLayout {
    fileprivate var fingerprintText: String {
        "CambiumGraph.ListLayout(ownerTable: \(ownerTable), memberTable: \(memberTable), ownerSlot: \(ownerSlot), "
            + "shape: CambiumGraph.ListLayout.Shape.\(shape.fingerprintText))"
    }
}

extension ListLayout.Shape {
    fileprivate var fingerprintText: String {
        switch self {
        case .chain(let first, let last, let count, let previous, let next):
            "chain(first: \(first), last: \(last), count: \(count), previous: \(previous), next: \(next))"
        case .tree(let root, let left, let right, let up, let size):
            "tree(root: \(root), left: \(left), right: \(right), up: \(up), size: \(size))"
        }
    }
}
