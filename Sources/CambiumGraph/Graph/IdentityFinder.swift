internal import CMachine
public import CambiumModel

/// Finds many objects of one entity by identity in one graph: the addresses of buckets and keys are looked up only once.
///
/// ```swift
/// let packages = graph.finder(package)!
/// for name in names { print(packages.find(name) != nil) }
/// ```
public struct IdentityFinder {
    private let buckets: [UnsafeMutableRawPointer?]
    private let shift: UInt64
    private let hasher: KeyHasher
    let keys: LeafDirectory
    private let rows: Rows
    private let table: Int
    private let slot: Int
    let kind: ColumnKind
    /// Whether a text can be an identity. The bytes of a decimal number are stored in the same way as those of a text, but have another
    /// meaning.
    let takesTexts: Bool
    private let isWholeTable: Bool
    private let entity: Entity
    private let type: AttributeType
    /// Keeps alive the pages to which the addresses in `buckets`, `hasher` and `keys` point.
    private let version: Version

    init?(_ entity: Entity, _ version: Version) {
        guard let entity = version.layout.own(entity), let type = entity.identityType, let index = version.layout.identityIndex(entity)
        else { return nil }
        let reader = version.reader
        table = index.table
        slot = index.layout.slots[0]
        kind = index.layout.kinds[0]
        takesTexts = kind == .string && type != .decimal
        let record = reader.tablePage(table).index(index.layout.number)
        let (directory, bits) = (record.directory, record.bits)
        buckets = (0..<1 << bits).map { slot in
            let page = directory.get(slot, reader.chunks)
            return page == 0 ? nil : reader.chunks[page]
        }
        shift = UInt64(63 - bits)
        hasher = reader.hasher
        keys = LeafDirectory(reader, table, slot, kind, version.space.constants)
        rows = reader.rows(table)
        isWholeTable = version.layout.tables[table].entities.count == 1
        self.entity = entity
        self.type = type
        self.version = version
    }

    /// Returns the object whose identity is a string, URI, JSON or data that has the bytes of `text` in UTF-8. Returns `nil` if there is no
    /// such object. Complexity: O(bytes of the text) expected.
    public func find(_ text: String) -> ObjectPlace? {
        if !takesTexts { return nil }
        if let place = text.utf8.withContiguousStorageIfAvailable({ find(key: UnsafeRawBufferPointer($0)) }) { return place }
        return findInSpan(text)
    }

    /// Does the same as `find(_:)`, for a text whose UTF-8 bytes are not stored contiguously. A separate function keeps the usual path
    /// short.
    @inline(never) private func findInSpan(_ text: String) -> ObjectPlace? {
        text.utf8Span.span.bytes.withUnsafeBytes { find(key: $0) }
    }

    @inline(never) private func find(key: UnsafeRawBufferPointer) -> ObjectPlace? { find(key, hash(key)) }

    /// Calls `body` with the bytes of a text in UTF-8. Does not retain the text, because an atomic operation would keep the processor from
    /// beginning the next lookup while this lookup waits for memory.
    @inline(__always) static func withBytes<Result>(of text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
        return text.utf8Span.span.bytes.withUnsafeBytes(body)
    }

    /// Returns the object whose identity is this whole number. Returns `nil` if there is no such object, or if the identity is not a whole
    /// number. Complexity: O(1) expected.
    public func find(_ number: Int64) -> ObjectPlace? { cell(number).flatMap { find($0, hash($0)) } }

    // MARK: Parts of a lookup

    @inline(__always) func hash(_ key: UnsafeRawBufferPointer) -> UInt64 { hasher.hash(key) }

    @inline(__always) func find(_ key: UnsafeRawBufferPointer, _ hash: UInt64) -> ObjectPlace? {
        if let row = likelyRow(hash) {
            let leaf = keys.leaf(row)
            StringLeaf(leaf).prefetchLikelyBytes(row, byteCount: key.count)
            if StringLeaf(leaf).hasInlineBytes(row, key), isWholeTable { return ObjectPlace(table: table, row: row) }
        }
        return search(key, hash)
    }

    /// Returns a number as a value of the identity, or `nil` if the identity cannot have this value.
    @inline(__always) func cell(_ number: Int64) -> Cell? {
        guard case .fixed(let low, let high)? = StoredForm(.int(number), type: type) else { return nil }
        return .fixed(low, high)
    }

    @inline(__always) func hash(_ cell: Cell) -> UInt64 { hasher.hash(cell) }

    @inline(__always) func find(_ cell: Cell, _ hash: UInt64) -> ObjectPlace? {
        if let row = likelyRow(hash), rows.equals(row, slot, kind, cell), isWholeTable { return ObjectPlace(table: table, row: row) }
        return search(cell, hash)
    }

    /// Returns the bucket for the entries with a hash, or `nil` if the index has no such bucket.
    @inline(__always) func bucket(_ hash: UInt64) -> UnsafeMutableRawPointer? {
        // An index of one bucket needs a shift by 64 bits, but `&>>` shifts by at most 63 bits. So the first bit is shifted separately.
        buckets[Int((hash &>> 1) &>> shift)]
    }

    /// Returns the first row with the fragment of a hash in the home block of this hash. This row is nearly always the wanted row, so most
    /// lookups need no loop. A loop would keep its state on the stack, and a lookup with fewer instructions overlaps with the next one.
    @inline(__always) private func likelyRow(_ hash: UInt64) -> UInt32? {
        guard let page = bucket(hash) else { return nil }
        // A block extends over two or three cache lines. The search reads the first line now, and this prefetch lets the processor load the
        // last line at the same time.
        Bucket(page).prefetchHomeEnd(of: hash)
        return Bucket(page).firstHomeRow(Bucket.fragment(hash))
    }

    @inline(never) private func search(_ key: UnsafeRawBufferPointer, _ hash: UInt64) -> ObjectPlace? {
        search(hash) { Rows.hasBytes(keys.leaf($0), $0, key, rows.chunks) }
    }

    @inline(never) private func search(_ cell: Cell, _ hash: UInt64) -> ObjectPlace? {
        search(hash) { rows.equals($0, slot, kind, cell) }
    }

    @inline(__always) private func search(_ hash: UInt64, where isEqual: (UInt32) -> Bool) -> ObjectPlace? {
        var page = bucket(hash)
        var overflowCount = 0
        while let start = page {
            let bucket = Bucket(start)
            if let row = bucket.firstRow(Bucket.fragment(hash), where: isEqual) {
                if !isWholeTable, !isOfFamily(row) { return nil }
                return ObjectPlace(table: table, row: row)
            }
            if bucket.overflow == 0 { return nil }
            rows.chunks.countOverflow(&overflowCount)
            page = rows.chunks[bucket.overflow]
        }
        return nil
    }

    @inline(never) private func isOfFamily(_ row: UInt32) -> Bool {
        entity.family.contains(rows.entity(row, version.layout.tables[table]))
    }
}

extension Graph {
    /// Resolves the identity of an entity for finding many objects. Returns `nil` if the identity is not exactly one attribute.
    ///
    /// Complexity: O(objects of the hierarchy / 64).
    public func finder(_ entity: Entity) -> IdentityFinder? { IdentityFinder(entity, version) }
}

extension IdentityFinder {
    /// Returns the object of each identity of a list. The result has `nil` for each text for which `find(_:)` returns `nil`.
    ///
    /// Several lookups wait for memory at the same time, so the call takes less time than one call to `find(_:)` for each identity.
    /// Complexity: O(list).
    public func find(_ texts: [String]) -> [ObjectPlace?] {
        guard takesTexts else { return texts.map { _ in nil } }
        return places(texts.count) { number in
            Self.withBytes(of: texts[number]) { hash($0) }
        } find: { number, hash in
            Self.withBytes(of: texts[number]) { find($0, hash) }
        }
    }

    /// Returns the object of each identity of a list. The result has `nil` for an identity for which `find(_:)` returns `nil`. Complexity:
    /// O(list).
    public func find(_ numbers: [Int64]) -> [ObjectPlace?] {
        // A number that does not fit the identity has no hash. Its lookup uses the hash 0, and then finds no object.
        places(numbers.count) {
            cell(numbers[$0]).map(hash) ?? 0
        } find: { number, hash in
            cell(numbers[number]).flatMap { find($0, hash) }
        }
    }

    /// The number of lookups for which memory is prefetched at the same time.
    private static let stepCount = 32

    /// A lookup in progress: the hash of the wanted identity, and the first row that the index has for this hash.
    private struct Step {
        let hash: UInt64
        var row = noRow
    }

    /// Looks up several identities together: does one step of the lookup for all of them, then the next step. Each step prefetches the
    /// memory that the next step reads.
    private func places(
        _ count: Int, hash: (Int) -> UInt64, find: (_ number: Int, _ hash: UInt64) -> ObjectPlace?
    ) -> [ObjectPlace?] {
        var places: [ObjectPlace?] = []
        places.reserveCapacity(count)
        withUnsafeTemporaryAllocation(of: Step.self, capacity: Self.stepCount) { steps in
            for first in stride(from: 0, to: count, by: Self.stepCount) {
                let part = 0..<min(Self.stepCount, count - first)
                for place in part {
                    let hash = hash(first + place)
                    steps.initializeElement(at: place, to: Step(hash: hash))
                    if let page = bucket(hash) { Bucket(page).prefetchHome(of: hash) }
                }
                for place in part { steps[place].row = prefetchCell(steps[place].hash) }
                for place in part { prefetchKey(steps[place].row) }
                for place in part { places.append(find(first + place, steps[place].hash)) }
            }
        }
        return places
    }

    /// Prefetches the cell of the first row that the index has for a hash. Returns this row, or `noRow` if the index has no row.
    @inline(__always) private func prefetchCell(_ hash: UInt64) -> UInt32 {
        guard let page = bucket(hash), let row = Bucket(page).firstRow(Bucket.fragment(hash), where: { _ in true }) else { return noRow }
        let leaf = keys.leaf(row)
        if case .fixed(let width) = kind {
            FixedLeaf(leaf).prefetch(row, width: width)
        } else {
            cmachine_prefetch(StringLeaf(leaf).cells + Int(row & PageLayout.rowMask))
        }
        return row
    }

    /// Prefetches the bytes of a row's key, if the key is a text.
    @inline(__always) private func prefetchKey(_ row: UInt32) {
        guard row != noRow, kind == .string else { return }
        let leaf = keys.leaf(row)
        let cell = StringLeaf(leaf).cell(row)
        if cell == 0 || StringLeaf.isBlob(cell) { return }
        let bytes = StringLeaf(leaf).inlineBytes(cell)
        guard let start = bytes.baseAddress, let last = bytes.indices.last else { return }
        cmachine_prefetch(start)
        cmachine_prefetch(start + last)
    }
}
