import CambiumBytes
public import CambiumModel

#if canImport(Glibc)
    import Glibc
#endif

extension Graph {
    /// The sum modulo 2^128 of a hash of every stored value: of each object's existence, each attribute that is not null,
    /// each link, and the next serial of each hierarchy. Docs/FORMAT.md has the exact bytes.
    ///
    /// Independent of the order in which things came about, of pages and of rows. Complexity: O(graph).
    public func digest() -> GraphDigest { Digester(reader: reader, layout: layout).digest() }
}

/// Adds up the digest of what a reader sees.
struct Digester {
    let reader: Reader
    let layout: GraphLayout

    private var schema: Schema { layout.schema }

    func digest() -> GraphDigest {
        var sum = DigestSum()
        for table in layout.tables {
            guard let root = table.root else { continue }
            sum.add(tag: .nextSerial, root.number, reader.nextSerial(table.index), property: 0, .null)
            addObjects(of: table, root.number, to: &sum)
        }
        for entity in schema.entities {
            for relationship in entity.relationships where relationship.entity == entity.number {
                addLinks(relationship, to: &sum)
            }
        }
        return GraphDigest(high: sum.high, low: sum.low)
    }

    private func addObjects(of table: TableLayout, _ root: EntityNumber, to sum: inout DigestSum) {
        let rows = reader.rows(table.index)
        var entities: [EntityNumber: [(property: UInt16, slot: Int)]] = [:]
        for number in table.entities {
            let attributes = schema.entity(number)?.attributes ?? []
            entities[number] = attributes.map { ($0.number.rawValue, table.slot(of: $0.number)) }
        }
        var local = sum
        reader.forEachRow(of: table) { row in
            let serial = rows.serial(row)
            let entity = rows.entity(row, table)
            let kind = UInt64(entity.rawValue) << 1 | (rows.isStub(row) ? 1 : 0)
            local.add(tag: .object, root, serial, property: 0, .fixed(kind))
            for (property, slot) in entities[entity] ?? [] {
                rows.withCell(row, slot, table.columns[slot]) { cell in
                    if cell.kind != .null { local.add(tag: .attribute, root, serial, property: property, cell) }
                }
            }
        }
        sum = local
    }

    /// Each end that is ordered tells the index of each member; else the to-one end, or the first one, tells for both.
    private func addLinks(_ relationship: Relationship, to sum: inout DigestSum) {
        let end = layout.end(relationship)
        let isTeller = relationship.isOrdered || isFirstTeller(end)
        guard isTeller else { return }
        let table = layout.tables[layout.tableIndex(ofKnown: relationship.root)]
        let targets = reader.rows(layout.tableIndex(ofKnown: relationship.destinationRoot))
        let rows = reader.rows(table.index)
        let tag: DigestSum.Tag = relationship.isOrdered ? .member : .link
        var local = sum
        reader.forEachRow(of: table) { row in
            let serial = rows.serial(row)
            var index: UInt64 = 0
            reader.forEachMember(end, owner: row) { target in
                let cell = Cell.fixed(targets.serial(target), relationship.isOrdered ? index : 0)
                local.add(tag: tag, relationship.root, serial, property: relationship.number.rawValue, cell)
                index += 1
            }
        }
        sum = local
    }

    private func isFirstTeller(_ end: EndLayout) -> Bool {
        switch end.layout {
        case .pair: end.end == 0
        case .list(let list, let childEnd): end.end == childEnd && !list.isOrdered
        case .edges(_, let lists, _): end.end == 0 && !lists[1].isOrdered
        }
    }
}

/// Adds up hashes. Each term is XXH3-128 of a tag, the root entity, the property, the serial and the value's stored bytes.
struct DigestSum {
    enum Tag: UInt16 {
        case nextSerial = 1
        case object = 2
        case attribute = 3
        case link = 4
        case member = 5
    }

    private(set) var high: UInt64 = 0
    private(set) var low: UInt64 = 0
    private var buffer: [UInt8] = [UInt8](repeating: 0, count: 32)

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
