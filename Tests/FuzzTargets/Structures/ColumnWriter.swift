import CambiumBytes
import CambiumLog
import CambiumModel

/// Writes `upsert` and `relink` ops in the layout of section 4 of FORMAT.md. `choices` determines the encodings and numbers.
struct ColumnWriter {
    var choices: Choices
    private let schema: Schema
    private var writer = ByteWriter()

    init(_ choices: Choices, _ schema: Schema) { (self.choices, self.schema) = (choices, schema) }

    var bytes: [UInt8] { writer.bytes }

    mutating func writeOp() {
        guard let entity = choices.pick(schema.entities) else { return }
        if choices.isTrue(), let relationship = choices.pick(entity.relationships) {
            writeRelink(entity, relationship)
        } else {
            writeUpsert(entity)
        }
    }

    // MARK: Ops

    private mutating func writeUpsert(_ entity: Entity) {
        writer.writeByte(9 | 1 << 5)
        writer.writeVarint(UInt64(entity.number.rawValue))
        let kind = choices.byte() & 3
        writer.writeByte(kind)
        let count = writeSerials(isNew: kind < 2)
        writeColumns(kind < 2 ? [] : entity.identityAttributes, count)
        let isWhole = kind == 0
        writeColumns(entity.attributes.filter { _ in isWhole || choices.isTrue() }, count)
    }

    private mutating func writeColumns(_ attributes: [Attribute], _ count: Int) {
        writer.writeVarint(attributes.count)
        for attribute in attributes {
            writer.writeVarint(choices.isRare() ? choices.number() : UInt64(attribute.number.rawValue))
            writeColumn(attribute.type, count)
        }
    }

    /// Writes the serials of a block, and returns their number.
    private mutating func writeSerials(isNew: Bool) -> Int {
        let count = 1 + choices.index(below: 5)
        if choices.isRare() {
            writer.writeVarint(2)
            for number in [choices.number(), UInt64(count), 1 + choices.number() & 0xFFFF_FFFF, 1] { writer.writeVarint(number) }
            return count + 1
        }
        writer.writeVarint(1)
        writer.writeVarint(isNew ? 50 : UInt64(choices.index(below: 3) + 1))
        writer.writeVarint(count)
        return count
    }

    private mutating func writeRelink(_ entity: Entity, _ relationship: Relationship) {
        writer.writeByte(10 | 1 << 5)
        writer.writeVarint(UInt64(entity.root.rawValue))
        writer.writeVarint(UInt64(relationship.number.rawValue))
        let count = writeSerials(isNew: false)
        let kind: UInt8 = choices.isRare() ? choices.byte() : relationship.isToMany ? (relationship.isOrdered ? 2 : 1) : 0
        writer.writeByte(kind)
        switch kind {
        case 0: writeList(serials(count), width: 8)
        case 1:
            for _ in 0..<2 { writeList(serials(writeCounts(count)), width: 8) }
        default:
            _ = writeCounts(count)
            writeList(serials(writeCounts(count)), width: 8)
        }
    }

    /// Writes a list of counts, and returns their sum.
    private mutating func writeCounts(_ count: Int) -> Int {
        let counts = (0..<count).map { _ in UInt64(choices.index(below: 4)) }
        writeList(counts, width: 4)
        return Int(counts.reduce(0, +))
    }

    private mutating func serials(_ count: Int) -> [UInt64] {
        (0..<count).map { _ in choices.isRare() ? choices.number() : UInt64(choices.index(below: 6)) }
    }

    // MARK: Columns

    private mutating func writeColumn(_ type: AttributeType, _ count: Int) {
        let presence = choices.byte() % 3
        writer.writeByte(choices.isRare() ? 3 : presence)
        var isPresent = [Bool](repeating: presence == 0, count: count)
        if presence == 2 {
            var word: UInt64 = 0
            for index in 0..<count {
                isPresent[index] = choices.isTrue()
                if isPresent[index] { word |= 1 << UInt64(index) }
            }
            writer.write(choices.isRare() ? choices.number() : word)
        }
        let width = type.byteCount ?? 0
        writer.writeByte(choices.isRare() ? choices.byte() & 31 : UInt8(width))
        if presence == 1 { return }
        switch width {
        case 0: writeTexts(type, isPresent)
        case 16: writeWide(isPresent)
        default: writeList(isPresent.map { $0 || choices.isRare() ? number(of: type) : 0 }, width: width)
        }
    }

    private mutating func number(of type: AttributeType) -> UInt64 {
        let limits: [UInt64] =
            switch type {
            case .bool: [0, 1, 2, 255]
            case .float: [0, 0x3FC0_0000, 0x7FC0_0000, 0xFF80_0000, 0x8000_0000]
            case .double, .date:
                [0, 0.5.bitPattern, Double.nan.bitPattern, Double.infinity.bitPattern, 1e300.bitPattern, 9.3e18.bitPattern, 1 << 63]
            default: [0, 1, 7, 99, 100, 0x7FFF, 0x8000, 0xFFFF, 0x7FFF_FFFF, .max]
            }
        return choices.isRare() ? choices.number() : choices.pick(limits) ?? 0
    }

    private mutating func writeWide(_ isPresent: [Bool]) {
        let isConstant = choices.isTrue()
        writer.writeByte(isConstant ? 1 : 0)
        for isPresent in isConstant ? [true] : isPresent {
            writer.write(isPresent ? choices.raw(byteCount: 2) : 0)
            writer.write(isPresent ? choices.raw(byteCount: 2) : 0)
        }
    }

    private mutating func writeTexts(_ type: AttributeType, _ isPresent: [Bool]) {
        let texts = isPresent.map { $0 || choices.isRare() ? content(of: type) : [] }
        writeList(texts.map { UInt64($0.count) }, width: 4)
        let isPacked = choices.isRare()
        writer.writeByte(isPacked ? 1 : 0)
        let all = texts.flatMap { $0 }
        writer.write(isPacked ? Array(all.prefix((all.count + 1) / 2)) : all)
    }

    private mutating func content(of type: AttributeType) -> [UInt8] {
        switch type {
        case .decimal:
            choices.pick([[0], [1, 0, 1], [2, 253, 125], [], [3, 0, 1], [1, 0, 10], [1, 127, 10], [1, 0, 0, 1], [1]]) ?? []
        case .data: choices.bytes(countMax: 20)
        case .json:
            Array((choices.pick(["null", "{}", "[1,2]", "{\"a\":\"b\"}"]) ?? "").utf8)
                + (choices.isRare() ? choices.bytes(countMax: 6) : [])
        default:
            choices.isRare() ? choices.bytes(countMax: 12) : Array((choices.pick(["a", "b", "red", "x y", "https://a.b/c"]) ?? "").utf8)
        }
    }

    // MARK: Lists

    /// Writes a list in one of the encodings. The result sometimes contains a wrong number or an unknown encoding.
    private mutating func writeList(_ numbers: [UInt64], width: Int) {
        guard let first = numbers.first else { return }
        let encoding = choices.isRare() ? choices.byte() : choices.byte() & 3
        writer.writeByte(encoding)
        switch encoding {
        case 1: write(first, width)
        case 2:
            let base = choices.isRare() ? choices.number() : 0
            let narrow = choices.isRare() ? Int(choices.byte() & 15) : min(7, width)
            writer.write(base)
            writer.writeByte(UInt8(narrow))
            for number in numbers { write(number &- base, min(8, narrow)) }
        case 3:
            let base = choices.isRare() ? choices.number() : 0
            let narrow = choices.isRare() ? Int(choices.byte() & 15) : 7
            writer.write(first)
            writer.write(base)
            writer.writeByte(UInt8(narrow))
            for (number, previous) in zip(numbers.dropFirst(), numbers) { write(number &- previous &- base, min(8, narrow)) }
        default: for number in numbers { write(number, width) }
        }
    }

    private mutating func write(_ number: UInt64, _ width: Int) {
        for index in 0..<width { writer.writeByte(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
    }
}
