import Cambium
import TestFixtures
import Testing

extension UInt64: _PropertyValue {}
extension UInt64: AttributeValue {
    public static var attributeType: AttributeType { .int64 }
}

@Suite("Whole numbers that no attribute can hold")
struct RecordIntegerTests {
    private struct Counter: EntityRecord {
        var count: UInt64
        var ref: Ref<Counter>?

        static let recordSchema = RecordSchema<Counter>("Counter") { RecordProperty("count", \.count) }

        init(count: UInt64) { self.count = count }

        init(from row: inout RecordReader) throws {
            count = try row.read("count")
            ref = row.ref()
        }
    }

    @Test("a number beyond the range of Int64 is refused")
    func tooLarge() throws {
        let store = try Store.inMemory(schema: Schema(of: Counter.self))
        var counter = Counter(count: UInt64(Int64.max))
        try store.save(&counter)
        let ref = try #require(counter.ref)
        counter.count += 1
        let error = try #require(throws: CambiumError.self) { try store.save(&counter) }
        #expect(error.code == .invalidInput)
        #expect(try store.graph.load(ref).count == UInt64(Int64.max))
    }
}
