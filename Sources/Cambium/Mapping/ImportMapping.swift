public import CambiumJSON
public import CambiumModel

/// Where in a row each property is, and how its values are read: a value with a JSON spelling, which Docs/IMPORT.md describes.
///
///     var options = ImportOptions()
///     options.mapping = ImportMapping(entity: "Person", attributes: ["fullName": "name.full"])
///
/// Names are compared with the schema when the import begins.
public struct ImportMapping: Sendable, Hashable {
    /// The entity that is imported, or one above it; nil for any.
    public var entity: String?
    /// How objects of that entity are read.
    public var objects: ObjectMapping
    /// How objects of other entities are read, by name.
    public var nested: [String: ObjectMapping]
    /// What errors call it.
    public var file: String?

    public init(entity: String? = nil, objects: ObjectMapping = ObjectMapping(), nested: [String: ObjectMapping] = [:]) {
        self.entity = entity
        self.objects = objects
        self.nested = nested
    }

    public init(
        entity: String? = nil, identity: [String]? = nil, attributes: [String: PropertyMapping] = [:],
        relationships: [String: PropertyMapping] = [:], entityFrom: Discriminator? = nil, nested: [String: ObjectMapping] = [:]
    ) {
        let objects = ObjectMapping(
            identity: identity, attributes: attributes, relationships: relationships, entityFrom: entityFrom)
        self.init(entity: entity, objects: objects, nested: nested)
    }

    /// Reads the JSON spelling. Throws `.invalidInput` with the JSON pointer of what is wrong.
    ///
    /// - Parameter file: the name that errors show.
    public init(json bytes: [UInt8], file: String? = nil) throws(CambiumError) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            let place = CambiumError.Place(file: file, line: error.line, column: error.column)
            throw CambiumError(.invalidInput, "The mapping is not JSON: \(error.message).", place: place)
        }
        self = try MappingReader(file: file).mapping(value)
        self.file = file
    }

    /// Writes the JSON spelling, keys in alphabetical order.
    public func write(to writer: inout JSONWriter) { writer.write(json) }

    /// An error in the mapping, at a JSON pointer.
    func mistake(_ pointer: String, _ message: String) -> CambiumError {
        CambiumError(.invalidInput, "The mapping: \(message).", place: .init(file: file, pointer: pointer))
    }
}
