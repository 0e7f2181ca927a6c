import Cambium
import FoundationEssentials
import TestFixtures
import Testing

@Suite("Decoders of records and their context")
struct RecordDecoderTests {
    @Test("a decoder without a store is an error with the remedy")
    func noStore() throws {
        let error = try #require(throws: CambiumError.self) { try JSONDecoder().records(Song.self, "[]") }
        #expect(error.code == .misuse)
        #expect(error.message.contains("userInfo[.cambiumStore]"))
    }

    @Test("a value of another type in the context is an error that names both types")
    func wrongContext() throws {
        let decoder = Music.decoder(try Music.store())
        decoder.userInfo[.cambiumImportOptions] = ImportMapping()
        let error = try #require(throws: CambiumError.self) { try decoder.records(Song.self, "[]") }
        #expect(error.code == .misuse)
        #expect(error.message.contains("ImportMapping") && error.message.contains("ImportOptions"))
    }

    @Test("the transaction has the author of the context")
    func author() throws {
        let store = try Music.store()
        let decoder = Music.decoder(store)
        decoder.userInfo[.cambiumAuthor] = Author(requestID: "feed-1")
        _ = try decoder.records(Song.self, #"{"id":1}"#)
        let error = try #require(throws: CambiumError.self) { try decoder.records(Song.self, #"{"id":2}"#) }
        #expect(error.code == .repeated)
        #expect(store.graph.objectCount == 1)
    }

    @Test("a record that does not fit the store is refused before anything is imported")
    func unfit() throws {
        let store = try Store.inMemory(
            schema: Schema { EntityDefinition("Seat", identity: ["row"]) { AttributeDefinition("row", .string) } })
        let error = try #require(throws: CambiumError.self) { try Music.decoder(store).records(Seat.self, #"{"row":"A"}"#) }
        #expect(error.code == .unknownName)
        #expect(store.graph.objectCount == 0)
    }

    @Test("a decoder inside of a write of the same store is refused")
    func nested() throws {
        let store = try Music.store()
        let error = try #require(throws: CambiumError.self) {
            try store.write { _ in _ = try Music.decoder(store).records(Song.self, #"{"id":1}"#) }
        }
        #expect(error.code == .misuse)
    }

    @Test("an array in the place of a row is an error at its index", arguments: ["[[]]", #"[[{"id":1},{"id":2}]]"#])
    func arrayAsRow(text: String) throws {
        let store = try Music.store()
        let error = try #require(throws: DecodingError.self) { try Music.decoder(store).records(Song.self, text) }
        guard case .dataCorrupted(let context) = error else { throw error }
        #expect(context.codingPath.map(\.stringValue) == ["Index 0"])
        #expect(store.graph.objectCount == 0)
    }

    @Test("numbers keep their digits")
    func numbers() throws {
        let text = """
            {"id":-9223372036854775808,"gain":5e-324,"price":0.12345678901234567890123456789012345678,
             "extra":[18446744073709551615,-0.1,1e300,123456789012345678901,true,null,"1"]}
            """
        let song = try Music.decoder(try Music.store()).records(Song.self, text)[0]
        #expect(song.id == .min)
        #expect(song.gain == .leastNonzeroMagnitude)
        #expect(song.price == DecimalNumber("0.12345678901234567890123456789012345678"))
        #expect(song.extra?.text == #"[18446744073709551615,-0.1,1e+300,123456789012345678901,true,null,"1"]"#)
    }

    @Test("values nest as deep as in imports, and objects that nest deeper are an error")
    func depth() throws {
        let store = try Music.store()
        let json = String(repeating: "[", count: 300) + String(repeating: "]", count: 300)
        #expect(try Music.decoder(store).records(Song.self, #"{"id":1,"extra":\#(json)}"#)[0].extra?.text == json)
        let nested = String(repeating: #"{"id":1,"songs":[{"id":1,"playlists":["#, count: 40)
        let end = String(repeating: "]}]}", count: 40)
        let error = try #require(throws: DecodingError.self) { try Music.decoder(store).records(Playlist.self, nested + end) }
        guard case .dataCorrupted(let context) = error else { throw error }
        #expect(context.codingPath.count > 64)
        #expect(store.graph.objectCount == 1)
    }

    @Test("members of JSON values are in ascending order of their keys")
    func keyOrder() throws {
        let song = try Music.decoder(try Music.store()).records(Song.self, #"{"id":1,"extra":{"c":1,"a":{"z":1,"y":2},"b":3}}"#)[0]
        #expect(song.extra?.text == #"{"a":{"y":2,"z":1},"b":3,"c":1}"#)
    }

    @Test("a decoder's strategy for keys applies")
    func keyStrategy() throws {
        let decoder = Music.decoder(try Music.store()) { $0.mapping = ImportMapping(attributes: ["title": "fullTitle"]) }
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try decoder.records(Song.self, #"{"id":1,"full_title":"a"}"#).map(\.title) == ["a"])
    }

    @Test("the mapping reads dates and data, and a decoder's strategies for them do not apply")
    func dates() throws {
        let store = try Music.store()
        let decoder = Music.decoder(store)
        decoder.dateDecodingStrategy = .secondsSince1970
        let song = try decoder.records(Song.self, #"{"id":1,"recorded":"1970-01-01T00:00:05Z","cover":"AQI="}"#)[0]
        #expect(song.recorded == Date(timeIntervalSince1970: 5))
        #expect(song.cover == [1, 2])
        #expect(throws: DecodingError.self) { try decoder.records(Song.self, #"{"id":1,"recorded":5}"#) }
        let mapped = Music.decoder(store) {
            $0.mapping = ImportMapping(attributes: ["recorded": PropertyMapping(.path("at"), dates: [.secondsSince2001])])
        }
        #expect(try mapped.records(Song.self, #"{"id":1,"at":5}"#)[0].recorded == Date(timeIntervalSinceReferenceDate: 5))
    }

    @Test("a PropertyListDecoder reads dates and data of its format", arguments: [PropertyListDecoder.PropertyListFormat.xml, .binary])
    func propertyList(format: PropertyListDecoder.PropertyListFormat) throws {
        struct Row: Encodable {
            var id = 1
            var gain = 0.5
            var recorded = Date(timeIntervalSinceReferenceDate: 7)
            var cover = Data([1, 2, 3])
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        let decoder = PropertyListDecoder()
        decoder.userInfo[.cambiumStore] = try Music.store()
        let song = try decoder.decode(ImportedRecords<Song>.self, from: encoder.encode([Row()])).records[0]
        #expect(song.gain == 0.5)
        #expect(song.recorded == Date(timeIntervalSinceReferenceDate: 7))
        #expect(song.cover == [1, 2, 3])
    }

    @Test("a date of a property list that no attribute can hold is an error")
    func impossibleDate() throws {
        struct Row: Encodable {
            var id = 1
            var recorded = Date.distantPast
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let data = try encoder.encode([Row()])
        let store = try Music.store()
        let decoder = PropertyListDecoder()
        decoder.userInfo[.cambiumStore] = store
        #expect(throws: DecodingError.self) { try decoder.decode(ImportedRecords<Song>.self, from: data) }
        #expect(store.graph.objectCount == 0)
    }

    @Test("a decoder that knows only texts works with a mapping")
    func texts() throws {
        var options = ImportOptions()
        options.mapping = ImportMapping(attributes: ["id": PropertyMapping(.path("id"), functions: [.integer])])
        let userInfo: [CodingUserInfoKey: Any] = [.cambiumStore: try Music.store(), .cambiumImportOptions: options]
        let decoder = FormDecoder(fields: ["id": "7", "title": "1"], userInfo: userInfo)
        let song = try ImportedRecord<Song>(from: decoder).record
        #expect(song.id == 7)
        #expect(song.title == "1")
    }
}

/// A decoder of the fields of a form, which are texts.
private struct FormDecoder: Decoder {
    let fields: [String: String]
    let userInfo: [CodingUserInfoKey: Any]
    var codingPath: [any CodingKey] = []
    var text: String?

    init(fields: [String: String], userInfo: [CodingUserInfoKey: Any]) { (self.fields, self.userInfo) = (fields, userInfo) }

    func error() -> DecodingError { .typeMismatch(String.self, .init(codingPath: codingPath, debugDescription: "not a text")) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if text != nil { throw error() }
        return KeyedDecodingContainer(Fields(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw error() }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        guard let text else { throw error() }
        return Text(decoder: self, text: text)
    }

    struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: FormDecoder
        var codingPath: [any CodingKey] { decoder.codingPath }
        var allKeys: [Key] { decoder.fields.keys.compactMap(Key.init(stringValue:)) }

        func contains(_ key: Key) -> Bool { decoder.fields[key.stringValue] != nil }
        func decodeNil(forKey key: Key) throws -> Bool { false }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            var field = decoder
            field.text = decoder.fields[key.stringValue]
            field.codingPath.append(key)
            return try T(from: field)
        }
        func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
            throw decoder.error()
        }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw decoder.error() }
        func superDecoder() throws -> any Decoder { throw decoder.error() }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw decoder.error() }
    }

    struct Text: SingleValueDecodingContainer {
        let decoder: FormDecoder
        let text: String
        var codingPath: [any CodingKey] { decoder.codingPath }

        func decodeNil() -> Bool { false }
        func decode<T: Decodable>(_ type: T.Type) throws -> T {
            guard let text = text as? T else { throw decoder.error() }
            return text
        }
    }
}
