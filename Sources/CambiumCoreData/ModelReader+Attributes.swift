internal import CambiumJSON
internal import CambiumModel
internal import Foundation

extension ModelReader {
    mutating func attribute(_ element: ModelElement, of entity: String) throws(CambiumError) -> AttributeDefinition {
        let name = try name(of: element)
        let place = "\(entity).\(name)"
        var attribute = AttributeDefinition(name, type(element, place), flag(element, "optional", place) ? .optional : .mandatory)
        attribute.formerName = formerName(element, name)
        attribute.isTransient = flag(element, "transient", place)
        if attribute.isTransient { warnings.add(place, "the attribute is transient in Core Data; it is stored like any other attribute") }
        readDerivation(element, &attribute, place)
        attribute.defaultValue = defaultValue(element, attribute.type, place)
        readBounds(element, &attribute, place)
        readRegex(element, &attribute, place)
        checkDefault(&attribute, place)
        warnings.addUnsupported(element, .attribute, place)
        for child in element.children {
            if child.name == "userInfo" {
                readUserInfo(child, &attribute.userInfo, place)
            } else {
                warnings.addUnsupported(child: child, place)
            }
        }
        return attribute
    }

    // MARK: Type

    private mutating func type(_ element: ModelElement, _ place: String) -> AttributeType {
        let name = text(element["attributeType"]) ?? "Undefined"
        if let type = Self.type(named: name) { return type }
        switch name {
        case "Transformable": warnings.add(place, "the type 'Transformable' is read as json; the values must be JSON")
        case "Composite": warnings.add(place, "the type 'Composite' is read as json; its parts are not attributes")
        case "Undefined": warnings.add(place, "the attribute has no type and is read as json")
        default: warnings.add(place, "the type '\(name)' is unknown and is read as json")
        }
        return .json
    }

    private static func type(named name: String) -> AttributeType? {
        switch name {
        case "Integer 16": .int16
        case "Integer 32": .int32
        case "Integer 64": .int64
        case "Float": .float
        case "Double": .double
        case "Decimal": .decimal
        case "String": .string
        case "Boolean": .bool
        case "Date": .date
        case "Binary": .data
        case "UUID": .uuid
        case "URI": .uri
        default: nil
        }
    }

    // MARK: Values

    private mutating func defaultValue(_ element: ModelElement, _ type: AttributeType, _ place: String) -> JSONValue? {
        let key = type == .date ? "defaultDateTimeInterval" : "defaultValueString"
        let otherKey = type == .date ? "defaultValueString" : "defaultDateTimeInterval"
        if element[otherKey] != nil { warnUnfit(otherKey, type, place) }
        if let text = element[key], Self.value(text, type) == nil, let value = Self.leftOverValue(text, type) {
            warnings.add(place, "'\(key)' is '\(text)', which is not a value of type \(type.rawValue); it is read as \(value.text)")
            return value
        }
        return value(element, key, type, place)
    }

    /// Returns the value that Core Data reads from the text of a default of another type, or `nil` if the type has no such value.
    private static func leftOverValue(_ text: String, _ type: AttributeType) -> JSONValue? {
        let leftOver = LeftOverText(text)
        return type == .bool ? .bool(leftOver.isTrue) : leftOver.number(type).flatMap { number($0, type) }.map { .number($0) }
    }

    private static func value(_ text: String, _ type: AttributeType) -> JSONValue? {
        switch type {
        case .string: .string(text)
        case .bool: flag(text).map { .bool($0) }
        case .date: date(text)
        case .int16, .int32, .int64, .float, .double, .decimal: number(text, type).map { .number($0) }
        case .uuid, .uri: converted(text, type).map { .string($0) }
        case .data, .json: nil
        }
    }

    private mutating func value(_ element: ModelElement, _ key: String, _ type: AttributeType, _ place: String) -> JSONValue? {
        guard let text = element[key] else { return nil }
        if let value = Self.value(text, type) { return value }
        // Core Data has no text form for data and JSON. The text may be valid base64 or JSON, so the warning must not deny that the text is
        // a value.
        if type == .data || type == .json {
            warnUnfit(key, type, place)
        } else {
            warnings.add(place, "'\(key)' is ignored; '\(text)' is not a value of type \(type.rawValue)")
        }
        return nil
    }

    private static func number(_ text: String, _ type: AttributeType) -> String? {
        if let number = converted(text, type) { return number }
        // Xcode may write a whole number as "0.0".
        return DecimalNumber(text.utf8).flatMap { converted($0.description, type) }
    }

    /// Returns the JSON text of a value of the type, or `nil` if `text` is not a value of the type.
    private static func converted(_ text: String, _ type: AttributeType) -> String? {
        do {
            let value = try Value(text: text, type: type)
            return value.isNull || AttributeConstraints().check(value) != nil ? nil : value.text
        } catch {
            return nil
        }
    }

    /// Converts the text of a date. Core Data writes dates as seconds since 2001-01-01T00:00:00Z.
    private static func date(_ text: String) -> JSONValue? {
        guard let seconds = Double(text) else { return nil }
        let value = Value.date(Date(timeIntervalSinceReferenceDate: seconds))
        return AttributeConstraints().check(value) == nil ? .string(value.text) : nil
    }

    // MARK: Constraints

    private mutating func readBounds(_ element: ModelElement, _ attribute: inout AttributeDefinition, _ place: String) {
        let type = attribute.type
        for key in ["minDateTimeInterval", "maxDateTimeInterval"] where type != .date && element[key] != nil {
            warnUnfit(key, type, place)
        }
        switch type {
        case .int16, .int32, .int64, .float, .double, .decimal:
            attribute.min = value(element, "minValueString", type, place)
            attribute.max = value(element, "maxValueString", type, place)
        case .date:
            attribute.min = value(element, "minDateTimeInterval", type, place)
            attribute.max = value(element, "maxDateTimeInterval", type, place)
        case .string:
            attribute.minLength = count(element, "minValueString", place)
            attribute.maxLength = count(element, "maxValueString", place)
        case .bool, .data, .uuid, .uri, .json: break
        }
        if [.bool, .data, .uuid, .uri, .json, .date].contains(type) {
            for key in ["minValueString", "maxValueString"] where element[key] != nil { warnUnfit(key, type, place) }
        }
    }

    private mutating func readRegex(_ element: ModelElement, _ attribute: inout AttributeDefinition, _ place: String) {
        let key = "regularExpressionString"
        guard let pattern = text(element[key]) else { return }
        guard attribute.type == .string else { return warnUnfit(key, attribute.type, place) }
        do throws(LinearRegex.PatternError) {
            guard let expression = try expressions.expression(pattern) else {
                let reason = "a schema has at most \(SchemaExpressions.countMax) different expressions"
                return warnings.add(place, "'\(key)' is ignored; \(reason)")
            }
            attribute.regex = expression.pattern
            for difference in ModelPattern.differences(in: pattern) { warnings.add(place, "'\(key)' is kept, but \(difference)") }
        } catch {
            warnings.add(place, "'\(key)' is ignored; '\(pattern)' is not an expression in RE2 syntax: \(error.message)")
        }
    }

    /// Removes a default that the constraints refuse, because a schema cannot have such a default. In Core Data, the default only prevents
    /// saving an object until the attribute gets another value.
    private mutating func checkDefault(_ attribute: inout AttributeDefinition, _ place: String) {
        let type = attribute.type
        // All values were converted to the type earlier, so an error is impossible here.
        func value(_ json: JSONValue?) -> Value? { json.flatMap { try? Value(json: $0, type: type) } }
        let constraints = AttributeConstraints(
            min: value(attribute.min), max: value(attribute.max), minLength: attribute.minLength, maxLength: attribute.maxLength,
            regex: attribute.regex.flatMap { try? expressions.expression($0) })  // `readRegex` has compiled the pattern, so it is valid.
        guard let flaw = value(attribute.defaultValue).flatMap({ constraints.check($0) }) else { return }
        attribute.defaultValue = nil
        warnings.add(place, "the default is ignored; it \(flaw)")
    }

    private mutating func warnUnfit(_ key: String, _ type: AttributeType, _ place: String) {
        warnings.add(place, "'\(key)' is ignored; it has no meaning for the type \(type.rawValue)")
    }

    /// Reads a whole number of 0 or more from the XML attribute `key`. Returns `nil` if it is missing, or, with a warning, if it is
    /// invalid.
    mutating func count(_ element: ModelElement, _ key: String, _ place: String) -> Int? {
        guard let text = text(element[key]) else { return nil }
        if let count = Int(text), count >= 0 { return count }
        warnings.add(place, "'\(key)' is ignored; '\(text)' is not a whole number of 0 or more")
        return nil
    }
}
