import Cambium

/// Records like the structs of CoreValue's tests that are found by an identifier: authors, articles and categories.
enum Articles {
    struct Author: BlankRecord, Equatable {
        var id = ""
        var name = ""
        var ref: Ref<Author>?

        static let recordSchema = RecordSchema<Author>("Author") {
            RecordProperty("id", \.id, .identity)
            RecordProperty("name", \.name)
        }
        init() {}
        init(_ id: String, _ name: String) { (self.id, self.name) = (id, name) }
    }

    struct Article: BlankRecord, Equatable {
        var id: Int16 = 0
        var text = ""
        var author: Author?
        var ref: Ref<Article>?

        static let recordSchema = RecordSchema<Article>("Article") {
            RecordProperty("id", \.id, .identity)
            RecordProperty("text", \.text)
            RecordProperty("author", \.author)
        }
        init() {}
        init(_ id: Int16, _ text: String, _ author: Author? = nil) { (self.id, self.text, self.author) = (id, text, author) }
    }

    /// A category, whose identity has two attributes. CoreValue needs a text that joins them.
    struct Category: BlankRecord, Equatable {
        var kind = ""
        var label = ""
        var articles: [Article] = []
        var ref: Ref<Category>?

        static let recordSchema = RecordSchema<Category>("Category") {
            RecordProperty("kind", \.kind, .identity)
            RecordProperty("label", \.label, .identity)
            RecordProperty("articles", \.articles)
        }
        init() {}
        init(_ kind: String, _ label: String, _ articles: [Article]) { (self.kind, self.label, self.articles) = (kind, label, articles) }
    }

    static func store() throws -> Store { try Store.inMemory(schema: Schema(of: Category.self)) }

    static func football() -> Category {
        let authors = [Author("a1", "Hemingway"), Author("a2", "Capek")]
        return Category(
            "sports", "football",
            [Article(1, "first", authors[0]), Article(2, "second", authors[1]), Article(3, "third", authors[0])])
    }
}
