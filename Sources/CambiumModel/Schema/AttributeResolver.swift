internal import CambiumJSON

/// A resolver for the definition of one attribute: it checks the values in the definition, and converts them to the attribute's type.
struct AttributeResolver {
    let attribute: AttributeDefinition
    let place: SchemaPlace
    let expressions: SchemaExpressions

    init(_ attribute: AttributeDefinition, _ place: SchemaPlace, _ expressions: SchemaExpressions) {
        self.attribute = attribute
        self.place = place
        self.expressions = expressions
    }

    /// Returns the constraints and the default value, and records mistakes. Complexity: O(bytes of the definition).
    func resolve(_ mistakes: inout SchemaMistakes) -> (constraints: AttributeConstraints, defaultValue: Value) {
        let constraints = constraints(&mistakes)
        guard let json = attribute.defaultValue, json != .null, let value = value(json, place["default"], &mistakes) else {
            return (constraints, .null)
        }
        if let flaw = constraints.check(value) {
            mistakes.add(place["default"].pointer, "the default \(flaw)")
        }
        return (constraints, value)
    }

    private func constraints(_ mistakes: inout SchemaMistakes) -> AttributeConstraints {
        let isNumeric = [.int16, .int32, .int64, .float, .double, .decimal, .date].contains(attribute.type)
        let hasLength = [.string, .uri, .data].contains(attribute.type)
        for (key, isGiven) in [("min", attribute.min != nil), ("max", attribute.max != nil)] where isGiven && !isNumeric {
            mistakes.add(place[key].pointer, "only numbers and dates can have a minimum and a maximum")
        }
        for (key, isGiven) in [("minLength", attribute.minLength != nil), ("maxLength", attribute.maxLength != nil)]
        where isGiven && !hasLength {
            mistakes.add(place[key].pointer, "only text and data can have a minimum and a maximum length")
        }
        for (key, length) in [("minLength", attribute.minLength), ("maxLength", attribute.maxLength)] {
            if let length, length < 0 { mistakes.add(place[key].pointer, "the length must be at least 0") }
        }
        let min = isNumeric ? attribute.min.flatMap { value($0, place["min"], &mistakes) } : nil
        let max = isNumeric ? attribute.max.flatMap { value($0, place["max"], &mistakes) } : nil
        if let min, let max, max.precedes(min) { mistakes.add(place["min"].pointer, "the minimum is greater than the maximum") }
        if let least = attribute.minLength, let most = attribute.maxLength, least > most {
            mistakes.add(place["minLength"].pointer, "the minimum length is greater than the maximum length")
        }
        return AttributeConstraints(
            min: min, max: max, minLength: attribute.minLength, maxLength: attribute.maxLength,
            regex: regex(&mistakes), allowed: allowed(&mistakes))
    }

    private func regex(_ mistakes: inout SchemaMistakes) -> LinearRegex? {
        guard let pattern = attribute.regex else { return nil }
        let place = place["regex"]
        guard attribute.type == .string || attribute.type == .uri else {
            mistakes.add(place.pointer, "only text can be matched with a regular expression")
            return nil
        }
        do {
            return try expressions.expression(pattern)
        } catch {
            mistakes.add(place.pointer, "\(error.message), at byte \(error.offset) of the pattern")
            return nil
        }
    }

    private func allowed(_ mistakes: inout SchemaMistakes) -> [Value]? {
        guard let allowed = attribute.allowed else { return nil }
        let place = place["enum"]
        if allowed.isEmpty { mistakes.add(place.pointer, "an empty list allows no value") }
        var values: [Value] = []
        var known: Set<Value> = []
        for (index, json) in allowed.enumerated() {
            guard let value = value(json, place[index], &mistakes) else { continue }
            if !known.insert(value.withoutNegativeZero).inserted {
                mistakes.add(place[index].pointer, "the list already contains the value")
            }
            values.append(value)
        }
        return values
    }

    private func value(_ json: JSONValue, _ place: @autoclosure () -> SchemaPlace, _ mistakes: inout SchemaMistakes) -> Value? {
        do {
            return try Value(json: json, type: attribute.type)
        } catch {
            mistakes.add(place().pointer, error.message)
            return nil
        }
    }
}
