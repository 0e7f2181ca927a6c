import CambiumBytes
import CambiumModel
import CambiumProofs
import CambiumTesting
import FoundationEssentials
import Testing

@testable import CambiumLog

@Suite struct CodecTests {
    private static func id(_ root: UInt16, _ serial: UInt64) -> ObjectID { ObjectID(root: EntityNumber(rawValue: root), serial: serial) }
    private static func property(_ number: UInt16) -> PropertyNumber { PropertyNumber(rawValue: number) }

    private static let values: [Value] = [
        .null, .bool(true), .bool(false), .int(-1), .int(.max), .int(.min), .float(-0.0), .double(.pi), .string(""), .string("Köln\u{0}"),
        .data([0, 255]), .date(Date(timeIntervalSinceReferenceDate: -0.125)), .uri("https://example.org/"), .json("{\"a\":[1.50]}"),
        .decimal(DecimalNumber("-12345678901234567890123456789012345678e-40") ?? .zero), .decimal(.zero),
        .uuid(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F") ?? UUID()),
    ]

    private static var serials: SerialRuns {
        var serials = SerialRuns()
        for serial in [3, 4, 5, 9, 1000] as [UInt64] { serials.append(serial) }
        return serials
    }

    private static let ops: [Op] = [
        .schema(SchemaCatalog(json: Array("{}".utf8))), .insert(id(1, 7), entity: EntityNumber(rawValue: 2), []),
        .set(id(1, 7), values.enumerated().map { Assignment(property(UInt16($0.offset)), $0.element) }),
        .link(id(1, 7), property(3), target: id(2, 1), index: nil), .link(id(1, 7), property(3), target: id(2, 1), index: 300),
        .unlink(id(1, 7), property(3), target: id(2, 1)), .move(id(1, 7), property(3), target: id(2, 1), index: 0),
        .delete([id(1, 7), id(65535, ObjectID.serialMax)]),
        .digest(of: TransactionNumber(rawValue: 9), GraphDigest(high: .max, low: 1)),
        .label("before the move", TransactionNumber(rawValue: 300)),
        .clone(CloneOp(roots: [id(1, 7)], options: CloneOptions(), time: nil, seed: nil, hierarchies: [], setHash: 0)), .clone(fullClone),
        .upsert(
            UpsertBlock(
                entity: EntityNumber(rawValue: 1), kind: .fill, serials: serials, identity: [],
                columns: [
                    AttributeColumn(property: property(1), presence: [31], content: .fixed(width: 4, bytes: [UInt8](0..<20))),
                    AttributeColumn(
                        property: property(2), presence: [0], content: .fixed(width: 16, bytes: [UInt8](repeating: 0, count: 80))),
                    AttributeColumn(
                        property: property(3), presence: [21],
                        content: .variable(byteCounts: [9, 0, 8, 0, 0], bytes: Array("0123456789abcdef0".utf8))),
                    AttributeColumn(
                        property: property(4), presence: [31], content: .variable(byteCounts: [1, 0, 1, 0, 0], bytes: [1, 2])),
                ])),
        .relink(
            LinkBlock(root: EntityNumber(rawValue: 1), property: property(1), serials: serials, content: .toOne([0, 5, 5, 8, .max >> 26]))),
        .relink(
            LinkBlock(
                root: EntityNumber(rawValue: 1), property: property(1), serials: serials,
                content: .unordered(removedCounts: [1, 0, 0, 0, 0], removed: [4], addedCounts: [0, 0, 2, 0, 1], added: [1, 2, 3]))),
        .relink(
            LinkBlock(
                root: EntityNumber(rawValue: 1), property: property(1), serials: serials,
                content: .ordered(keptCounts: [0, 1, 2, 3, 4], suffixCounts: [0, 0, 0, 0, 2], suffixes: [9, 7]))),
    ]

    /// A clone that uses every part of a clone op.
    private static var fullClone: CloneOp {
        let entity = EntityNumber(rawValue: 2)
        let rules = CloneRule.allCases.flatMap { rule in
            [false, true].map { isAtRoot in
                CloneOptions.Rule(entity: entity, relationship: property(UInt16(rule.rawValue) + 300), rule: rule, isAtRoot: isAtRoot)
            }
        }
        let rootValues = values.enumerated().map {
            CloneOptions.RootValue(root: entity, attribute: property(UInt16($0.offset)), value: $0.element)
        }
        let options = CloneOptions(
            rules: rules, depth: 1 << 32 - 1, keys: CloneKeys(exclude: "ä", rebuild: "r", followParent: "f", withoutParent: "w"),
            rootValues: rootValues)
        let hierarchies: [CloneOp.Hierarchy] = [
            .init(root: entity, firstSerial: 300, counts: [.init(entity, 1), .init(EntityNumber(rawValue: 300), 1 << 30)]),
            .init(root: EntityNumber(rawValue: 65535), firstSerial: ObjectID.serialMax, counts: [.init(EntityNumber(rawValue: 65535), 1)]),
        ]
        return CloneOp(
            roots: [id(2, 9), id(65535, ObjectID.serialMax), id(2, 1)], options: options, time: .min,
            seed: CloneSeed(low: 1, high: .max), hierarchies: hierarchies, setHash: .max - 1)
    }

    @Test(arguments: ops)
    func `a decoded op equals the original and encodes to the same bytes`(op: Op) throws {
        let payload = OpCodec.encode([op])
        let decoded = try OpCodec.decode(payload[...])
        #expect(decoded == [op])
        #expect(OpCodec.encode(decoded) == payload)
    }

    @Test func `an empty block is decoded unchanged, even with columns of 16-byte values`() throws {
        let columns = [0, 1, 16].map { width in
            let content: AttributeColumn.Content =
                width == 0 ? .variable(byteCounts: [], bytes: []) : .fixed(width: width, bytes: [])
            return AttributeColumn(property: Self.property(UInt16(width)), presence: [], content: content)
        }
        let block = UpsertBlock(
            entity: EntityNumber(rawValue: 1), kind: .update, serials: SerialRuns(), identity: [], columns: columns)
        #expect(try OpCodec.decode(OpCodec.encode([.upsert(block)])[...]) == [.upsert(block)])
    }

    @Test func `a small payload has the bytes that the format specifies`() {
        let op = Op.set(Self.id(1, 300), [Assignment(Self.property(2), .int(-3)), Assignment(Self.property(5), .string("hé"))])
        #expect(HexText.encode(OpCodec.encode([op])) == "23" + "01ac02" + "02" + "02" + "0305" + "05" + "070368c3a9")
    }

    @Test(arguments: [(CloneOp.Algorithm.ascendingHashes, "2c"), (.series, "4c"), (.exactTime, "6c")])
    func `a clone has the bytes that the format specifies`(algorithm: CloneOp.Algorithm, kind: String) throws {
        let note = EntityNumber(rawValue: 1)
        var options = CloneOptions(rules: [.init(entity: note, relationship: Self.property(300), rule: .share, isAtRoot: true)], depth: 2)
        options.rootValues = [.init(root: note, attribute: Self.property(4), value: .bool(true))]
        let op = CloneOp(
            roots: [Self.id(1, 300)], options: options, time: Timestamp(microsecondsSince1970: -2), seed: CloneSeed(low: 1, high: 2),
            hierarchies: [.init(root: note, firstSerial: 301, counts: [.init(note, 5)])], setHash: 0x0102_0304_0506_0708,
            algorithm: algorithm)
        let parts = [
            kind, "01" + "01ac02", "0d", "02", "01" + "01" + "ac02" + "06", "01" + "01" + "04" + "02", "feffffffffffffff",
            "0100000000000000" + "0200000000000000", "01" + "01" + "ad02" + "01" + "01" + "05", "0807060504030201",
        ]
        #expect(HexText.encode(OpCodec.encode([.clone(op)])) == parts.joined())
        #expect(try OpCodec.decode(OpCodec.encode([.clone(op)])[...]) == [.clone(op)])
    }

    /// The bytes between the root of a clone and its hash: first as an encoder writes them, then as no encoder does.
    @Test(arguments: [
        ("00000000", "10000000", "flags"), ("01ffffffff0f000000", "018080808010000000", "levels"),
        ("00010101020000", "00010101030000", "a rule"), ("00010101060000", "00010101070000", "a rule at the root"),
        ("00010101020000", "000101010a0000", "a bit of a rule"), ("00000101010000", "00000101016300", "a kind of value"),
        ("00000000", "007f0000", "rules"), ("00000000", "00007f00", "root values"), ("00000000", "0000007f", "hierarchies"),
        ("000000010101" + "010101", "000000010101" + "7f0101", "entities"),
        ("0000000101" + "ffffffffff07" + "00", "0000000101" + "808080808008" + "00", "the first serial"),
        ("0000000101" + "ffffffffff07" + "010101", "0000000101" + "ffffffffff07" + "010102", "objects"),
        ("0000000101" + "feffffffff07" + "0201010201", "0000000101" + "feffffffff07" + "0201010202", "objects in all"),
        ("0201610162" + "01630164" + "000000", "02016101ff" + "01630164" + "000000", "a key"),
    ])
    func `bytes of a clone that no encoder writes are refused`(_ good: String, _ bad: String, _ what: String) throws {
        func op(_ bytes: String) throws -> [Op] {
            let payload = try #require(HexText.decode("2c010101" + bytes + "0000000000000000"))
            return try OpCodec.decode(payload[...])
        }
        #expect(try op(good).count == 1, "\(what)")
        #expect(throws: DecodingError.self, "\(what)") { try op(bad) }
    }

    @Test func `a clone that spells out the standard keys is refused`() throws {
        var writer = ByteWriter()
        for key in ["exclude", "rebuild", "followParent", "withoutParent"] { ValueCodec.encode(key, to: &writer) }
        let start: [UInt8] = [0x2c, 1, 1, 1]
        let end = [UInt8](repeating: 0, count: 11)
        #expect(try OpCodec.decode((start + [0] + end)[...]).count == 1)
        #expect(throws: DecodingError.self) { try OpCodec.decode((start + [2] + writer.bytes + end)[...]) }
    }

    @Test func `cut or changed bytes are refused or decode to another payload, and never crash the decoder`() {
        let payload = OpCodec.encode(Self.ops)
        for count in payload.indices {
            // A payload that is cut after an op is a valid payload with fewer ops.
            guard let ops = try? OpCodec.decode(payload[..<count]) else { continue }  // Refused.
            #expect(ops.count < Self.ops.count && Self.ops.starts(with: ops), "\(count) bytes")
        }
        for offset in payload.indices {
            for bit in 0..<8 {
                var corrupted = payload
                corrupted[offset] ^= 1 << UInt8(bit)
                guard let ops = try? OpCodec.decode(corrupted[...]) else { continue }  // Refused.
                #expect(ops != Self.ops || OpCodec.encode(ops) == payload, "byte \(offset), bit \(bit)")
            }
        }
    }

    @Test(arguments: [(65_536, 256, true), (65_537, 0, false), (65_536, 257, false)])
    func `a few bytes that expand to a block beyond the limit are refused before it is in memory`(
        serialCount: Int, columnCount: Int, isRead: Bool
    ) {
        var serials = SerialRuns()
        serials.append(from: 1, count: serialCount)
        let presence = [UInt64](repeating: 0, count: (serialCount + 63) / 64)
        let column = AttributeColumn(property: Self.property(1), presence: presence, content: .fixed(width: 1, bytes: []))
        let block = UpsertBlock(
            entity: EntityNumber(rawValue: 1), kind: .insert, serials: serials, identity: [],
            columns: [AttributeColumn](repeating: column, count: columnCount))
        let payload = OpCodec.encode([.upsert(block)])
        #expect(payload.count < 1000)
        #expect(((try? OpCodec.decode(payload[...])) != nil) == isRead)
    }

    /// Returns the metadata of a transaction.
    private func metadata(_ codec: inout TransactionCodec, _ reader: inout ByteReader) throws -> TransactionMetadata {
        var record = LogRecord(
            number: TransactionNumber(rawValue: 1), source: LogSource(file: "", saltSeed: []), frameOffset: 0, byteCount: 0)
        _ = try codec.decode(&reader, &record)
        return record.metadata
    }

    @Test(arguments: [(Int64.min, Int64.max), (Int64.min, Int64.min), (-1, 1), (Int64.max, Int64.max)])
    func `a time is decoded unchanged, and a time beyond the last possible one is refused`(start: Int64, time: Int64) throws {
        var writer = ByteWriter()
        var codec = TransactionCodec(time: start)
        codec.encode(TransactionMetadata(time: Timestamp(microsecondsSince1970: time)), .present([]), salt: nil, to: &writer)
        var reader = ByteReader(writer.bytes)
        var other = TransactionCodec(time: start)
        #expect(try metadata(&other, &reader).time.microsecondsSince1970 == time)
        var late = TransactionCodec(time: start &+ 1)
        var again = ByteReader(writer.bytes)
        if start < .max, time == .max { #expect(throws: DecodingError.self) { try metadata(&late, &again) } }
    }

    @Test func `the digest of a request is decoded unchanged, and invalid flags are refused`() throws {
        let metadata = TransactionMetadata(
            time: Timestamp(microsecondsSince1970: 5), requestID: "q", requestDigest: RequestDigest([UInt8](0..<16)),
            clockLag: .microseconds(3))
        var writer = ByteWriter()
        var codec = TransactionCodec(time: 0)
        codec.encode(metadata, .present([]), salt: nil, to: &writer)
        #expect(writer.bytes == [128 | 64 | 4, 1, 5, 3, 1, 113] + [UInt8](0..<16) + [0])
        for (flags, more, isRead) in [(196, 1, true), (196, 0, false), (196, 3, false), (192, 1, false)] as [(UInt8, UInt8, Bool)] {
            var reader = ByteReader([flags, more] + writer.bytes.dropFirst(2))
            var other = TransactionCodec(time: 0)
            #expect((try? self.metadata(&other, &reader)) == (isRead ? metadata : nil), "\(flags) \(more)")
        }
    }

    @Test(arguments: [
        (1024, 64_000, 256, true), (1025, 0, 0, false), (0, 64_001, 0, false), (0, 0, 257, false),
    ])
    func `an actor, a message and a request id beyond their limits are refused`(actor: Int, message: Int, request: Int, isRead: Bool) {
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        let metadata = TransactionMetadata(
            time: Timestamp(microsecondsSince1970: 5), actor: text(actor), message: text(message), requestID: text(request))
        var writer = ByteWriter()
        var codec = TransactionCodec(time: 0)
        codec.encode(metadata, .present([]), salt: nil, to: &writer)
        var reader = ByteReader(writer.bytes)
        var other = TransactionCodec(time: 0)
        #expect((try? self.metadata(&other, &reader)) == (isRead ? metadata : nil))
    }

    @Test func `an actor that refers to a longer message is refused`() throws {
        let time = Timestamp(microsecondsSince1970: 5)
        let text = String(repeating: "x", count: TransactionMetadata.actorByteCountMax + 1)
        var writer = ByteWriter()
        var codec = TransactionCodec(time: 0)
        codec.encode(TransactionMetadata(time: time, message: text), .present([]), salt: nil, to: &writer)
        codec.encode(TransactionMetadata(time: time, actor: text), .present([]), salt: nil, to: &writer)
        var reader = ByteReader(writer.bytes)
        var other = TransactionCodec(time: 0)
        #expect(try metadata(&other, &reader).message == text)
        #expect(throws: DecodingError.self) { try metadata(&other, &reader) }
    }

    @Test(arguments: [(UInt64(1) << 63 - 1, true), (UInt64(1) << 63, false), (UInt64.max, false)])
    func `a slot of HEAD whose sequence number exceeds the maximum is not valid`(sequence: UInt64, isValid: Bool) {
        let first = TransactionNumber(rawValue: 1)
        let head = Head(sequence: sequence, segment: first, position: 96, lastTransaction: .none, isClosed: true)
        let store = [UInt8](repeating: 7, count: 16)
        #expect(((try? Head.decode(head.encode(store: store)[...], store: store)) != nil) == isValid)
    }

    @Test func `a HEAD slot with a tree beyond the last transaction is refused`() throws {
        let store = [UInt8](repeating: 7, count: 16)
        let (one, nine) = (TransactionNumber(rawValue: 1), TransactionNumber(rawValue: 9))
        var tree = MerkleTree()
        for leaf in UInt8(0)..<9 { tree.append(leafHash: .leaf([leaf])) }
        var head = Head(sequence: 4, segment: one, position: 96, lastTransaction: nine, isClosed: true, tree: Head.Tree(tree))
        #expect(try Head.decode(head.encode(store: store)[...], store: store) == head)
        head.lastTransaction = one
        #expect(throws: DecodingError.self) { try Head.decode(head.encode(store: store)[...], store: store) }
    }

    @Test(arguments: 0..<200)
    func `a list of numbers is decoded unchanged and takes at most one byte more than its numbers`(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let width = [1, 2, 4, 8].randomElement(using: &random) ?? 8
        let mask: UInt64 = width == 8 ? .max : (1 << UInt64(8 * width)) - 1
        let step = UInt64.random(in: 0...1 << UInt64.random(in: 0...60, using: &random), using: &random)
        var value = UInt64.random(in: 0...mask, using: &random)
        let values = (0..<Int.random(in: 0...300, using: &random)).map { index -> UInt64 in
            value = seed % 3 == 0 ? UInt64.random(in: 0...mask, using: &random) : value &+ step &* (seed % 3 == 1 ? 1 : UInt64(index % 3))
            return value & mask
        }
        var writer = ByteWriter()
        IntegerList.encode(values, width: width, to: &writer)
        var reader = ByteReader(writer.bytes)
        #expect(try IntegerList.decode(values.count, width: width, from: &reader) == values && reader.isAtEnd)
        #expect(writer.count <= 1 + width * values.count)
    }
}
