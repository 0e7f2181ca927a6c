import CambiumBytes
public import CambiumModel
import Glibc

extension Graph {
    /// Returns a sum of hashes modulo 2^128. The sum has a term for each object, each value that is neither null nor derived, and each
    /// link. Docs/Formats/FORMAT.md specifies the exact bytes.
    ///
    /// The digest depends neither on the order of the changes that led to the graph, nor on the pages and rows that store it. Complexity:
    /// O(graph).
    public func digest() -> GraphDigest { Digester(reader: reader, layout: layout).digest() }

    /// The serial that the next object of each hierarchy gets. The digest does not depend on it, because it reports the history: an object
    /// that was inserted and deleted leaves no other trace. A comparison of two graphs of one moment compares it, too.
    package var nextSerials: [EntityNumber: UInt64] {
        var found: [EntityNumber: UInt64] = [:]
        for table in layout.tables { if let root = table.root { found[root.number] = reader.nextSerial(table.index) } }
        return found
    }
}

/// Computes the digest of the graph that a reader sees.
struct Digester {
    let reader: Reader
    let layout: GraphLayout

    private var schema: Schema { layout.schema }

    func digest() -> GraphDigest {
        var sum = DigestSum()
        for table in layout.tables {
            guard let root = table.root else { continue }
            addObjects(of: table, root.number, to: &sum)
        }
        for entity in schema.entities {
            for relationship in entity.relationships where relationship.entity == entity.number {
                addLinks(relationship, to: &sum)
            }
        }
        return GraphDigest(high: sum.high, low: sum.low)
    }

    // MARK: Objects

    /// An attribute that the objects of an entity have, and its column.
    struct AttributeSlot {
        let property: UInt16
        let slot: Int
    }

    func attributeSlots(of number: EntityNumber, _ table: TableLayout) -> [AttributeSlot] {
        // Derived values are omitted, because other values determine them. A later version of Unicode may also compute them differently.
        let attributes = (schema.entity(number)?.attributes ?? []).filter { !$0.isDerived }
        return attributes.map { AttributeSlot(property: $0.number.rawValue, slot: table.slot(of: $0.number)) }
    }

    private func addObjects(of table: TableLayout, _ root: EntityNumber, to sum: inout DigestSum) {
        let rows = reader.rows(table.index)
        var slots: [EntityNumber: [AttributeSlot]] = [:]
        for number in table.entities { slots[number] = attributeSlots(of: number, table) }
        var local = sum
        // Most rows are of the same entity as the row before.
        var (last, lastSlots) = (root, slots[root] ?? [])
        reader.forEachRow(of: table) { row in
            let entity = rows.entity(row, table)
            if entity != last { (last, lastSlots) = (entity, slots[entity] ?? []) }
            add(row, rows, table, root, entity, lastSlots, to: &local)
        }
        sum = local
    }

    /// Adds the hashes of an object and of its values to the sum.
    @inline(__always)
    func add(
        _ row: UInt32, _ rows: Rows, _ table: TableLayout, _ root: EntityNumber, _ entity: EntityNumber, _ slots: [AttributeSlot],
        to sum: inout DigestSum
    ) {
        let serial = rows.serial(row)
        let kind = UInt64(entity.rawValue) << 1 | (rows.isStub(row) ? 1 : 0)
        sum.add(tag: .object, root, serial, property: 0, .fixed(kind))
        for each in slots {
            rows.withCell(row, each.slot, table.columns[each.slot]) { cell in
                if cell.kind != .null { sum.add(tag: .attribute, root, serial, property: each.property, cell) }
            }
        }
    }

    // MARK: Links

    private func addLinks(_ relationship: Relationship, to sum: inout DigestSum) {
        let end = layout.end(relationship)
        guard isListingEnd(relationship, end) else { return }
        let table = layout.tables[layout.tableIndex(ofKnown: relationship.root)]
        let targets = reader.rows(layout.tableIndex(ofKnown: relationship.destinationRoot))
        let rows = reader.rows(table.index)
        var local = sum
        reader.forEachRow(of: table) { row in addMembers(of: row, rows.serial(row), relationship, end, targets, to: &local) }
        sum = local
    }

    /// Adds the hashes of an object's members in one relationship to the sum.
    @inline(__always)
    func addMembers(
        of row: UInt32, _ serial: UInt64, _ relationship: Relationship, _ end: EndLayout, _ targets: Rows, to sum: inout DigestSum
    ) {
        var index: UInt64 = 0
        reader.forEachMember(end, owner: row) { target in
            sum.addMember(targets.serial(target), at: index, of: serial, relationship)
            index += 1
        }
    }

    /// Returns whether the digest contains the members of the objects at this end. The digest always contains the members at an ordered
    /// end, with their indexes. If neither end is ordered, the digest contains the members at one end only. This end is the to-one end, or
    /// the first end if both ends are of the same kind.
    func isListingEnd(_ relationship: Relationship, _ end: EndLayout) -> Bool { relationship.isOrdered || isFirstListingEnd(end) }

    private func isFirstListingEnd(_ end: EndLayout) -> Bool {
        switch end.layout {
        case .pair: end.end == 0
        case .list(let list, let childEnd): end.end == childEnd && !list.isOrdered
        case .edges(_, let lists, _): end.end == 0 && !lists[1].isOrdered
        }
    }
}

/// A sum of hashes. Each term is XXH3-128 of a tag, the root entity, the property, the serial and the value's stored bytes.
struct DigestSum {
    enum Tag: UInt16 {
        case object = 2
        case attribute = 3
        case link = 4
        case member = 5
    }

    private(set) var high: UInt64 = 0
    private(set) var low: UInt64 = 0
    private var buffer: [UInt8] = [UInt8](repeating: 0, count: 32)

    /// Adds the hash of one member to the sum. The member belongs to a relationship of the object `serial`.
    @inline(__always)
    mutating func addMember(_ target: UInt64, at index: UInt64, of serial: UInt64, _ relationship: Relationship) {
        let cell = Cell.fixed(target, relationship.isOrdered ? index : 0)
        let tag: Tag = relationship.isOrdered ? .member : .link
        add(tag: tag, relationship.root, serial, property: relationship.number.rawValue, cell)
    }

    mutating func add(tag: Tag, _ root: EntityNumber, _ serial: UInt64, property: UInt16, _ cell: Cell) {
        let byteCount = 14 + (cell.kind == .fixed ? 16 : cell.kind == .bytes ? cell.bytes.count : 0)
        if buffer.count < byteCount { buffer = [UInt8](repeating: 0, count: byteCount * 2) }
        let hash = buffer.withUnsafeMutableBytes { buffer in
            buffer.storeBytes(of: tag.rawValue.littleEndian, toByteOffset: 0, as: UInt16.self)
            buffer.storeBytes(of: root.rawValue.littleEndian, toByteOffset: 2, as: UInt16.self)
            buffer.storeBytes(of: property.littleEndian, toByteOffset: 4, as: UInt16.self)
            buffer.storeBytes(of: serial.littleEndian, toByteOffset: 6, as: UInt64.self)
            if cell.kind == .fixed {
                buffer.storeBytes(of: cell.low.littleEndian, toByteOffset: 14, as: UInt64.self)
                buffer.storeBytes(of: cell.high.littleEndian, toByteOffset: 22, as: UInt64.self)
            } else if cell.kind == .bytes, let source = cell.bytes.baseAddress, let target = buffer.baseAddress {
                memcpy(target + 14, source, cell.bytes.count)
            }
            return XXH3.hash128(UnsafeRawBufferPointer(rebasing: buffer[0..<byteCount]), seed: 0)
        }
        let (sum, carry) = low.addingReportingOverflow(hash.low)
        low = sum
        high = high &+ hash.high &+ (carry ? 1 : 0)
    }
}
