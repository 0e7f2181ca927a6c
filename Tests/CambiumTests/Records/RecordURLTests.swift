import Cambium
import FoundationEssentials
import Testing

@Suite("URLs of records")
struct RecordURLTests {
    private struct Page: EntityRecord {
        var address: URL
        var ref: Ref<Page>?

        static let recordSchema = RecordSchema<Page>("Page") { RecordProperty("address", \.address) }

        init(from row: inout RecordReader) throws {
            address = try row.read("address")
            ref = row.ref()
        }

        mutating func write(to row: inout RecordWriter) throws { try row.write("address", &address) }
    }

    @Test(
        "a URI that a URL would change is an error, so that no save replaces it",
        arguments: [
            ("https://a.org/x?y=%20#z", true), ("a:b", true), ("https://a.org/K\u{F6}ln", false), ("https://k\u{F6}ln.de", false),
            ("%zz", false),
        ])
    func exact(text: String, isExact: Bool) throws {
        let store = try Store.inMemory(schema: Schema(of: Page.self))
        let id = try store.write { try $0.insert("Page", ["address": .uri(text)]) }.result
        if isExact {
            var page = try store.graph.load(Page.self, id)
            #expect(page.address.absoluteString == text)
            let receipt = try store.save(&page)
            #expect(!receipt.hasChanges)
        } else {
            let error = try #require(throws: CambiumError.self) { try store.graph.load(Page.self, id) }
            #expect(error.code == .unexpectedValue)
        }
    }
}
