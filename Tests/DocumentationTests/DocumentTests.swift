import Foundation
import Testing

/// The pages for users show code that compiles with nothing but the public declarations.
@Suite struct DocumentTests {
    /// Expects that each snippet of a document is in one of the files of these tests whose names begin with `name`.
    private func expectSnippets(of document: Document, in name: String) throws {
        let sources = try Document.sources(in: "Tests/DocumentationTests", prefix: "\(name)Snippets").map(Document.trimmed)
        for snippet in document.snippets {
            #expect(sources.contains { $0.contains(snippet) }, "\(document.name): \(snippet)")
        }
    }

    @Test func `each snippet of a page is in the test of the page, word for word`() throws {
        let documents = try Document.all()
        #expect(documents.count > 8)
        for document in documents where !document.snippets.isEmpty { try expectSnippets(of: document, in: document.name) }
    }

    @Test func `each snippet of a reference document is in a test of these documents`() throws {
        let documents = try Document.references().filter { !$0.snippets.isEmpty }
        #expect(documents.count > 3)
        for document in documents { try expectSnippets(of: document, in: "Reference") }
    }

    /// Each paragraph, because the structs and the statements of one block are in different places of a file.
    @Test func `each snippet with the macro is in the template or in a test of the macros, word for word`() throws {
        let documents = try Document.all().filter { document in document.blocks.contains { $0.kind == "swift macros" } }
        #expect(documents.count > 1)
        for document in documents {
            let folder = document.name == "BuildAShop" ? "Docs/Template/Sources/Shop" : "Tests/CambiumMacrosTests"
            let sources = try Document.sources(in: folder).map(Document.trimmed)
            let paragraphs = document.blocks.filter { $0.kind == "swift macros" }.flatMap { $0.code.split(separator: "\n\n") }
            for paragraph in paragraphs.map({ Document.trimmed($0.replacing(/(?m)^import .*$/, with: "")) }) where !paragraph.isEmpty {
                #expect(sources.contains { $0.contains(paragraph) }, "\(document.name): \(paragraph)")
            }
        }
    }

    @Test func `each piece of code has a known kind`() throws {
        let kinds: Set<String> = ["swift", "swift macros", "swift theirs", "objc", "json", "console", "text"]
        for document in try Document.all() {
            for block in document.blocks { #expect(kinds.contains(block.kind), "\(document.name): \(block.kind)") }
            let fenceCount = document.text.split(separator: "\n").count { $0.hasPrefix("```") }
            #expect(fenceCount == 2 * document.blocks.count, "\(document.name)")
        }
    }

    @Test(arguments: [
        "Store.open(at: path, creating: schema)", "inout WriteTransaction", "StoreFollower(of: path)", "store.enqueue(",
        "try await store.write(", "Store.inMemory(schema: schema)", ".clone(", "importRows(", "graph(at: .label(", "Store.verify(at: path)",
    ])
    func `the pages show each way to use a store`(code: String) throws {
        #expect(try Document.all().flatMap(\.snippets).contains { $0.contains(code) })
    }

    @Test(arguments: Document.products)
    func `the page of a product has each of its public types in a topic, once`(product: String) throws {
        let types = try Document.publicTypes(of: [product])
        let page = try Document(Document.root.appending(path: "Sources/Cambium/Cambium.docc/\(product).md"))
        let topics = page.text.matches(of: /(?m)^- ``(\w+)``$/).map { String($0.1) }
        #expect(types.count > 5)
        #expect(topics.sorted() == types.sorted())
    }

    @Test func `the landing page leads to the page of each product`() throws {
        let page = try Document(Document.root.appending(path: "Sources/Cambium/Cambium.docc/Cambium.md"))
        for product in Document.products { #expect(page.text.contains("\n- <doc:\(product)>\n"), "\(product)") }
    }
}
