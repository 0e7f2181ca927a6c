import Cambium
import FoundationEssentials
import Testing

@Suite("URLs of records")
struct RecordURLTests {
    private struct Page: EntityRecord {
        var address: URL
        var title: String?
        var ref: Ref<Page>?

        static let recordSchema = RecordSchema<Page>("Page") {
            RecordProperty("address", \.address)
            RecordProperty("title", \.title)
        }

        init(from row: inout RecordReader) throws {
            address = try row.read("address")
            title = try row.read("title")
            ref = row.ref()
        }
    }

    @Test(
        "a save keeps a stored URI that URL would escape",
        arguments: ["https://a.org/x?y=%20#z", "https://a.org/K\u{F6}ln", "https://k\u{F6}ln.de", "%zz"])
    func stored(text: String) throws {
        let store = try Store.inMemory(schema: Schema(of: Page.self))
        let id = try store.write { try $0.insert("Page", ["address": .uri(text)]) }.result
        var page = try store.graph.load(Page.self, id)
        page.title = "new"
        try store.save(&page)
        #expect(try store.graph[id, "address"] == .uri(text))
        #expect(try store.graph[id, "title"] == "new")
        page.address = try #require(URL(string: "https://b.org"))
        try store.save(&page)
        #expect(try store.graph[id, "address"] == .uri("https://b.org"))
    }
}
