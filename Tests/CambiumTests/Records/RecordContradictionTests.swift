import Cambium
import Testing

/// Records whose declarations do not form a schema.
@Suite struct RecordContradictionTests {
    @Test func `a name that a record lists for two properties is a mistake`() throws {
        struct Card: BlankRecord {
            var front = ""
            var back = ""
            var ref: Ref<Card>?
            static let recordSchema = RecordSchema<Card>("Card") {
                RecordProperty("front", \.front)
                RecordProperty("front", \.back)
            }
        }
        let error = try #require(throws: CambiumError.self) { try Schema(of: Card.self) }
        #expect(error.code == .invalidInput)
        #expect(error.details.count == 1)
    }
}
