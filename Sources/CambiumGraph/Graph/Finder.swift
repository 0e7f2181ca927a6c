public import CambiumModel

/// The identities of one entity of one graph, for finding many objects: where the index begins is looked up once.
///
///     let packages = graph.finder(package)!
///     for name in names { print(packages.find(name) != nil) }
public struct IdentityFinder {
    let finder: Finder
    /// Keeps the pages.
    let version: Version

    /// The object whose identity is a string, URI, JSON or data of these bytes in UTF-8; nil where there is none.
    public func find(_ text: String) -> ObjectPlace? { finder.find(text) }

    /// The object whose identity is this whole number; nil where there is none, or where the identity is no whole number.
    public func find(_ number: Int64) -> ObjectPlace? { finder.find(number) }
}

/// Finds objects by an identity of one attribute. It holds no pages: whoever made it does.
struct Finder {
    private let table: Int
    private let slot: Int
    private let kind: ColumnKind
    private let seed: UInt64
    private let directory: RadixVector
    private let shift: UInt64
    private let rows: Rows
    private let isWholeTable: Bool
    private let entity: Entity
    private let layout: GraphLayout

    /// Nil where the entity has no identity of one attribute.
    init?(_ entity: Entity, _ reader: Reader, _ layout: GraphLayout) {
        guard let index = layout.identityIndex(entity), index.layout.slots.count == 1 else { return nil }
        let place = reader.indexPlace(index.table, index.layout.number)
        let bits = place.load(fromByteOffset: TablePage.indexBitsOffset, as: UInt32.self)
        table = index.table
        slot = index.layout.slots[0]
        kind = index.layout.kinds[0]
        seed = UInt64(index.layout.number)
        directory = place.load(as: RadixVector.self)
        shift = UInt64(63 - bits)
        rows = reader.rows(table)
        isWholeTable = layout.tables[table].entities.count == 1
        self.entity = entity
        self.layout = layout
    }

    func find(_ text: String) -> ObjectPlace? {
        guard kind == .string else { return nil }
        return text.utf8Span.span.bytes.withUnsafeBytes { key in
            var hash = KeyHash(seed: seed)
            hash.add(key)
            return find(hash) { rows.hasBytes($0, slot, key) }
        }
    }

    func find(_ number: Int64) -> ObjectPlace? {
        guard case .fixed(let low, let high)? = StoredForm(.int(number), type: entity.identity[0].type) else { return nil }
        var hash = KeyHash(seed: seed)
        hash.add(low, high)
        return find(hash) { rows.equals($0, slot, kind, .fixed(low, high)) }
    }

    @inline(__always) private func find(_ hash: KeyHash, where isEqual: (UInt32) -> Bool) -> ObjectPlace? {
        // By one and the rest, because an index of one bucket would shift by all 64 bits.
        var page = directory.get(Int((hash.value &>> 1) &>> shift), rows.chunks)
        while page != 0 {
            let bucket = Bucket(rows.chunks[page])
            if let row = bucket.firstRow(Bucket.fragment(hash.value), where: isEqual) {
                if !isWholeTable, !isOfFamily(row) { return nil }
                return ObjectPlace(table: table, row: row)
            }
            page = bucket.overflow
        }
        return nil
    }

    @inline(never) private func isOfFamily(_ row: UInt32) -> Bool {
        entity.family.contains(rows.entity(row, layout.tables[table]))
    }
}

extension Graph {
    /// Finds objects of an entity by identity; nil where that is not one attribute.
    public func finder(_ entity: Entity) -> IdentityFinder? {
        Finder(entity, reader, layout).map { IdentityFinder(finder: $0, version: version) }
    }
}
