#if Macros
    import Cambium
    import FoundationEssentials
    import Testing

    enum Genre: String, CaseIterable, AttributeValue { case prose, verse }

    struct Edition: Codable, Sendable, Equatable { var year: Int }

    /// Only this side names the other by a key path: both sides at once would be a circular reference of macros.
    @Entity("Author", indexes: [["name"]])
    struct Poet: Equatable {
        @Identity(.rebuild(.uuid)) var id: UUID
        @Attribute(.minLength(1)) var name: String = ""
        var genre: Genre = .verse
        var score: Double? = -1
        @Attribute(.json, .named("first")) var edition: Edition?
        @Relationship(.clone(.copy), inverse: \Poem.poet, onDelete: .cascade) var poems: [Poem]
        @Transient var isSelected: Bool = false
        let born: Date
    }

    @Entity struct Poem: Equatable {
        var title: String
        var `default`: Int = 1
        var poet: Ref<Poet>?
    }

    @Entity struct Verse: EntityRecord, Equatable {
        var line: String
    }

    @Entity struct Cycle: Equatable {
        var name: String
        @Attribute(.derived(.count("songs"))) var songCount: Int = 0
        @Attribute(.derived(.sum("songs.length"))) var length = 0
        @Attribute(.derived(.max("songs.length"))) var longest: Int?
        @Attribute(.derived(.folded("name"))) var searchName: String = "?"
        var songs: [Song] = []
    }

    @Entity struct Song: Equatable {
        var length: Int
    }

    struct Cover: JSONAttribute, Equatable {
        static let plain = Cover(color: "white")
        var color: String
    }

    extension Verse { static let blank = Verse(line: "") }

    @Entity struct Stanza: Equatable {
        var cover: Cover = .plain
        var verse: Verse = .blank
        var genre: Genre = .prose
    }

    /// Compiles structs with `@Entity` against the library, and saves and loads them.
    struct CompiledEntityTests {
        private func poet() -> Poet {
            Poet(
                id: UUID(), name: "Sappho", edition: Edition(year: 1900), poems: [Poem(title: "Ode"), Poem(title: "Night")],
                born: Date(timeIntervalSinceReferenceDate: 0))
        }

        @Test func `a saved struct is read again`() throws {
            let store = try Store.inMemory(schema: Schema(of: Poet.self))
            var poet = poet()
            try store.save(&poet)
            let loaded = try store.graph.load(#require(poet.ref))
            #expect(loaded.name == "Sappho")
            #expect(loaded.edition == Edition(year: 1900))
            #expect(loaded.poems.map(\.title) == ["Ode", "Night"])
            #expect(loaded.poems.first?.poet == poet.ref)
            #expect(loaded.born == poet.born)
        }

        @Test func `a transient property has its initial value after a load`() throws {
            let store = try Store.inMemory(schema: Schema(of: Poet.self))
            var poet = poet()
            poet.isSelected = true
            try store.save(&poet)
            #expect(try store.graph.load(#require(poet.ref)).isSelected == false)
        }

        @Test func `a struct may state the conformance itself`() throws {
            let store = try Store.inMemory(schema: Schema(of: Verse.self))
            var verse = Verse(line: "Sing")
            try store.save(&verse)
            #expect(try store.graph.fetch(Verse.self) == [verse])
        }

        @Test func `an initial value that is a record or JSON is not a default`() throws {
            let schema = try Schema(of: Stanza.self)
            let entity = try #require(schema.entity("Stanza"))
            #expect(entity.attribute("cover")?.defaultValue == .null)
            #expect(entity.attribute("genre")?.defaultValue == .string("prose"))
            let store = try Store.inMemory(schema: schema)
            var stanza = Stanza()
            try store.save(&stanza)
            #expect(try store.graph.fetch(Stanza.self) == [stanza])
        }

        @Test func `an initializer requires no derived property, and the store computes it`() throws {
            let store = try Store.inMemory(schema: Schema(of: Cycle.self))
            var cycle = Cycle(name: "Winter", songs: [Song(length: 3), Song(length: 4)])
            try store.save(&cycle)
            let read = try store.graph.load(#require(cycle.ref))
            #expect(read.songCount == 2)
            #expect(read.length == 7)
            #expect(read.longest == 4)
            #expect(read.searchName == "winter")
            #expect(store.schema.entity("Cycle")?.attribute("searchName")?.defaultValue == .null)
        }

        @Test func `the schema has the options of the markers`() throws {
            let entity = try #require(try Schema(of: Poet.self).entity("Author"))
            #expect(entity.attribute("name")?.defaultValue == .null)
            #expect(entity.attribute("genre")?.defaultValue == .string("verse"))
            #expect(entity.attribute("score")?.defaultValue == .double(-1))
            #expect(entity.attribute("first")?.type == .json)
            #expect(entity.attribute("isSelected") == nil)
            #expect(entity.relationship("poems")?.deleteRule == .cascade)
        }
    }
#endif
