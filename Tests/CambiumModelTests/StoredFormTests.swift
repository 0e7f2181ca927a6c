import CambiumModel
import Foundation
import Testing

@Suite struct `Stored forms` {
    static let uuid = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") ?? UUID()

    static let goldens: [(AttributeType, Value, StoredForm)] = [
        (.bool, .bool(true), .fixed(1, 0)), (.bool, .bool(false), .fixed(0, 0)), (.int16, .int(-1), .fixed(0xFFFF, 0)),
        (.int16, .int(.init(Int16.min)), .fixed(0x8000, 0)), (.int32, .int(-1), .fixed(0xFFFF_FFFF, 0)),
        (.int32, .int(258), .fixed(258, 0)), (.int64, .int(-1), .fixed(.max, 0)), (.int64, .int(.max), .fixed(0x7FFF_FFFF_FFFF_FFFF, 0)),
        (.float, .float(1), .fixed(0x3F80_0000, 0)),
        (.double, .double(1), .fixed(0x3FF0_0000_0000_0000, 0)), (.double, .double(-0.0), .fixed(0x8000_0000_0000_0000, 0)),
        (.date, .date(Date(timeIntervalSinceReferenceDate: -2)), .fixed(0xC000_0000_0000_0000, 0)),
        (.uuid, .uuid(uuid), .fixed(0x7766_5544_3322_1100, 0xFFEE_DDCC_BBAA_9988)),
        (.decimal, .decimal(DecimalNumber(-100)), .bytes([2, 2, 1])), (.string, .string("\u{E9}"), .bytes([0xC3, 0xA9])),
        (.string, .string(""), .bytes([])), (.data, .data([0, 255]), .bytes([0, 255])), (.uri, .uri("a:b"), .bytes([97, 58, 98])),
        (.json, .json("[1.0]"), .bytes(Array("[1.0]".utf8))),
    ]

    @Test(arguments: goldens.indices)
    func `a value has its stored form and is read back from it`(_ index: Int) {
        let (type, value, form) = Self.goldens[index]
        #expect(StoredForm(value, type: type) == form)
        #expect(Value(stored: form, type: type) == value)
    }

    @Test(arguments: goldens.indices)
    func `a value has no stored form of another type`(_ index: Int) {
        let (type, value, form) = Self.goldens[index]
        for other in AttributeType.allCases where other != type {
            // A whole number fits every integer type that is large enough, which another test checks.
            if case .int = value, [.int16, .int32, .int64].contains(other) { continue }
            #expect(StoredForm(value, type: other) == nil)
            if case .bytes = form, other.byteCount != nil { #expect(Value(stored: form, type: other) == nil) }
            if case .fixed = form, other.byteCount == nil { #expect(Value(stored: form, type: other) == nil) }
        }
    }

    @Test(arguments: [
        (AttributeType.int16, Int64(32_768)), (.int16, -32_769), (.int32, 2_147_483_648), (.int32, -2_147_483_649), (.int32, .max),
        (.int16, .min),
    ])
    func `a whole number that is too large for its type has no stored form`(_ type: AttributeType, _ value: Int64) {
        #expect(StoredForm(.int(value), type: type) == nil)
    }

    @Test(arguments: AttributeType.allCases)
    func `null has no stored form`(_ type: AttributeType) {
        #expect(StoredForm(.null, type: type) == nil)
    }

    @Test func `a Boolean has two stored forms only`() {
        #expect(Value(stored: .fixed(2, 0), type: .bool) == nil)
        #expect(Value(stored: .fixed(.max, 0), type: .bool) == nil)
    }

    @Test(arguments: [[], [9], [1, 0, 0, 5], [1, 0, 10]] as [[UInt8]])
    func `bytes that are not a canonical decimal number are refused`(_ bytes: [UInt8]) {
        #expect(Value(stored: .bytes(bytes), type: .decimal) == nil)
    }

    @Test func `a date of negative zero is stored as zero, and its text is read as zero`() throws {
        let date = Value.date(Date(timeIntervalSinceReferenceDate: -0.0))
        #expect(StoredForm(date, type: .date) == .fixed(0, 0))
        #expect(try StoredForm(Value(text: date.text, type: .date), type: .date) == .fixed(0, 0))
    }

    @Test(
        arguments: [
            (AttributeType.bool, 1), (.int16, 2), (.int32, 4), (.int64, 8), (.float, 4), (.double, 8), (.date, 8), (.uuid, 16),
            (.decimal, nil), (.string, nil), (.data, nil), (.uri, nil), (.json, nil),
        ] as [(AttributeType, Int?)])
    func `a type states the number of bytes of its values`(_ type: AttributeType, _ byteCount: Int?) {
        #expect(type.byteCount == byteCount)
    }

    @Test func `an object's id has its root in the bits above its serial`() {
        let id = ObjectID(root: EntityNumber(rawValue: 7), serial: 42)
        #expect(id.rawValue == 7 << 48 | 42)
        #expect(id.root.rawValue == 7)
        #expect(id.serial == 42)
        #expect(id < ObjectID(root: EntityNumber(rawValue: 7), serial: 43))
        #expect(ObjectID(root: EntityNumber(rawValue: 6), serial: ObjectID.serialMax) < id)
    }

    @Test func `serials are kept as runs of consecutive numbers`() {
        var runs = SerialRuns()
        for serial in [1, 2, 3, 7, 9, 10] as [UInt64] { runs.append(serial) }
        runs.append(from: 11, count: 5)
        runs.append(from: 20, count: 0)
        runs.append(from: 30, count: 2)
        #expect(runs.count == 13)
        #expect(runs.runs.map(\.first) == [1, 7, 9, 30])
        #expect(runs.runs.map(\.count) == [3, 1, 7, 2])
    }
}
