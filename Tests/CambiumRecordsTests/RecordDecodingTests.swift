import Cambium
import FoundationEssentials
import TestFixtures
import Testing

@Suite("Decoding records by the rules of imports")
struct RecordDecodingTests {
    @Test("a JSONDecoder with a store in its context returns records in the order of the input")
    func decoder() throws {
        let store = try Music.store()
        let imported = try Music.decoder(store).imported(Song.self, #"[{"id":2,"title":"b"},{"id":1,"title":"a"}]"#)
        #expect(imported.records.map(\.title) == ["b", "a"])
        #expect(imported.records.map(\.ref?.id.serial) == [1, 2])
        #expect(imported.report.counts.inserted == 2)
        #expect(try store.graph.fetch(Song.self).map(\.id) == [2, 1])
    }

    @Test("decoding the same input again changes nothing")
    func upsert() throws {
        let store = try Music.store()
        let decoder = Music.decoder(store)
        let text = #"{"id":1,"title":"mix","songs":[{"id":7,"title":"x","extra":{"b":1,"a":{"d":2,"c":3}}}]}"#
        let first = try decoder.records(Playlist.self, text)
        let second = try decoder.imported(Playlist.self, text)
        #expect(second.records == first)
        #expect(second.report.transaction == nil)
        #expect(second.report.counts.unchanged == 1)
    }

    @Test("ImportedRecord decodes one object, also inside of another value")
    func single() throws {
        struct Page: Decodable {
            let next: Int
            let song: ImportedRecord<Song>
        }
        let store = try Music.store()
        let page = try Music.decoder(store).decode(Page.self, from: Data(#"{"next":2,"song":{"id":1,"title":"a"}}"#.utf8))
        #expect(page.next == 2)
        #expect(page.song.record.title == "a")
        #expect(throws: DecodingError.self) {
            try Music.decoder(store).decode(ImportedRecord<Song>.self, from: Data(#"[{"id":2}]"#.utf8))
        }
        #expect(throws: DecodingError.self) { try Music.decoder(store).records(Song.self, "7") }
        #expect(store.graph.objectCount == 1)
    }

    @Test("keys of an enumeration name the properties")
    func enumeration() throws {
        enum Keys: String, CaseIterable {
            case id
            case title = "fullTitle"
        }
        let attributes = Dictionary(uniqueKeysWithValues: Keys.allCases.map { ("\($0)", PropertyMapping(.path($0.rawValue))) })
        let decoder = Music.decoder(try Music.store()) { $0.mapping = ImportMapping(attributes: attributes) }
        #expect(try decoder.records(Song.self, #"{"id":1,"fullTitle":"a","title":"no"}"#).map(\.title) == ["a"])
    }

    @Test("key paths lead to attributes and relationships, and a literal key wins")
    func keyPaths() throws {
        let objects = ObjectMapping(
            delimiter: "->", attributes: ["title": "names->long"], relationships: ["songs": "content->songs"])
        let decoder = Music.decoder(try Music.store()) { $0.mapping = ImportMapping(objects: objects) }
        let lists = try decoder.records(
            Playlist.self,
            #"[{"id":1,"names":{"long":"path"},"content":{"songs":[5]}},{"id":2,"names":{"long":"path"},"names->long":"literal"}]"#)
        #expect(lists.map(\.title) == ["path", "literal"])
        #expect(lists[0].songs.map(\.id) == [5])
    }

    @Test("an identity of several attributes finds objects")
    func severalAttributes() throws {
        let decoder = Music.decoder(try Music.store())
        let first = try decoder.records(Seat.self, #"[{"row":"A","number":1},{"row":"A","number":2}]"#)
        let again = try decoder.records(Seat.self, #"[{"row":"A","number":2,"guest":"Eva"},{"row":"B","number":2}]"#)
        #expect(again[0].ref == first[1].ref)
        #expect(again[0].guest == "Eva")
        #expect(again[1].ref?.id.serial == 3)
    }

    @Test("a missing key keeps a value, and null clears it")
    func missingAndNull() throws {
        let decoder = Music.decoder(try Music.store())
        _ = try decoder.records(Playlist.self, #"{"id":1,"title":"a","songs":[1]}"#)
        let kept = try decoder.records(Playlist.self, #"{"id":1}"#)[0]
        #expect(kept.title == "a")
        #expect(kept.songs.count == 1)
        let cleared = try decoder.records(Playlist.self, #"{"id":1,"title":null,"songs":null}"#)[0]
        #expect(cleared.title == nil)
        #expect(cleared.songs.isEmpty)
    }

    @Test("a value of the wrong type is an error with its path, and nothing is written")
    func wrongType() throws {
        let store = try Music.store()
        let text = #"[{"id":1},{"id":2,"songs":[3,{"id":4,"title":7}]}]"#
        let error = try #require(throws: DecodingError.self) { try Music.decoder(store).records(Playlist.self, text) }
        guard case .dataCorrupted(let context) = error else { throw error }
        #expect(context.codingPath.map(\.stringValue) == ["Index 1", "songs", "Index 1", "title"])
        #expect((context.underlyingError as? CambiumError)?.code == .invalidInput)
        #expect(store.graph.objectCount == 0)
        let decoder = Music.decoder(store) { $0.mismatch = .null }
        #expect(try decoder.records(Playlist.self, text)[1].songs.map(\.title) == [nil, nil])
    }

    @Test("the path of an error begins with the path of the decoder")
    func pathOfDecoder() throws {
        let decoder = Music.decoder(try Music.store())
        let data = Data(#"{"a/b":{"id":"x"}}"#.utf8)
        let error = try #require(throws: DecodingError.self) { try decoder.decode([String: ImportedRecord<Song>].self, from: data) }
        guard case .dataCorrupted(let context) = error else { throw error }
        #expect(context.codingPath.map(\.stringValue) == ["a/b", "id"])
    }

    @Test("a key that begins with a combining mark, or has one after a slash, is in the path", arguments: ["\u{301}y", "x/\u{301}y"])
    func combiningMark(key: String) throws {
        let decoder = Music.decoder(try Music.store()) { $0.mapping = ImportMapping(attributes: ["title": .init(.path(key))]) }
        let error = try #require(throws: DecodingError.self) { try decoder.records(Song.self, #"{"id":1,"\#(key)":7}"#) }
        guard case .dataCorrupted(let context) = error else { throw error }
        #expect(context.codingPath.map(\.stringValue) == [key])
    }

    @Test("an id in place of an object makes a stub, and a later row fills it")
    func stubs() throws {
        let decoder = Music.decoder(try Music.store())
        let imported = try decoder.imported(Playlist.self, #"{"id":1,"songs":[5]}"#)
        #expect(imported.report.entities["Song"]?.stubs == 1)
        #expect(imported.records[0].songs.map(\.id) == [5])
        let filled = try decoder.imported(Song.self, #"{"id":5,"title":"five"}"#)
        #expect(filled.report.counts.updated == 1)
        #expect(filled.records[0].ref == imported.records[0].songs[0].ref)
    }

    @Test("ids and objects in one array keep their order, and duplicates collapse to the first")
    func mixedArrays() throws {
        let decoder = Music.decoder(try Music.store())
        let mixed = try decoder.records(Playlist.self, #"{"id":1,"songs":[3,{"id":1,"title":"a"},2,null,3]}"#)[0]
        #expect(mixed.songs.map(\.id) == [3, 1, 2])
        #expect(mixed.songs.map(\.title) == [nil, "a", nil])
        let ordered = try decoder.records(Playlist.self, #"{"id":1,"songs":[2,3]}"#)[0]
        #expect(ordered.songs.map(\.id) == [2, 3])
    }

    @Test("the same new id in several rows is one object, and later rows are applied to it")
    func repeatedRows() throws {
        let store = try Music.store()
        let imported = try Music.decoder(store).imported(Song.self, #"[{"id":1,"title":"a"},{"id":1,"gain":2}]"#)
        #expect(imported.records.count == 2)
        #expect(imported.records.allSatisfy { $0.title == "a" && $0.gain == 2 })
        #expect(imported.report.counts.repeated == 1)
        #expect(store.graph.objectCount == 1)
    }

    @Test("prepare changes a row, and finish gets a ref to its object")
    func hooks() throws {
        let store = try Music.store()
        let decoder = Music.decoder(store)
        decoder.userInfo[.cambiumImportHooks] = ImportHooks(
            Song.self, prepare: { row in row = .object([.init("id", row["number"] ?? .null)]) },
            finish: { transaction, song, row in try transaction.set(song.id, "title", to: .string("row \(row.text)")) })
        let song = try decoder.records(Song.self, #"{"number":7}"#)[0]
        #expect(song.id == 7)
        #expect(song.title == #"row {"id":7}"#)
    }

    @Test("finish is called only for objects of its record's entity, and may save records")
    func hookOfEntity() throws {
        let store = try Music.store()
        let decoder = Music.decoder(store)
        decoder.userInfo[.cambiumImportHooks] = ImportHooks(Song.self) { transaction, song, _ in
            var other = Song(100)
            other.title = "after \(song.id.serial)"
            try transaction.save(&other)
        }
        _ = try decoder.records(Playlist.self, #"{"id":1}"#)
        #expect(try store.graph.find(Song.self, identity: 100) == nil)
        _ = try decoder.records(Song.self, #"{"id":1}"#)
        #expect(try store.graph.find(Song.self, identity: 100)?.title == "after 1")
    }

    @Test("prepare is called only in imports of its record's entity")
    func prepareOfEntity() throws {
        let store = try Music.store()
        let decoder = Music.decoder(store)
        decoder.userInfo[.cambiumImportHooks] = ImportHooks(Song.self, prepare: { row in row = .object([.init("id", .number("7"))]) })
        #expect(try decoder.records(Playlist.self, #"{"id":1}"#)[0].id == 1)
        #expect(try decoder.records(Song.self, #"{"id":1}"#)[0].id == 7)
    }

    @Test("rows that are skipped have no records")
    func leftOut() throws {
        let decoder = Music.decoder(try Music.store()) { $0.onError = .skip }
        let imported = try decoder.imported(Song.self, #"[{"id":1},{"id":"x"},{"id":3}]"#)
        #expect(imported.records.map(\.id) == [1, 3])
        #expect(imported.report.errors.map(\.row) == [2])
        #expect(throws: DecodingError.self) { try decoder.decode(ImportedRecord<Song>.self, from: Data(#"{"id":"x"}"#.utf8)) }
    }

    @Test("importRecords returns the records of any source")
    func importRecords() throws {
        let store = try Music.store()
        let source = ImportSource.bytes(Array(#"{"id":2,"gain":-0.0} {"id":1}"#.utf8))
        let imported = try store.importRecords(Song.self, from: [source])
        #expect(imported.records.map(\.id) == [2, 1])
        #expect(imported.report.rowObjects.count == 2)
        var options = ImportOptions()
        options.effect = .dryRun
        let error = try #require(throws: CambiumError.self) { try store.importRecords(Song.self, from: [source], options) }
        #expect(error.code == .invalidInput)
    }

    @Test("importRecords omits an object that another writer deletes between two batches")
    func deletedBetweenBatches() throws {
        let store = try Music.store()
        let lines = (1...2).map { Array("{\"id\":\($0)}\n".utf8) }
        let source = ImportSource(name: "pipe", isRepeatable: false) {
            var rest = lines[...]
            return { buffer in
                // The second row is read after the first batch was committed.
                if var song = try store.graph.find(Song.self, identity: 1) { try store.delete(&song) }
                guard let line = rest.popFirst() else { return 0 }
                buffer.copyBytes(from: line)
                return line.count
            }
        }
        var options = ImportOptions()
        options.batchRowCount = 1
        let imported = try store.importRecords(Song.self, from: [source], options)
        #expect(imported.records.map(\.id) == [2])
        #expect(imported.report.counts.inserted == 2)
    }
}
