import Cambium
import FoundationEssentials

/// Hand-written records for decoders and encoders: an ordered list, an identity of two attributes, and JSON of any form.
struct Playlist: EntityRecord, Equatable {
    var id: Int
    var title: String?
    var songs: [Song]
    var ref: Ref<Playlist>?

    static let recordSchema = RecordSchema<Playlist>("Playlist") {
        RecordProperty("id", \.id, .identity)
        RecordProperty("title", \.title)
        RecordProperty("songs", \.songs, .inverse(\Song.playlists))
    }

    init(from row: inout RecordReader) throws {
        id = try row.read("id")
        title = try row.read("title")
        songs = try row.read("songs")
        ref = row.ref()
    }
}

struct Song: EntityRecord, Equatable {
    var id: Int
    var title: String?
    var gain: Double?
    var price: DecimalNumber?
    var recorded: Date?
    var cover: [UInt8]?
    var extra: JSONValue?
    var playlists = ToMany<Playlist>()
    var ref: Ref<Song>?

    static let recordSchema = RecordSchema<Song>("Song") {
        RecordProperty("id", \.id, .identity)
        RecordProperty("title", \.title)
        RecordProperty("gain", \.gain)
        RecordProperty("price", \.price)
        RecordProperty("recorded", \.recorded)
        RecordProperty("cover", \.cover)
        RecordProperty("extra", \.extra)
        RecordProperty("playlists", \.playlists)
    }

    init(_ id: Int) { self.id = id }

    init(from row: inout RecordReader) throws {
        id = try row.read("id")
        title = try row.read("title")
        gain = try row.read("gain")
        price = try row.read("price")
        recorded = try row.read("recorded")
        cover = try row.read("cover")
        extra = try row.read("extra")
        playlists = try row.read("playlists")
        ref = row.ref()
    }
}

struct Seat: EntityRecord, Equatable {
    var row: String
    var number: Int
    var guest: String?
    var ref: Ref<Seat>?

    static let recordSchema = RecordSchema<Seat>("Seat") {
        RecordProperty("row", \.row, .identity)
        RecordProperty("number", \.number, .identity)
        RecordProperty("guest", \.guest)
    }

    init(from row: inout RecordReader) throws {
        self.row = try row.read("row")
        number = try row.read("number")
        guest = try row.read("guest")
        ref = row.ref()
    }
}

enum Music {
    static func store() throws -> Store { try Store.inMemory(schema: Schema(of: Playlist.self, Seat.self)) }

    static func decoder(_ store: Store, _ change: (inout ImportOptions) -> Void = { _ in }) -> JSONDecoder {
        var options = ImportOptions()
        change(&options)
        let decoder = JSONDecoder()
        decoder.userInfo[.cambiumStore] = store
        decoder.userInfo[.cambiumImportOptions] = options
        return decoder
    }
}

extension JSONDecoder {
    func records<Record: EntityRecord>(_ type: Record.Type, _ text: String) throws -> [Record] {
        try imported(type, text).records
    }

    func imported<Record: EntityRecord>(_ type: Record.Type, _ text: String) throws -> ImportedRecords<Record> {
        try decode(ImportedRecords<Record>.self, from: Data(text.utf8))
    }
}
