package import CambiumJSON

extension SchemaDefinition {
    /// Reads a schema from JSON. Throws one `.invalidInput` that lists all mistakes, each with its JSON pointer.
    ///
    /// - Parameter file: The name of the file in error messages.
    public init(json bytes: [UInt8], file: String? = nil) throws(CambiumError) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            let place = CambiumError.Place(file: file, line: error.line, column: error.column)
            throw CambiumError(.invalidInput, "The schema is not JSON: \(error.message). Correct the text at this place.", place: place)
        }
        do {
            try self.init(json: value, acceptsNumbers: false)
        } catch {
            var error = error
            error.place = .init(file: file, pointer: error.place?.pointer)
            throw error
        }
    }

    package init(json value: JSONValue, acceptsNumbers: Bool) throws(CambiumError) {
        var reader = DefinitionReader(acceptsNumbers: acceptsNumbers)
        self.init(entities: reader.entities(value))
        nextNumber = reader.nextNumber
        var mistakes = reader.mistakes
        if !mistakes.all.isEmpty, reader.hasSoundRelationships {
            // Only names, parents and relationships are checked. The other checks depend on the attributes, and would only report
            // consequences of the mistakes that were found.
            var resolver = SchemaResolver(self, .compileAtFirstUse)
            try resolver.checkRelationships(&mistakes)
        }
        try mistakes.throwIfAny()
    }
}

/// A reader that converts the JSON form of a schema to definitions, and collects the mistakes.
struct DefinitionReader {
    let acceptsNumbers: Bool
    var mistakes = SchemaMistakes()
    /// Whether all relationships were read without a mistake.
    private(set) var hasSoundRelationships = true
    private(set) var nextNumber: Int?

    init(acceptsNumbers: Bool) { self.acceptsNumbers = acceptsNumbers }

    mutating func entities(_ value: JSONValue) -> [EntityDefinition] {
        guard let members = members(value, .top, known: ["entities"]) else { return [] }
        if acceptsNumbers { nextNumber = count(members["nextNumber"], SchemaPlace.top["nextNumber"]) }
        guard let entities = members["entities"] else {
            mistakes.add("", "'entities' is missing")
            return []
        }
        return object(entities, SchemaPlace.top["entities"]).map { entity($0.key, $0.value, .entity($0.key)) }
    }

    private mutating func entity(_ name: String, _ value: JSONValue, _ place: SchemaPlace) -> EntityDefinition {
        var entity = EntityDefinition(name)
        let known = [
            "parent", "abstract", "identity", "attributes", "relationships", "unique", "indexes", "queries", "userInfo", "renamedFrom",
        ]
        guard let members = members(value, place, known: known) else {
            hasSoundRelationships = false
            return entity
        }
        entity.parent = string(members["parent"], place["parent"])
        entity.isAbstract = bool(members["abstract"], place["abstract"])
        entity.identity = strings(members["identity"], place["identity"])
        entity.attributes = object(members["attributes"], place["attributes"]).compactMap {
            attribute($0.key, $0.value, place["attributes"][$0.key])
        }
        let earlierCount = mistakes.all.count
        entity.relationships = object(members["relationships"], place["relationships"]).compactMap {
            relationship($0.key, $0.value, place["relationships"][$0.key])
        }
        if mistakes.all.count > earlierCount { hasSoundRelationships = false }
        entity.unique = stringLists(members["unique"], place["unique"])
        entity.indexes = stringLists(members["indexes"], place["indexes"])
        entity.queries = object(members["queries"], place["queries"]).compactMap { query($0.key, $0.value, place["queries"][$0.key]) }
        entity.userInfo = stringMap(members["userInfo"], place["userInfo"])
        entity.formerName = string(members["renamedFrom"], place["renamedFrom"])
        entity.number = number(members["number"], place["number"])
        if acceptsNumbers { entity.nextNumber = count(members["nextNumber"], place["nextNumber"]) }
        return entity
    }

    private mutating func attribute(_ name: String, _ value: JSONValue, _ place: SchemaPlace) -> AttributeDefinition? {
        let known = [
            "type", "optional", "default", "min", "max", "minLength", "maxLength", "regex", "enum", "transient", "derived", "userInfo",
            "renamedFrom",
        ]
        guard let members = members(value, place, known: known) else { return nil }
        guard let typeName = requiredString(members["type"], place["type"]) else {
            if members["type"] == nil { mistakes.add(place.pointer, "'type' is missing") }
            return nil
        }
        guard let type = AttributeType(rawValue: typeName) else {
            let names = AttributeType.allCases.map(\.rawValue).joined(separator: " ")
            mistakes.add(place["type"].pointer, "'\(typeName)' is not a type; the types are: \(names)")
            return nil
        }
        var attribute = AttributeDefinition(name, type)
        attribute.presence = bool(members["optional"], place["optional"]) ? .optional : .mandatory
        attribute.defaultValue = members["default"]
        attribute.min = bound(members["min"])
        attribute.max = bound(members["max"])
        attribute.minLength = count(members["minLength"], place["minLength"])
        attribute.maxLength = count(members["maxLength"], place["maxLength"])
        attribute.regex = string(members["regex"], place["regex"])
        attribute.allowed = allowed(members["enum"], isMandatory: attribute.presence == .mandatory, place["enum"])
        attribute.isTransient = bool(members["transient"], place["transient"])
        attribute.derivation = derivation(members["derived"], place["derived"])
        attribute.userInfo = stringMap(members["userInfo"], place["userInfo"])
        attribute.formerName = string(members["renamedFrom"], place["renamedFrom"])
        attribute.number = number(members["number"], place["number"])
        return attribute
    }

    private mutating func relationship(_ name: String, _ value: JSONValue, _ place: SchemaPlace) -> RelationshipDefinition? {
        let known = ["to", "many", "ordered", "inverse", "onDelete", "orphans", "min", "max", "userInfo", "renamedFrom"]
        guard let members = members(value, place, known: known) else { return nil }
        guard let destination = requiredString(members["to"], place["to"]) else {
            if members["to"] == nil { mistakes.add(place.pointer, "'to' is missing") }
            return nil
        }
        let isMany = bool(members["many"], place["many"])
        let isOrdered = bool(members["ordered"], place["ordered"])
        if isOrdered, !isMany { mistakes.add(place["ordered"].pointer, "only a relationship with \"many\": true can be ordered") }
        var relationship = RelationshipDefinition(
            name, to: destination, !isMany ? .toOne : isOrdered ? .orderedToMany : .toMany)
        relationship.inverse = string(members["inverse"], place["inverse"])
        relationship.deleteRule = rule(members["onDelete"], place["onDelete"]) ?? .nullify
        relationship.orphanRule = rule(members["orphans"], place["orphans"]) ?? .keep
        relationship.minCount = count(members["min"], place["min"])
        relationship.maxCount = count(members["max"], place["max"])
        relationship.userInfo = stringMap(members["userInfo"], place["userInfo"])
        relationship.formerName = string(members["renamedFrom"], place["renamedFrom"])
        relationship.number = number(members["number"], place["number"])
        return relationship
    }

    private mutating func rule<Rule: RawRepresentable<String> & CaseIterable>(_ value: JSONValue?, _ place: SchemaPlace) -> Rule? {
        guard let name = string(value, place) else { return nil }
        if let rule = Rule(rawValue: name) { return rule }
        let names = Rule.allCases.map(\.rawValue).joined(separator: " ")
        mistakes.add(place.pointer, "'\(name)' is not a rule; the rules are: \(names)")
        return nil
    }

    private mutating func query(_ name: String, _ value: JSONValue, _ place: SchemaPlace) -> QueryDefinition? {
        guard let members = members(value, place, known: ["of", "where", "sort", "limit"]) else { return nil }
        return QueryDefinition(
            name, of: string(members["of"], place["of"]), where: string(members["where"], place["where"]),
            sort: string(members["sort"], place["sort"]), limit: count(members["limit"], place["limit"]))
    }

    private mutating func derivation(_ value: JSONValue?, _ place: SchemaPlace) -> Derivation? {
        guard let value, value != .null, let members = members(value, place, known: Derivation.keys) else { return nil }
        guard members.count == 1, let (key, value) = members.first else {
            mistakes.add(place.pointer, "expected exactly one of the keys \(Derivation.keys.joined(separator: " "))")
            return nil
        }
        return requiredString(value, place[key]).flatMap { Derivation(key: key, path: $0) }
    }
}
