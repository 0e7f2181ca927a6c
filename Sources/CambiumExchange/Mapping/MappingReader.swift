internal import CambiumJSON
import CambiumModel

/// Decodes a mapping from JSON. An error contains the JSON pointer to the fault.
struct MappingReader {
    let file: String?

    /// The members of a JSON object by key.
    private typealias Members = [String: JSONValue]

    func mapping(_ value: JSONValue) throws(CambiumError) -> ImportMapping {
        let known = Self.objectKeys + ["entity", "nested"]
        let members = try members(value, "", known: known)
        var mapping = ImportMapping()
        mapping.entity = try optionalText(members["entity"], "/entity")
        mapping.objects = try object(members, "", ObjectMapping())
        for member in try list(members["nested"], "/nested") {
            let pointer = "/nested" + Self.step(member.key)
            let nested = try self.members(member.value, pointer, known: Self.objectKeys)
            mapping.nested[member.key] = try object(nested, pointer, mapping.objects)
        }
        return mapping
    }

    private static let objectKeys = ["identity", "delimiter", "escape", "attributes", "relationships", "entityFrom"]

    private func object(_ members: Members, _ pointer: String, _ outer: ObjectMapping) throws(CambiumError) -> ObjectMapping {
        var object = ObjectMapping(delimiter: outer.delimiter, escape: outer.escape)
        if let identity = members["identity"] { object.identity = try texts(identity, pointer + "/identity") }
        if let delimiter = members["delimiter"] {
            object.delimiter = try text(delimiter, pointer + "/delimiter")
            if object.delimiter.isEmpty { throw mistake(pointer + "/delimiter", "a delimiter must have at least one character") }
        }
        if let escape = members["escape"] { object.escape = try text(escape, pointer + "/escape") }
        object.attributes = try properties(members["attributes"], pointer + "/attributes", isAttribute: true)
        object.relationships = try properties(members["relationships"], pointer + "/relationships", isAttribute: false)
        if let entityFrom = members["entityFrom"] {
            object.entityFrom = try discriminator(entityFrom, pointer + "/entityFrom")
        }
        return object
    }

    private func discriminator(_ value: JSONValue, _ pointer: String) throws(CambiumError) -> Discriminator {
        let members = try members(value, pointer, known: ["key", "map"])
        guard let key = members["key"] else { throw mistake(pointer, "'key' is missing") }
        var map: [String: String] = [:]
        for member in try list(members["map"], pointer + "/map") {
            let place = pointer + "/map" + Self.step(member.key)
            let name = try text(member.value, place)
            if let earlier = map.updateValue(name, forKey: member.key), earlier != name { throw ambiguous(place) }
        }
        return Discriminator(key: try text(key, pointer + "/key"), map: map)
    }

    // MARK: Properties

    private func properties(
        _ value: JSONValue?, _ pointer: String, isAttribute: Bool
    ) throws(CambiumError) -> [String: PropertyMapping] {
        var properties: [String: PropertyMapping] = [:]
        for member in try list(value, pointer) {
            properties[member.key] = try property(member.value, pointer + Self.step(member.key), isAttribute: isAttribute)
        }
        return properties
    }

    private func property(_ value: JSONValue, _ pointer: String, isAttribute: Bool) throws(CambiumError) -> PropertyMapping {
        if value == .null { return PropertyMapping(.nothing) }
        if case .string(let path) = value { return PropertyMapping(.path(path)) }
        let formats = isAttribute ? ["dates", "zone", "pivot", "numbers"] : []
        let members = try members(value, pointer, known: Self.sources + ["separator", "functions"] + formats)
        var property = PropertyMapping(try source(members, pointer))
        for (index, element) in try elements(members["functions"], pointer + "/functions").enumerated() {
            property.functions.append(try function(element, pointer + "/functions/\(index)"))
        }
        if let dates = members["dates"] {
            property.dates = try texts(dates, pointer + "/dates").map { DateFormat($0) }
            if property.dates.isEmpty { throw mistake(pointer + "/dates", "expected at least one format") }
        }
        if let zone = members["zone"] { property.zone = try text(zone, pointer + "/zone") }
        if let pivot = members["pivot"] {
            guard case .number(let digits) = pivot, let year = Int(digits), PropertyMapping.pivotRange.contains(year) else {
                throw mistake(pointer + "/pivot", PropertyMapping.pivotRule)
            }
            property.pivot = year
        }
        if let numbers = members["numbers"] { property.numbers = try numberFormat(numbers, pointer + "/numbers") }
        return property
    }

    private static let sources = ["from", "coalesce", "join", "constant"]

    private func source(_ members: Members, _ pointer: String) throws(CambiumError) -> PropertyMapping.Source {
        let given = Self.sources.filter { members[$0] != nil }
        if given.count > 1 { throw mistake(pointer, "'\(given[0])' and '\(given[1])' cannot be combined") }
        if members["separator"] != nil, members["join"] == nil { throw mistake(pointer + "/separator", "'separator' needs 'join'") }
        if let path = members["from"] { return .path(try text(path, pointer + "/from")) }
        if let list = members["coalesce"] { return .coalesce(try paths(list, pointer + "/coalesce")) }
        if let list = members["join"] {
            let separator = try optionalText(members["separator"], pointer + "/separator")
            return .join(try paths(list, pointer + "/join"), separator: separator ?? PropertyMapping.standardSeparator)
        }
        if let constant = members["constant"] { return .constant(constant) }
        return .name
    }

    private func paths(_ value: JSONValue, _ pointer: String) throws(CambiumError) -> [String] {
        let paths = try texts(value, pointer)
        if paths.isEmpty { throw mistake(pointer, "expected at least one path") }
        return paths
    }

    private func numberFormat(_ value: JSONValue, _ pointer: String) throws(CambiumError) -> NumberFormat {
        let members = try members(value, pointer, known: ["decimal", "grouping"])
        var format = NumberFormat()
        format.decimal = try optionalText(members["decimal"], pointer + "/decimal") ?? format.decimal
        format.grouping = try optionalText(members["grouping"], pointer + "/grouping")
        if let flaw = format.flaw { throw mistake(pointer + "/" + flaw.mark, flaw.message) }
        return format
    }

    func function(_ value: JSONValue, _ pointer: String) throws(CambiumError) -> ValueFunction {
        if case .string(let name) = value {
            if let function = ValueFunction.plain[name] { return function }
            throw mistake(pointer, "'\(name)' is not a function; the functions are: \(ValueFunction.names)")
        }
        let members = try members(value, pointer, known: ["split", "join", "lookup", "otherwise"])
        let given = ["split", "join", "lookup"].filter { members[$0] != nil }
        guard given.count == 1, let name = given.first, let argument = members[name], members["otherwise"] == nil || name == "lookup"
        else { throw mistake(pointer, "expected one function; the functions are: \(ValueFunction.names)") }
        switch name {
        case "split":
            let separator = try text(argument, pointer + "/split")
            if separator.isEmpty { throw mistake(pointer + "/split", "a separator must have at least one character") }
            return .split(separator)
        case "join": return .join(try text(argument, pointer + "/join"))
        default:
            var table: [String: JSONValue] = [:]
            for member in try list(argument, pointer + "/lookup") {
                guard let earlier = table.updateValue(member.value, forKey: member.key) else { continue }
                if !earlier.text.hasSameBytes(as: member.value.text) { throw ambiguous(pointer + "/lookup" + Self.step(member.key)) }
            }
            return .lookup(table, otherwise: members["otherwise"])
        }
    }

    /// Returns the error for two keys of one table that have different bytes, but are equal as Swift strings, so that a dictionary cannot
    /// hold both.
    private func ambiguous(_ pointer: String) -> CambiumError {
        mistake(pointer, "this text and an earlier text are the same in Unicode, but have different values; give both the same value")
    }

    // MARK: Values

    private static func step(_ key: String) -> String { "/" + JSONPointer.escaped(key) }

    private func mistake(_ pointer: String, _ message: String) -> CambiumError {
        CambiumError(
            .invalidInput, "The mapping cannot be used: \(message). Correct the mapping at this place.",
            place: .init(file: file, pointer: pointer))
    }

    private func list(_ value: JSONValue?, _ pointer: String) throws(CambiumError) -> [JSONValue.Member] {
        guard let value else { return [] }
        // Swift compares the keys, so they must have no long run of combining marks in a wrong order.
        if case .object(let members) = value { return members.map { .init(CanonicalText.ordered($0.key), $0.value) } }
        throw mistake(pointer, "expected an object, but found \(value.kindName)")
    }

    private func members(_ value: JSONValue, _ pointer: String, known: [String]) throws(CambiumError) -> Members {
        let members = try list(value, pointer)
        for member in members where !known.contains(member.key) {
            throw mistake(pointer + Self.step(member.key), "the key is unknown here; the known keys are: \(known.joined(separator: " "))")
        }
        return Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
    }

    private func elements(_ value: JSONValue?, _ pointer: String) throws(CambiumError) -> [JSONValue] {
        guard let value else { return [] }
        if case .array(let elements) = value { return elements }
        throw mistake(pointer, "expected an array, but found \(value.kindName)")
    }

    private func text(_ value: JSONValue, _ pointer: String) throws(CambiumError) -> String {
        if case .string(let text) = value { return CanonicalText.ordered(text) }
        throw mistake(pointer, "expected a string, but found \(value.kindName)")
    }

    private func optionalText(_ value: JSONValue?, _ pointer: String) throws(CambiumError) -> String? {
        guard let value else { return nil }
        return try text(value, pointer)
    }

    private func texts(_ value: JSONValue, _ pointer: String) throws(CambiumError) -> [String] {
        var texts: [String] = []
        for (index, element) in try elements(value, pointer).enumerated() { texts.append(try text(element, pointer + "/\(index)")) }
        return texts
    }
}
