package import CambiumJSON
public import CambiumModel

/// States where the value of each property is in a row, and how an import reads the value. Docs/Use/IMPORT.md describes the JSON form.
///
/// ```swift
/// var options = ImportOptions()
/// options.mapping = ImportMapping(entity: "Person", attributes: ["fullName": "name.full"])
/// ```
///
/// When an import begins, it compares the names in the mapping with the schema.
public struct ImportMapping: Sendable, Hashable {
    /// The entity that is imported, or an ancestor of it; `nil` for any entity.
    package var entity: String?
    /// The rules for objects of `entity`, or of the imported entity if `entity` is `nil`.
    package var objects: ObjectMapping
    /// The rules for objects of other entities, by entity name.
    package var nested: [String: ObjectMapping]
    /// The name of the mapping in errors.
    package var file: String?

    /// Creates a mapping from the rules for each entity.
    package init(entity: String? = nil, objects: ObjectMapping, nested: [String: ObjectMapping] = [:]) {
        self.entity = entity
        self.objects = objects
        self.nested = nested
    }

    /// Creates a mapping with the rules for the imported entity. `ObjectMapping.init` describes the parameters from `identity` to
    /// `entityNames`. The names are checked when an import begins.
    ///
    /// - Parameters:
    ///   - entity: The entity that is imported, or an ancestor of it; `nil` for any entity.
    ///   - nested: The rules for objects of other entities, by entity name.
    public init(
        entity: String? = nil, identity: [String]? = nil, delimiter: String = ObjectMapping.standardDelimiter,
        escape: String = ObjectMapping.standardEscape, attributes: [String: PropertyMapping] = [:],
        relationships: [String: PropertyMapping] = [:], entityFrom: String? = nil, entityNames: [String: String] = [:],
        nested: [String: ObjectMapping] = [:]
    ) {
        let objects = ObjectMapping(
            identity: identity, delimiter: delimiter, escape: escape, attributes: attributes, relationships: relationships,
            entityFrom: entityFrom, entityNames: entityNames)
        self.init(entity: entity, objects: objects, nested: nested)
    }

    /// Reads the JSON form. Throws `.invalidInput` with the JSON pointer to the fault if the text is not a mapping.
    ///
    /// - Parameters:
    ///   - bytes: The JSON text in UTF-8.
    ///   - file: The name of the mapping in errors.
    public init(json bytes: [UInt8], file: String? = nil) throws(CambiumError) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            let place = CambiumError.Place(file: file, line: error.line, column: error.column)
            throw CambiumError(.invalidInput, "The mapping is not JSON: \(error.message). Correct the text at this place.", place: place)
        }
        self = try MappingReader(file: file).mapping(value)
        self.file = file
    }

    /// Writes the JSON form, with keys in alphabetical order.
    package func write(to writer: inout JSONWriter) { writer.write(json) }

    /// Returns an error for a fault in the mapping. The error contains the JSON pointer to the fault.
    func mistake(_ pointer: String, _ message: String) -> CambiumError {
        CambiumError(
            .invalidInput, "The mapping cannot be used: \(message). Correct the mapping at this place.",
            place: .init(file: file, pointer: pointer))
    }
}
