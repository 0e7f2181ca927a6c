internal import CambiumBytes
internal import CambiumJSON
internal import CambiumLog
import CambiumModel
internal import CambiumProofs

/// The content of the line `extra` of a proof: the leaf, and for a value the place of the value in it.
struct ProofOpening {
    /// The place of a value in a piece, and the names that a schema of the log states.
    struct Place {
        /// The object as text: the name of its entity, a slash, and its serial.
        let object: String
        let property: String
        /// The row of the piece, from 0.
        let row: UInt64
        /// The value for people. A reader takes the value from the piece.
        let value: Value
        /// The transaction of the schema, with the piece that has the names.
        let schema: LeafOpening
        let schemaIndex: UInt64
        let schemaPath: [TreeHash]
    }

    let leaf: LeafOpening
    let place: Place?

    init(_ leaf: LeafOpening, _ place: Place? = nil) { (self.leaf, self.place) = (leaf, place) }

    /// Reads an opening, which is outside data. Throws `.invalidInput` if the bytes are not an opening.
    init(_ proof: ProofFile) throws(CambiumError) {
        guard let extra = proof.extra else { throw LeafOpening.malformed("it does not state the content of the transaction") }
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: extra) } catch { throw LeafOpening.malformed(error.message) }
        leaf = try LeafOpening(json)
        guard leaf.piece != nil else {
            place = nil
            return
        }
        guard case .string(let object)? = json["object"], case .string(let property)? = json["property"], let schema = json["schema"] else {
            throw LeafOpening.malformed("it does not state the object, the property or the schema")
        }
        place = Place(
            object: object, property: property, row: try LeafOpening.number(json["operation"], "operation"), value: .null,
            schema: try LeafOpening(schema), schemaIndex: try LeafOpening.number(schema["index"], "index"),
            schemaPath: try LeafOpening.path(schema["path"]))
    }

    var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if let place {
            writer.member("object", place.object)
            writer.member("property", place.property)
            writer.member("value", place.value)
            writer.member("operation", place.row)
        }
        leaf.write(to: &writer)
        if let place {
            writer.object("schema") { writer in
                writer.member("index", place.schemaIndex)
                writer.member("path", place.schemaPath)
                place.schema.write(to: &writer)
            }
        }
        writer.endObject()
        return Array(writer.text.utf8)
    }
}
