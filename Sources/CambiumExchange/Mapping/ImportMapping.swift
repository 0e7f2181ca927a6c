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

extension ImportMapping {
    /// The mapping in its JSON form. Members that have their default or inherited value are omitted.
    var json: JSONValue {
        var members: [JSONValue.Member] = []
        if let entity { members.append(.init("entity", .string(entity))) }
        members += objects.members(inside: ObjectMapping())
        if !nested.isEmpty {
            let sorted = nested.sorted { $0.key < $1.key }
            members.append(.init("nested", .object(sorted.map { .init($0.key, .object($0.value.members(inside: objects))) })))
        }
        return .object(members)
    }
}

extension ObjectMapping {
    fileprivate func members(inside outer: ObjectMapping) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if let identity { members.append(.init("identity", .array(identity.map(JSONValue.string)))) }
        if delimiter != outer.delimiter { members.append(.init("delimiter", .string(delimiter))) }
        if escape != outer.escape { members.append(.init("escape", .string(escape))) }
        for (key, properties) in [("attributes", attributes), ("relationships", relationships)] where !properties.isEmpty {
            members.append(.init(key, .object(properties.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.json) })))
        }
        if let entityFrom {
            let map = entityFrom.map.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) }
            let key = JSONValue.Member("key", .string(entityFrom.key))
            members.append(.init("entityFrom", .object(map.isEmpty ? [key] : [key, .init("map", .object(map))])))
        }
        return members
    }
}

extension PropertyMapping {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = []
        switch source {
        case .name: break
        case .nothing: return .null
        case .path(let path): members.append(.init("from", .string(path)))
        case .coalesce(let paths): members.append(.init("coalesce", .array(paths.map(JSONValue.string))))
        case .join(let paths, let separator):
            members.append(.init("join", .array(paths.map(JSONValue.string))))
            if separator != Self.standardSeparator { members.append(.init("separator", .string(separator))) }
        case .constant(let value): members.append(.init("constant", value))
        }
        if !functions.isEmpty { members.append(.init("functions", .array(functions.map(\.json)))) }
        if !dates.isEmpty { members.append(.init("dates", .array(dates.map { .string($0.text) }))) }
        if zone != Self.standardZone { members.append(.init("zone", .string(zone))) }
        if pivot != Self.standardPivot { members.append(.init("pivot", .number(String(pivot)))) }
        if let numbers {
            var marks: [JSONValue.Member] = []
            if numbers.decimal != NumberFormat.standardDecimal { marks.append(.init("decimal", .string(numbers.decimal))) }
            if let grouping = numbers.grouping { marks.append(.init("grouping", .string(grouping))) }
            members.append(.init("numbers", .object(marks)))
        }
        return .object(members)
    }
}
