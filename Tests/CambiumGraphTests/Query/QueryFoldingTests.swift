import Cambium
import Testing

/// Texts whose folded form has another length. An index and a scan must find the same objects.
@Suite struct QueryFoldingTests {
    private static let texts = [
        "ß", "ẞ", "ss", "SS", "ſs", "Straße", "STRASSE", "İ", "i\u{307}", "I", "ı", "\u{212A}", "k", "ﬁ", "FI", "ﬀ", "ﬃ", "Å",
        "\u{212B}", "å", "e\u{301}", "é", "É", "ŉ", "ʼn", "ΐ", "Σ", "ς", "", "\u{0}", "\u{1}", "\u{130}x",
    ]
    private let graph: Graph

    init() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note", indexes: [["title[c]"], ["-title"]]) { AttributeDefinition("title", .string, .optional) }
            })
        try store.write { transaction in
            for text in Self.texts { for copy in ["", "y"] { try transaction.insert("Note", ["title": .string(text + copy)]) } }
            // An index is used only if it finds a small part of the objects.
            for number in 0..<600 { try transaction.insert("Note", ["title": .string("zz\(number)")]) }
            try transaction.insert("Note")
        }
        graph = store.graph
    }

    @Test(arguments: ["==", "==[c]", "beginswith", "beginswith[c]", "<", "<[c]", ">=[c]", "in", "in[c]", "like", "like[c]"])
    func `an index finds the texts that a scan finds`(relation: String) throws {
        var indexedCount = 0
        for text in Self.texts {
            let pattern = relation.hasPrefix("like") ? text + "?" : text
            let value = relation.hasPrefix("in") ? Operand.values([.string(text), .string("K")]) : Operand.value(.string(pattern))
            var query = try Query("Note", where: "title \(relation) $text", ["text": value])
            let answer = try graph.answer(query)
            indexedCount += answer.plan.steps.contains { $0.kind == .index } ? 1 : 0
            query.accesses = .scan
            #expect(try answer.ids == graph.find(query), "\(relation) \(text.unicodeScalars.map(\.value))")
        }
        // Most objects follow or precede most of the texts.
        let isOrder = relation.contains("<") || relation.contains(">")
        #expect(indexedCount > (isOrder ? 0 : Self.texts.count / 2))
    }

    private static let equals = [
        ("ß", ["ß", "ẞ"]), ("SS", ["ss", "SS", "ſs"]), ("ı", ["ı"]), ("I", ["I"]), ("Σ", ["Σ", "ς"]), ("\u{212A}", ["\u{212A}", "k"]),
    ]

    @Test(arguments: ["==[c]", "==[cd]", "beginswith[c]", "like[c]"], equals)
    func `a character equals those with the same simple case folding`(relation: String, one: (text: String, equals: [String])) throws {
        let query = try Query("Note", where: "title \(relation) $text", ["text": .value(.string(one.text))])
        let titles = Set(try graph.find(query).map { Value.string(try graph[$0, "title"].text) })
        #expect(titles.isSuperset(of: one.equals.map { .string($0) }))
        #expect(titles.isDisjoint(with: [one.text == "ß" ? "ss" : "ß", one.text == "ı" ? "I" : "ı"]))
    }

    @Test(arguments: ["title[c]", "-title[c]", "title", "-title"]) func `an index has the order of a sort`(keys: String) throws {
        var query = try Query("Note", sort: keys, limit: 40)
        let answer = try graph.answer(query)
        #expect(answer.plan.steps.first?.kind == .index)
        query.accesses = .scan
        #expect(try answer.ids == graph.find(query))
    }
}
