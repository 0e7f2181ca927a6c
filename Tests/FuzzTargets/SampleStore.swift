import Cambium
import CambiumLog
import CambiumModel

/// A small store with an attribute of each type, links of each kind and an op of each kind.
struct SampleStore {
    /// The payload (the encoded ops) of each transaction of the store. The first transaction sets the schema.
    let payloads: [[UInt8]]
    /// The contents of the store's files, by path.
    let files: [String: [UInt8]]

    /// The files of a store with the same transactions in sealed segments. The ops of some transactions are in separate files.
    let cutFiles: [String: [UInt8]]

    /// The only segment.
    var segment: [UInt8] { files[Self.segmentPath] ?? [] }

    static let settings = StoreSettings(
        store: [UInt8](repeating: 7, count: 16), creationTime: 1_700_000_000_000_000,
        durability: .buffered(microseconds: 3_600_000_000))
    static let segmentPath = "log/00000000000000000001.log"

    /// An environment without a clock and randomness, so that an input has the same effect each time.
    static let environment = StoreEnvironment(
        now: { Timestamp(microsecondsSince1970: settings.creationTime) }, randomBytes: { count in [UInt8](repeating: 7, count: count) })

    /// The number of transactions that other targets build on: the schema and the objects.
    static let baseCount = 2

    static let schemaText = """
        {"entities":{
        "Thing":{"identity":["id"],"attributes":{
        "id":{"type":"int64"},"flag":{"type":"bool","optional":true},"small":{"type":"int16","optional":true,"min":-9,"max":99},
        "middle":{"type":"int32","optional":true},"single":{"type":"float","optional":true},"wide":{"type":"double","optional":true},
        "price":{"type":"decimal","optional":true,"max":1e9},"title":{"type":"string","default":"-","maxLength":300},
        "blob":{"type":"data","optional":true,"maxLength":400},"when":{"type":"date","optional":true},
        "uuid":{"type":"uuid","optional":true},"link":{"type":"uri","optional":true},"tree":{"type":"json","optional":true}},
        "relationships":{"owner":{"to":"Person","inverse":"things"},"partner":{"to":"Thing","inverse":"partner"},
        "steps":{"to":"Step","many":true,"ordered":true,"inverse":"thing","onDelete":"cascade"},
        "tags":{"to":"Tag","many":true,"inverse":"things","max":3},"friends":{"to":"Thing","many":true,"inverse":"friends"},
        "ranked":{"to":"Tag","many":true,"ordered":true,"inverse":"ranking"}},"userInfo":{"a":"b"}},
        "Special":{"parent":"Thing","attributes":{"extra":{"type":"string","optional":true,"regex":"[a-z]+"}},"unique":[["extra"]]},
        "Person":{"identity":["first","last"],"attributes":{"first":{"type":"string"},"last":{"type":"string"}},
        "relationships":{"things":{"to":"Thing","many":true,"inverse":"owner","onDelete":"deny"},
        "hidden":{"to":"Step","many":true}}},
        "Step":{"attributes":{"text":{"type":"string","optional":true,"enum":["a","b"]}},
        "relationships":{"thing":{"to":"Thing","inverse":"steps","min":1}}},
        "Tag":{"identity":["name"],"attributes":{"name":{"type":"string"}},"relationships":{
        "things":{"to":"Thing","many":true,"inverse":"tags"},"ranking":{"to":"Thing","many":true,"ordered":true,"inverse":"ranked"}}}
        }}
        """

    static let rows = """
        [{"id":1,"flag":true,"small":7,"middle":-5,"single":1.5,"wide":-2.25e10,"price":12.50,"title":"Köln","blob":"AAEC",
        "when":"2024-02-29T12:00:00.125Z","uuid":"00010203-0405-0607-0809-0A0B0C0D0E0F","link":"https://example.org/a?b",
        "tree":{"a":[1,null]},"owner":{"first":"Jane","last":"Doe"},"partner":2,"steps":[{"text":"a"},{"text":"b"}],
        "tags":["red",{"name":"blue"}],"friends":[1,3],"ranked":["red","green"]},
        {"id":2,"title":"0123456789abcdef0123"},{"id":3,"owner":{"last":"Doe","first":"Jane"},"tags":["red"]}]
        """

    static func schema() throws -> Schema { try Schema(SchemaDefinition(json: Array(schemaText.utf8))) }

    static func create(on volume: MemoryVolume, tuning: LogTuning = .standard) throws -> Store {
        try Store.create(
            volume, schema: schema(), durability: .buffered(every: .seconds(3600)), author: Author(actor: "fuzz"),
            environment: environment, tuning: tuning)
    }

    init() throws {
        let volume = try Self.made(.standard)
        var payloads: [[UInt8]] = []
        _ = try LogReader(volume).scan { record in
            if case .present(let payload) = record.payload { payloads.append(Array(payload)) }
        }
        self.payloads = payloads
        files = volume.contents
        var tuning = LogTuning()
        (tuning.largeByteCount, tuning.opsFrameByteCount, tuning.segmentByteCount) = (250, 100, 200)
        (tuning.mergedByteCountMax, tuning.sealedFrameByteCount, tuning.sealsInBackground) = (0, 100, false)
        cutFiles = try Self.made(tuning).contents
    }

    private static func made(_ tuning: LogTuning) throws -> MemoryVolume {
        let volume = MemoryVolume()
        let store = try Self.create(on: volume, tuning: tuning)
        try Self.importRows(Self.rows, "Thing", to: store)
        try Self.change(store)
        try Self.importRows("{\"id\":3,\"title\":\"c\",\"steps\":[{\"text\":\"b\"}],\"friends\":[2]}", "Thing", to: store)
        try store.recordDigest(Author(actor: "fuzz", message: "the end", requestID: "r1"))
        try store.close()
        return volume
    }

    private static func importRows(_ text: String, _ entity: String, to store: Store) throws {
        guard let entity = store.schema.entity(entity) else { return }
        _ = try store.importRows(entity, from: [.bytes(Array(text.utf8))], author: Author(actor: "fuzz", message: "rows"))
    }

    private static func change(_ store: Store) throws {
        try store.write(Author(actor: "jane")) { transaction in
            let special = try transaction.insert("Special", ["id": .int(9), "extra": .string("x"), "flag": .bool(false)])
            let step = try transaction.insert("Step", ["text": .string("a")])
            let other = try transaction.insert("Step", ["text": .null])
            let tag = try transaction.insert("Tag", ["name": .string("late")])
            try transaction.link(special, "steps", step)
            try transaction.link(special, "steps", other, at: 0)
            try transaction.move(special, "steps", step, to: 0)
            try transaction.link(special, "tags", tag)
            try transaction.set(special, "price", to: .decimal(DecimalNumber("-1.25e-3") ?? .zero))
            try transaction.unlink(special, "tags", tag)
            try transaction.delete(tag)
        }
    }
}
