import Cambium
import FoundationEssentials

/// Records for decoders and encoders: an ordered list, an identity of two attributes, and JSON of any form.
struct Playlist: BlankRecord, Equatable {
    var id = 0
    var title: String?
    var songs: [Song] = []
    var ref: Ref<Playlist>?

    static let recordSchema = RecordSchema<Playlist>("Playlist") {
        RecordProperty("id", \.id, .identity)
        RecordProperty("title", \.title)
        RecordProperty("songs", \.songs, .inverse(\Song.playlists))
    }
}

struct Song: BlankRecord, Equatable {
    var id = 0
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

    init() {}
    init(_ id: Int) { self.id = id }
}

struct Seat: BlankRecord, Equatable {
    var row = ""
    var number = 0
    var guest: String?
    var ref: Ref<Seat>?

    static let recordSchema = RecordSchema<Seat>("Seat") {
        RecordProperty("row", \.row, .identity)
        RecordProperty("number", \.number, .identity)
        RecordProperty("guest", \.guest)
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
