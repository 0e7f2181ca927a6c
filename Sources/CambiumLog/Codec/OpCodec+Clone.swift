import CambiumBytes
internal import CambiumModel

/// The codec for the clone op. FORMAT.md 4, "Clone".
extension OpCodec {
    private enum Flag {
        static let depth: UInt8 = 1
        static let keys: UInt8 = 2
        static let time: UInt8 = 4
        static let seed: UInt8 = 8
        static let all: UInt8 = 15
    }

    private static let atRootBit: UInt8 = 4

    static func encode(_ op: CloneOp, to writer: inout ByteWriter) {
        writer.writeVarint(op.roots.count)
        for id in op.roots { ValueCodec.encode(id, to: &writer) }
        let options = op.options
        let hasKeys = options.keys != .standard
        writer.writeByte(
            (options.depth == nil ? 0 : Flag.depth) | (hasKeys ? Flag.keys : 0) | (op.time == nil ? 0 : Flag.time)
                | (op.seed == nil ? 0 : Flag.seed))
        if let depth = options.depth { writer.writeVarint(depth) }
        if hasKeys { for key in texts(of: options.keys) { ValueCodec.encode(key, to: &writer) } }
        writer.writeVarint(options.rules.count)
        for rule in options.rules {
            writer.writeVarint(UInt64(rule.entity.rawValue))
            writer.writeVarint(UInt64(rule.relationship.rawValue))
            writer.writeByte(rule.rule.rawValue | (rule.isAtRoot ? atRootBit : 0))
        }
        writer.writeVarint(options.rootValues.count)
        for value in options.rootValues {
            writer.writeVarint(UInt64(value.root.rawValue))
            writer.writeVarint(UInt64(value.attribute.rawValue))
            ValueCodec.encode(value.value, to: &writer)
        }
        if let time = op.time { writer.write(UInt64(bitPattern: time.microsecondsSince1970)) }
        if let seed = op.seed {
            writer.write(seed.low)
            writer.write(seed.high)
        }
        encode(op.hierarchies, to: &writer)
        writer.write(op.setHash)
    }

    private static func encode(_ hierarchies: [CloneOp.Hierarchy], to writer: inout ByteWriter) {
        writer.writeVarint(hierarchies.count)
        for hierarchy in hierarchies {
            writer.writeVarint(UInt64(hierarchy.root.rawValue))
            writer.writeVarint(hierarchy.firstSerial)
            writer.writeVarint(hierarchy.counts.count)
            for count in hierarchy.counts {
                writer.writeVarint(UInt64(count.entity.rawValue))
                writer.writeVarint(count.count)
            }
        }
    }

    private static func texts(of keys: CloneKeys) -> [String] { [keys.exclude, keys.rebuild, keys.followParent, keys.withoutParent] }

    // MARK: Decoding

    static func decodeClone(_ reader: inout ByteReader, _ algorithm: CloneOp.Algorithm) throws(DecodingError) -> CloneOp {
        var roots: [ObjectID] = []
        let rootCount = try reader.readCount(max: min(reader.remaining, CloneRequest.rootCountMax), "roots")
        for _ in 0..<rootCount { roots.append(try ValueCodec.decodeID(&reader)) }
        let offset = reader.offset
        let flags = try reader.readByte()
        guard flags & ~Flag.all == 0 else { throw .invalid("unknown flags of a clone, \(flags)", offset: offset) }
        var options = CloneOptions()
        if flags & Flag.depth != 0 { options.depth = try reader.readCount(max: CloneOptions.depthMax, "levels") }
        if flags & Flag.keys != 0 { options.keys = try decodeKeys(&reader) }
        for _ in 0..<(try reader.readCount(max: reader.remaining, "rules")) { options.rules.append(try decodeRule(&reader)) }
        for _ in 0..<(try reader.readCount(max: reader.remaining, "root values")) {
            let root = EntityNumber(rawValue: try ValueCodec.decodeNumber(&reader))
            let attribute = PropertyNumber(rawValue: try ValueCodec.decodeNumber(&reader))
            options.rootValues.append(.init(root: root, attribute: attribute, value: try ValueCodec.decodeValue(&reader)))
        }
        let time = flags & Flag.time == 0 ? nil : Timestamp(microsecondsSince1970: Int64(bitPattern: try reader.read(UInt64.self)))
        var seed: CloneSeed?
        if flags & Flag.seed != 0 {
            let low = try reader.read(UInt64.self)
            seed = CloneSeed(low: low, high: try reader.read(UInt64.self))
        }
        var hierarchies: [CloneOp.Hierarchy] = []
        for _ in 0..<(try reader.readCount(max: min(reader.remaining, 65_536), "hierarchies")) {
            hierarchies.append(try decodeHierarchy(&reader))
        }
        return CloneOp(
            roots: roots, options: options, time: time, seed: seed, hierarchies: hierarchies, setHash: try reader.read(UInt64.self),
            algorithm: algorithm)
    }

    private static func decodeKeys(_ reader: inout ByteReader) throws(DecodingError) -> CloneKeys {
        let offset = reader.offset
        let exclude = try ValueCodec.decodeText(&reader)
        let rebuild = try ValueCodec.decodeText(&reader)
        let followParent = try ValueCodec.decodeText(&reader)
        let keys = CloneKeys(
            exclude: exclude, rebuild: rebuild, followParent: followParent, withoutParent: try ValueCodec.decodeText(&reader))
        guard keys != .standard else { throw .invalid("the standard keys, which an encoder omits", offset: offset) }
        return keys
    }

    private static func decodeRule(_ reader: inout ByteReader) throws(DecodingError) -> CloneOptions.Rule {
        let entity = EntityNumber(rawValue: try ValueCodec.decodeNumber(&reader))
        let relationship = PropertyNumber(rawValue: try ValueCodec.decodeNumber(&reader))
        let offset = reader.offset
        let byte = try reader.readByte()
        guard byte < 2 * atRootBit, let rule = CloneRule(rawValue: byte & ~atRootBit) else {
            throw .invalid("an unknown rule of a clone, \(byte)", offset: offset)
        }
        return .init(entity: entity, relationship: relationship, rule: rule, isAtRoot: byte & atRootBit != 0)
    }

    private static func decodeHierarchy(_ reader: inout ByteReader) throws(DecodingError) -> CloneOp.Hierarchy {
        let root = EntityNumber(rawValue: try ValueCodec.decodeNumber(&reader))
        let offset = reader.offset
        let firstSerial = try reader.readVarint()
        guard firstSerial <= ObjectID.serialMax else { throw .invalid("a serial of \(firstSerial), which is out of range", offset: offset) }
        var counts: [CloneOp.EntityCount] = []
        var countMax = Int(ObjectID.serialMax - firstSerial) + 1
        for _ in 0..<(try reader.readCount(max: reader.remaining, "entities")) {
            let entity = EntityNumber(rawValue: try ValueCodec.decodeNumber(&reader))
            let count = try reader.readCount(max: countMax, "objects")
            countMax -= count
            counts.append(.init(entity, count))
        }
        return .init(root: root, firstSerial: firstSerial, counts: counts)
    }
}
