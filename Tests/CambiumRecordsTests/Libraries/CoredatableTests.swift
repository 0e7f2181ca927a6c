import Cambium
import FoundationEssentials
import TestFixtures
import Testing

/// The cases of Coredatable's own tests that the suites of decoded and encoded records do not have, in this API.
@Suite("Coredatable's cases: decoding and encoding records")
struct CoredatableTests {
    private static let complete = """
        {"int16": 16, "int32": 32, "decimal": 10, "double": 2.2, "float": 1.1, "boolean": true, "date": 200, "string": "text", "int64": 64,
         "binary": "aGVsbG8gd29ybGQ=", "uuid": "16283C8B-4E41-41F4-B506-5EEF6F568C1D", "uri": "https://a.org/b",
         "transformable": ["1", "2", "3"]}
        """

    private static let dates = ImportMapping(attributes: ["date": PropertyMapping(.name, dates: [.secondsSince1970])])

    private func decodedComplete(_ store: Store) throws -> Complete {
        let decoder = Music.decoder(store) { $0.mapping = Self.dates }
        return try decoder.decode(ImportedRecord<Complete>.self, from: Data(Self.complete.utf8)).record
    }

    @Test("a value of every type is decoded")
    func everyType() throws {
        let value = try decodedComplete(Store.inMemory(schema: Schema(of: Complete.self)))
        #expect((value.int16, value.int32, value.int64) == (16, 32, 64))
        #expect((value.decimal, value.double, value.float) == (10, 2.2, 1.1))
        #expect(value.boolean)
        #expect(value.date == Date(timeIntervalSince1970: 200))
        #expect(value.string == "text")
        #expect(value.binary == Data("hello world".utf8))
        #expect(value.uuid?.uuidString == "16283C8B-4E41-41F4-B506-5EEF6F568C1D")
        #expect(value.uri?.absoluteString == "https://a.org/b")
        #expect(value.transformable == ["1", "2", "3"])
    }

    @Test("a value of every type is encoded, and the same mapping decodes it")
    func everyTypeEncoded() throws {
        let store = try Store.inMemory(schema: Schema(of: Complete.self))
        let value = try decodedComplete(store)
        var options = ExportOptions()
        options.mapping = Self.dates
        let data = try JSONEncoder().encode(ExportedRecord(value, in: store.graph, options))
        let copy = try Store.inMemory(schema: Schema(of: Complete.self))
        let decoder = Music.decoder(copy) { $0.mapping = Self.dates }
        var copied = try decoder.decode(ImportedRecord<Complete>.self, from: data).record
        copied.ref = value.ref
        #expect(copied == value)
        #expect(String(decoding: data, as: UTF8.self).contains(#""date":200"#))
    }

    @Test("another decodable value contains one record and several records")
    func nestedRecords() throws {
        struct Page: Decodable {
            let token: String
            let song: ImportedRecord<Song>
            let songs: ImportedRecords<Song>
        }
        let store = try Music.store()
        let json = #"{"token": "abc", "song": {"id": 1, "title": "a"}, "songs": [{"id": 2}, {"id": 1, "gain": 2}]}"#
        let page = try Music.decoder(store).decode(Page.self, from: Data(json.utf8))
        #expect(page.token == "abc")
        #expect(page.song.record.title == "a")
        #expect(page.songs.records.map(\.id) == [2, 1])
        #expect(page.songs.records.map(\.title) == [nil, "a"])
    }

    @Test("a mapping joins texts and converts numbers before the identity is looked up")
    func custom() throws {
        let mapping = ImportMapping(attributes: [
            "id": PropertyMapping(.path("id"), functions: [.integer]),
            "title": PropertyMapping(.join(["first", "second"], separator: " ")),
        ])
        let store = try Music.store()
        let decoder = Music.decoder(store) { $0.mapping = mapping }
        let json = #"[{"id": "1", "first": "FIRST", "second": "SECOND"}, {"id": "2", "first": "UNO", "second": "DOS"}]"#
        let first = try decoder.records(Song.self, json)
        #expect(first.map(\.title) == ["FIRST SECOND", "UNO DOS"])
        #expect(try decoder.records(Song.self, json).map(\.ref) == first.map(\.ref))
    }

    @Test("an identity that is joined from two keys finds its object again")
    func joinedIdentity() throws {
        let joined = PropertyMapping(.join(["first", "last"], separator: ""), functions: [.integer])
        let decoder = Music.decoder(try Music.store()) { $0.mapping = ImportMapping(attributes: ["id": joined]) }
        let first = try decoder.records(Song.self, #"[{"first": "1", "last": "2", "title": "zero"}]"#)[0]
        let again = try decoder.records(Song.self, #"[{"first": "1", "last": "2", "title": "one"}]"#)[0]
        #expect(first.id == 12)
        #expect(again.ref == first.ref)
        #expect(again.title == "one")
    }

    @Test("rows with an identity of two attributes update some objects and insert others")
    func compositeIdentity() throws {
        let store = try Music.store()
        let decoder = Music.decoder(store)
        _ = try decoder.records(Seat.self, #"[{"row": "D", "number": 3, "guest": "a"}, {"row": "H", "number": 11, "guest": "b"}]"#)
        let update = try decoder.imported(Seat.self, #"[{"row": "H", "number": 11, "guest": "c"}, {"row": "C", "number": 3}]"#)
        #expect((update.report.counts.updated, update.report.counts.inserted) == (1, 1))
        #expect(try store.graph.fetch(Seat.self).map(\.guest) == ["a", "c", nil])
    }

    @Test("a new object needs its mandatory values, and a row of an existing object may lack them")
    func mandatory() throws {
        let store = try Library.store()
        let decoder = Music.decoder(store)
        let error = try #require(throws: DecodingError.self) { try decoder.records(Writer.self, #"[{"id": 1, "name": "a"}, {"id": 2}]"#) }
        guard case .dataCorrupted(let context) = error else { throw error }
        #expect(context.codingPath.first?.intValue == 1)
        #expect(store.graph.objectCount == 0)
        _ = try decoder.records(Writer.self, #"{"id": 1, "name": "a"}"#)
        let updated = try decoder.records(Writer.self, #"{"id": 1, "born": "2001-01-01T00:00:00Z"}"#)
        #expect(updated.map(\.name) == ["a"])
        #expect(updated.map(\.born) == [Date(timeIntervalSinceReferenceDate: 0)])
    }

    @Test("a key determines the sub-entity, and a row of the parent finds the object again")
    func subEntity() throws {
        struct Shape: BlankRecord {
            var id = 0
            var name: String?
            var ref: Ref<Shape>?
            static let recordSchema = RecordSchema<Shape>("Shape") {
                RecordProperty("id", \.id, .identity)
                RecordProperty("name", \.name)
            }
        }
        struct Circle: BlankRecord {
            var id = 0
            var radius: Double?
            var ref: Ref<Circle>?
            static let recordSchema = RecordSchema<Circle>("Circle", parent: Shape.self) {
                RecordProperty("id", \.id, .identity)
                RecordProperty("radius", \.radius)
            }
        }
        let store = try Store.inMemory(schema: Schema(of: Circle.self))
        let decoder = Music.decoder(store) {
            $0.mapping = ImportMapping(entityFrom: "type", entityNames: ["round": "Circle"])
        }
        _ = try decoder.records(Shape.self, #"[{"type": "round", "id": 1, "radius": 2}, {"type": "Shape", "id": 2}]"#)
        #expect(try store.graph.fetch(Circle.self).map(\.radius) == [2])
        let named = try Music.decoder(store).imported(Shape.self, #"{"id": 1, "name": "wheel"}"#)
        #expect(named.report.counts.updated == 1)
        #expect(try store.graph.fetch(Shape.self).map(\.name) == ["wheel", nil])
    }

    @Test("an id in place of a whole row is an error, and ids in relationships find objects or make stubs")
    func ids() throws {
        let store = try Music.store()
        let decoder = Music.decoder(store)
        #expect(throws: DecodingError.self) { try decoder.records(Song.self, "[1, 2]") }
        #expect(store.graph.objectCount == 0)
        let lists = try decoder.records(Playlist.self, #"{"id": 1, "songs": [1, {"id": 2}, 3]}"#)
        #expect(lists[0].songs.map(\.id) == [1, 2, 3])
    }

    @Test("the strategy for keys of an encoder applies")
    func keyStrategy() throws {
        let store = try Music.store()
        let song = try Music.decoder(store).records(Song.self, #"{"id": 1, "title": "a"}"#)[0]
        var options = ExportOptions()
        options.mapping = ImportMapping(attributes: ["title": "fullTitle"])
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let text = String(decoding: try encoder.encode(ExportedRecord(song, in: store.graph, options)), as: UTF8.self)
        #expect(text.contains(#""full_title":"a""#))
    }

    @Test("the members of a record are a collection with random access")
    func collection() throws {
        let store = try Music.store()
        let json = #"[{"id": 1, "songs": [9]}, {"id": 2, "songs": [9]}, {"id": 3, "songs": [9]}]"#
        _ = try Music.decoder(store).records(Playlist.self, json)
        let lists = try #require(try store.graph.find(Song.self, identity: 9)).playlists
        #expect(lists.count == 3)
        #expect(try lists.first?.load().id == 1)
        #expect(try lists.last?.load().id == 3)
        #expect(try lists[0...1].map { try $0.load().id } == [1, 2])
    }
}
