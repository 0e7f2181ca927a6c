import Cambium
import FoundationEssentials

/// A record like the objects of Coredatable's tests that have an attribute of every type.
struct Complete: BlankRecord, Equatable {
    var int16: Int16 = 0
    var int32: Int32 = 0
    var int64: Int64 = 0
    var decimal: Decimal?
    var double = 0.0
    var float: Float = 0
    var boolean = false
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
}
