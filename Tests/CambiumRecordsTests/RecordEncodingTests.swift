import Cambium
import FoundationEssentials
import TestFixtures
import Testing

@Suite("Encoding records by the rules of exports")
struct RecordEncodingTests {
    private let store: Store
    private let lists: [Playlist]

    init() throws {
        store = try Music.store()
        lists = try Music.decoder(store).records(
            Playlist.self, #"[{"id":1,"songs":[{"id":5,"title":"five"},{"id":4,"gain":1.5}]},{"id":2,"title":"two","songs":[5]}]"#)
    }

    private func options(_ change: (inout ExportOptions) -> Void) -> ExportOptions {
        var options = ExportOptions()
        change(&options)
        return options
    }

    private func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test("null is written as null, and references are ids")
    func nulls() throws {
        #expect(
            try text(ExportedRecord(lists[0], in: store.graph))
                == #"{"_id":"Playlist/1","id":1,"songs":["Song/1","Song/2"],"title":null}"#)
    }

    @Test("nulls are omitted on request")
    func withoutNulls() throws {
        let options = options { $0.nulls = .omit }
        #expect(
            try text(ExportedRecord(lists[0], in: store.graph, options)) == #"{"_id":"Playlist/1","id":1,"songs":["Song/1","Song/2"]}"#)
    }

    @Test("several records are an array in their order")
    func several() throws {
        let options = options { ($0.references, $0.nulls) = (.identity, .omit) }
        #expect(
            try text(ExportedRecords([lists[1], lists[0], lists[1]], in: store.graph, options))
                == #"[{"id":2,"songs":[5],"title":"two"},{"id":1,"songs":[5,4]},{"id":2,"songs":[5],"title":"two"}]"#)
    }

    @Test("a nested object omits the inverse by which it was reached")
    func omittedInverse() throws {
        let options = options {
            ($0.references, $0.nulls) = (.identity, .omit)
            $0.include = IncludeTree(depth: 1)
        }
        #expect(
            try text(ExportedRecord(lists[0], in: store.graph, options))
                == #"{"id":1,"songs":[{"id":5,"title":"five"},{"gain":1.5,"id":4}]}"#)
    }

    @Test("the depth and the includes choose the nested objects")
    func depth() throws {
        let paths = options {
            $0.nulls = .omit
            $0.include = IncludeTree(depth: 2)
        }
        let nested = try text(ExportedRecord(lists[1], in: store.graph, paths))
        #expect(
            nested == #"{"_id":"Playlist/2","id":2,"songs":[{"_id":"Song/1","id":5,"playlists":["#
                + #"{"_id":"Playlist/1","id":1,"songs":["Song/1","Song/2"]},"Playlist/2"],"title":"five"}],"title":"two"}"#)
    }

    @Test("cycles end with the id of an object that is on the path")
    func cycles() throws {
        let store = try Library.store()
        var ann = Person("Ann", friends: [Person("Bo")])
        try store.save(&ann)
        var bo = ann.friends[0]
        bo.friends = [ann]
        bo.friends[0].friends = [bo]
        try store.save(&bo)
        let options = options { $0.include = IncludeTree(depth: 9) }
        #expect(
            try text(ExportedRecord(ann, in: store.graph, options))
                == #"{"_id":"Person/1","friends":[{"_id":"Person/2","friends":["Person/1"],"name":"Bo"}],"name":"Ann"}"#)
    }

    @Test("the mapping writes key paths as nested objects, and the same mapping reads them back")
    func mapping() throws {
        let mapping = ImportMapping(attributes: ["title": "names.long"], relationships: ["songs": "content.songs"])
        let options = options {
            $0.mapping = mapping
            $0.include = IncludeTree(depth: 1)
        }
        let json = try text(ExportedRecords(lists, in: store.graph, options))
        #expect(json.contains(#""names":{"long":"two"}"#))
        let copy = try Music.store()
        let read = try Music.decoder(copy) { $0.mapping = mapping }.records(Playlist.self, json)
        #expect(read.map(\.title) == [nil, "two"])
        #expect(read[0].songs.map(\.gain) == [nil, 1.5])
        #expect(try text(ExportedRecords(read, in: copy.graph, options)) == json)
    }

    @Test("two objects with the same identity of a mapping are refused, and one object twice is not")
    func sameIdentity() throws {
        _ = try Music.decoder(store).records(Playlist.self, #"{"id":3,"title":"two"}"#)
        let options = options { $0.mapping = ImportMapping(identity: ["title"]) }
        let all = try store.graph.fetch(Playlist.self)
        #expect(throws: Never.self) { try text(ExportedRecords([all[1], all[1]], in: store.graph, options)) }
        let error = try #require(throws: EncodingError.self) {
            try text(ExportedRecords([all[1], all[1], all[2]], in: store.graph, options))
        }
        guard case .invalidValue(_, let context) = error else { throw error }
        #expect(context.codingPath.map(\.intValue) == [2])
        #expect((context.underlyingError as? CambiumError)?.code == .invalidInput)
    }

    @Test("the error for a record that only an edit has names the object as the edit does")
    func provisional() throws {
        var edit = store.edit()
        var song = Song(9)
        try edit.save(&song)
        let error = try #require(throws: EncodingError.self) { try text(ExportedRecord(song, in: store.graph)) }
        guard case .invalidValue(_, let context) = error else { throw error }
        #expect((context.underlyingError as? CambiumError)?.code == .objectDeleted)
        #expect(context.debugDescription.contains("Song/+1 "))
    }

    @Test("numbers keep their value in the type that holds it")
    func numbers() throws {
        let extra = "[18446744073709551615,-1,0.1,1e300,123456789012345678901,0.12345678901234567890123]"
        let song = try Music.decoder(store).records(Song.self, #"{"id":1,"price":0.1,"gain":-0.0,"extra":\#(extra)}"#)[0]
        let json = try text(ExportedRecord(song, in: store.graph))
        #expect(json.contains(#""extra":\#(extra.replacing("1e300", with: "1e+300"))"#))
        #expect(json.contains(#""price":0.1,"#))
    }

    @Test("null in JSON is a missing value")
    func nullInJSON() throws {
        var song = Song(9)
        song.extra = JSONValue.null
        try store.save(&song)
        let id = try #require(try store.graph.find("Song", identity: [9]))
        #expect(try store.graph[id, "extra"].isNull)
    }

    @Test("a number that no type holds is an error")
    func hugeNumber() throws {
        let source = ImportSource.bytes(Array(#"{"id":9,"extra":1e400}"#.utf8))
        let song = try store.importRecords(Song.self, from: [source]).records[0]
        #expect(throws: EncodingError.self) { try text(ExportedRecord(song, in: store.graph)) }
    }

    @Test("a PropertyListEncoder writes what a PropertyListDecoder imports")
    func propertyList() throws {
        let options = options {
            ($0.references, $0.nulls) = (.identity, .omit)
            $0.include = IncludeTree(depth: 1)
        }
        let data = try PropertyListEncoder().encode(ExportedRecords(lists, in: store.graph, options))
        let decoder = PropertyListDecoder()
        let copy = try Music.store()
        decoder.userInfo[.cambiumStore] = copy
        let read = try decoder.decode(ImportedRecords<Playlist>.self, from: data).records
        #expect(read.map(\.title) == [nil, "two"])
        #expect(read[0].songs.map(\.title) == ["five", nil])
    }

    @Test("the values are those of the given graph")
    func earlierGraph() throws {
        let earlier = store.graph
        var changed = lists[1]
        changed.title = "three"
        let options = options { $0.nulls = .omit }
        #expect(try text(ExportedRecord(changed, in: earlier, options)).contains("two"))
        try store.save(&changed)
        #expect(try text(ExportedRecord(changed, in: store.graph, options)).contains("three"))
        #expect(try text(ExportedRecord(changed, in: earlier, options)).contains("two"))
    }

    @Test("the ref of a transaction that was rolled back does not export the object that got its id")
    func rolledBack() throws {
        struct Stop: Error {}
        var (lost, other) = (Song(8), Song(9))
        #expect(throws: Stop.self) {
            try store.write { transaction in
                try transaction.save(&lost)
                throw Stop()
            }
        }
        try store.save(&other)
        #expect(lost.ref?.id == other.ref?.id)
        #expect(throws: EncodingError.self) { try text(ExportedRecord(lost, in: store.graph)) }
    }

    @Test("a record that was never saved, was deleted, or is of another store is an error")
    func withoutObject() throws {
        var gone = lists[1]
        try store.delete(&gone)
        for (record, code) in [(gone, CambiumError.Code.objectDeleted), (lists[1], .objectDeleted)] {
            let error = try #require(throws: EncodingError.self) { try text(ExportedRecord(record, in: store.graph)) }
            guard case .invalidValue(_, let context) = error else { throw error }
            #expect((context.underlyingError as? CambiumError)?.code == code)
        }
        let other = try Music.store()
        #expect(throws: EncodingError.self) { try text(ExportedRecord(lists[0], in: other.graph)) }
    }

    @Test("willExport gets the record, and changes its row or leaves it out")
    func willExport() throws {
        let hooks = ExportHooks(Playlist.self) { list, row in
            if list.title == "two" { return .leaveOut }
            row = .object([.init("count", .number("\(list.songs.count)"))])
            return .write
        }
        #expect(try text(ExportedRecords(lists, in: store.graph, hooks: hooks)) == #"[{"count":2}]"#)
        #expect(throws: EncodingError.self) { try text(ExportedRecord(lists[1], in: store.graph, hooks: hooks)) }
        var output: [UInt8] = []
        try store.graph.export(nil, hooks: hooks) { output += $0 }
        let rows = String(decoding: output, as: UTF8.self)
        #expect(rows.hasPrefix(#"{"count":2}"# + "\n" + #"{"_id":"Song/1""#))
    }
}
