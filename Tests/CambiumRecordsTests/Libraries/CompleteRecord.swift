import Cambium
import FoundationEssentials

/// A record like the objects of Coredatable's tests that have an attribute of every type.
struct Complete: EntityRecord, Equatable {
    var int16: Int16
    var int32: Int32
    var int64: Int64
    var decimal: Decimal?
    var double: Double
    var float: Float
    var boolean: Bool
    var date: Date?
    var string: String?
    var binary: Data?
    var uuid: UUID?
    var uri: URL?
    var transformable: [String]?
    var ref: Ref<Complete>?

    static let recordSchema = RecordSchema<Complete>("Complete") {
        RecordProperty("int16", \.int16, .identity)
        RecordProperty("int32", \.int32)
        RecordProperty("int64", \.int64)
        RecordProperty("decimal", \.decimal)
        RecordProperty("double", \.double)
        RecordProperty("float", \.float)
        RecordProperty("boolean", \.boolean)
        RecordProperty("date", \.date)
        RecordProperty("string", \.string)
        RecordProperty("binary", \.binary)
        RecordProperty("uuid", \.uuid)
        RecordProperty("uri", \.uri)
        RecordProperty(json: "transformable", \.transformable)
    }

    init(from row: inout RecordReader) throws {
        int16 = try row.read("int16")
        int32 = try row.read("int32")
        int64 = try row.read("int64")
        decimal = try row.read("decimal")
        double = try row.read("double")
        float = try row.read("float")
        boolean = try row.read("boolean")
        date = try row.read("date")
        string = try row.read("string")
        binary = try row.read("binary")
        uuid = try row.read("uuid")
        uri = try row.read("uri")
        transformable = try row.readJSON("transformable")
        ref = row.ref()
    }
}
