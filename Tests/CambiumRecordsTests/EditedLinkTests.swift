import Cambium
import Testing

@Suite("Links of records that were saved to an edit")
struct EditedLinkTests {
    private struct Begun {
        let store: Store
        let edit: Edit
        /// A tag that the edit inserted, with one book, as the edit has it.
        let draft: Tag
        /// A tag of the store without books.
        let classic: Tag
        let book: Ref<Book>
    }

    private func begin() throws -> Begun {
        let store = try Library.store()
        var (book, classic) = (Book("Emma"), Tag("classic"))
        try store.save(&book)
        try store.save(&classic)
        var (edit, draft) = (store.edit(), Tag("draft"))
        draft.books = [try #require(book.ref)]
        try edit.save(&draft)
        draft = try #require(try edit.find(Tag.self, identity: "draft"))
        return Begun(store: store, edit: edit, draft: draft, classic: classic, book: try #require(book.ref))
    }

    @Test("the members of an object that an edit inserted can be assigned to another object of the edit")
    func assignedInEdit() throws {
        let begun = try begin()
        let store = begun.store
        var (edit, draft, classic) = (begun.edit, begun.draft, begun.classic)
        classic.books = draft.books
        try edit.delete(&draft)
        try edit.save(&classic)
        try store.commit(&edit)
        #expect(try store.graph.find(Tag.self, identity: "classic")?.books.load().map(\.title) == ["Emma"])
    }

    @Test("a copy of an object that an edit inserted has its members, also after the commit of the edit")
    func copiedAfterCommit() throws {
        let begun = try begin()
        let store = begun.store
        var (edit, draft) = (begun.edit, begun.draft)
        try store.commit(&edit)
        (draft.name, draft.ref) = ("copy", nil)
        try store.save(&draft)
        #expect(try store.graph.find(Tag.self, identity: "copy")?.books.load().map(\.title) == ["Emma"])
    }

    @Test("the members of an object that an edit inserted can be assigned to an object of another entity after the commit")
    func assignedAfterCommit() throws {
        struct Track: BlankRecord {
            var title = ""
            var ref: Ref<Track>?
            static let recordSchema = RecordSchema<Track>("Track") { RecordProperty("title", \.title) }
        }
        struct Album: BlankRecord {
            var tracks = ToMany<Track>()
            var ref: Ref<Album>?
            static let recordSchema = RecordSchema<Album>("Album") { RecordProperty("tracks", \.tracks) }
        }
        struct Mix: BlankRecord {
            var tracks = ToMany<Track>()
            var ref: Ref<Mix>?
            static let recordSchema = RecordSchema<Mix>("Mix") { RecordProperty("tracks", \.tracks) }
        }
        let store = try Store.inMemory(schema: Schema(of: Album.self, Mix.self))
        var (track, mix) = (Track(title: "one"), Mix())
        try store.save(&track)
        try store.save(&mix)
        var (edit, album) = (store.edit(), Album(tracks: [try #require(track.ref)]))
        try edit.save(&album)
        album = try edit.load(try #require(album.ref))
        try store.commit(&edit)
        mix.tracks = album.tracks
        try store.save(&mix)
        #expect(try store.graph.load(try #require(mix.ref)).tracks.load().map(\.title) == ["one"])
    }

    @Test("the members of an object that an edit inserted can be assigned to another object of its entity after the commit")
    func assignedToOtherAfterCommit() throws {
        let begun = try begin()
        let (store, book) = (begun.store, begun.book)
        var (edit, draft, classic) = (begun.edit, begun.draft, begun.classic)
        let committed = try store.commit(&edit)
        classic.books = draft.books
        try store.save(&classic)
        #expect(try store.graph.find(Tag.self, identity: "classic")?.books.load().map(\.title) == ["Emma"])
        let ref = committed.ref(of: try #require(draft.ref))
        try store.write { try $0.unlink(ref.id, "books", book.id) }
        (draft.name, draft.ref) = ("old", ref)
        try store.save(&draft)
        #expect(try store.graph.load(ref).books.isEmpty)
    }
}
