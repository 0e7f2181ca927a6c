import Cambium
import FoundationEssentials
import Testing

@Suite("Codable values in JSON attributes of records")
struct RecordJSONTests {
    private struct Visit: EntityRecord {
        var days: [Date]
        var ref: Ref<Visit>?

        static let recordSchema = RecordSchema<Visit>("Visit") { RecordProperty(json: "days", \.days) }

        init(days: [Date]) { self.days = days }

        init(from row: inout RecordReader) throws {
            days = try row.readJSON("days")
            ref = row.ref()
        }

        mutating func write(to row: inout RecordWriter) throws { try row.writeJSON("days", days) }
    }

    @Test("dates are read back unchanged, and a date without a text is an error")
    func dates() throws {
        let store = try Store.inMemory(schema: Schema(of: Visit.self))
        var visit = Visit(days: [.distantFuture, Date(timeIntervalSinceReferenceDate: 0.1)])
        try store.save(&visit)
        let ref = try #require(visit.ref)
        #expect(try store.graph.load(ref).days == visit.days)
        visit.days.append(.distantPast)
        let error = try #require(throws: CambiumError.self) { try store.save(&visit) }
        #expect(error.code == .invalidInput)
        #expect(try store.graph.load(ref).days.count == 2)
    }
}
