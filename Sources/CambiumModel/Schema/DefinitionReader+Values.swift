internal import CambiumJSON

/// Reads the values in the JSON form of a schema. A value of an unexpected kind is a mistake. In place of an optional text, number or
/// array, null counts as absent. In place of an object, a boolean or a required text, null is a mistake.
extension DefinitionReader {
    mutating func object(_ value: JSONValue?, _ place: SchemaPlace) -> [JSONValue.Member] {
        guard let value else { return [] }
        if case .object(let members) = value { return Self.ordered(members) }
        mistakes.add(place.pointer, "expected an object, but found \(value.kindName)")
        return []
    }

    /// Returns the members with keys that Swift compares in linear time.
    private static func ordered(_ members: [JSONValue.Member]) -> [JSONValue.Member] {
        members.map { JSONValue.Member(CanonicalText.ordered($0.key), $0.value) }
    }

    mutating func members(_ value: JSONValue, _ place: SchemaPlace, known: [String]) -> [String: JSONValue]? {
        guard case .object(let given) = value else {
            mistakes.add(place.pointer, "expected an object, but found \(value.kindName)")
            return nil
        }
        let members = Self.ordered(given)
        for member in members where !known.contains(member.key) && !(acceptsNumbers && ["number", "nextNumber"].contains(member.key)) {
            mistakes.add(place[member.key].pointer, "the key is unknown here; the known keys are: \(known.joined(separator: " "))")
        }
        return Dictionary(members.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func string(_ value: JSONValue?, _ place: SchemaPlace) -> String? {
        guard let value, value != .null else { return nil }
        if case .string(let text) = value { return CanonicalText.ordered(text) }
        mistakes.add(place.pointer, "expected a string, but found \(value.kindName)")
        return nil
    }

    /// Returns a required string, for which null is a mistake. If null counted as absent, it would silently remove an element of the
    /// definition.
    mutating func requiredString(_ value: JSONValue?, _ place: SchemaPlace) -> String? {
        if case .null? = value { mistakes.add(place.pointer, "expected a string, but found null") }
        return string(value, place)
    }

    mutating func bool(_ value: JSONValue?, _ place: SchemaPlace) -> Bool {
        guard let value else { return false }
        if case .bool(let flag) = value { return flag }
        mistakes.add(place.pointer, "expected true or false, but found \(value.kindName)")
        return false
    }

    /// Returns a minimum or a maximum. Null counts as a missing key, except in a schema from a log, which is read unchanged.
    func bound(_ value: JSONValue?) -> JSONValue? {
        if case .null? = value, !acceptsNumbers { return nil }
        return value
    }

    mutating func count(_ value: JSONValue?, _ place: SchemaPlace) -> Int? {
        guard let value, value != .null else { return nil }
        if case .number(let text) = value, let count = Int(text), count >= 0 { return count }
        mistakes.add(place.pointer, "expected a whole number of 0 or more, but found \(Excerpt.plain(value.text))")
        return nil
    }

    mutating func number(_ value: JSONValue?, _ place: SchemaPlace) -> UInt16? {
        guard acceptsNumbers, let count = count(value, place) else { return nil }
        if let number = UInt16(exactly: count) { return number }
        mistakes.add(place.pointer, "expected a whole number from 0 to 65535, but found \(count)")
        return nil
    }

    mutating func array(_ value: JSONValue?, _ place: SchemaPlace) -> [JSONValue]? {
        guard let value, value != .null else { return nil }
        if case .array(let elements) = value { return elements }
        mistakes.add(place.pointer, "expected an array, but found \(value.kindName)")
        return nil
    }

    /// Returns the allowed values of an attribute. For a mandatory attribute, a list that contains only null is a mistake, because the list
    /// allows no value. In a schema from a log, such a list is accepted, so that the store can still be opened.
    mutating func allowed(_ value: JSONValue?, isMandatory: Bool, _ place: SchemaPlace) -> [JSONValue]? {
        let allowed = array(value, place)
        if !acceptsNumbers, isMandatory, let allowed, !allowed.isEmpty, allowed.allSatisfy({ $0 == .null }) {
            mistakes.add(place.pointer, "the list allows only null, but the attribute is mandatory")
        }
        return allowed
    }

    mutating func strings(_ value: JSONValue?, _ place: SchemaPlace) -> [String] {
        var strings: [String] = []
        for (index, element) in (array(value, place) ?? []).enumerated() {
            if let text = requiredString(element, place[index]) { strings.append(text) }
        }
        return strings
    }

    mutating func stringLists(_ value: JSONValue?, _ place: SchemaPlace) -> [[String]] {
        var lists: [[String]] = []
        for (index, element) in (array(value, place) ?? []).enumerated() { lists.append(strings(element, place[index])) }
        return lists
    }

    mutating func stringMap(_ value: JSONValue?, _ place: SchemaPlace) -> [String: String] {
        var map: [String: String] = [:]
        for member in object(value, place) {
            if let text = requiredString(member.value, place[member.key]) { map[member.key] = text }
        }
        return map
    }
}
