import CambiumGraph
internal import CambiumJSON
import CambiumModel

/// The values in the rows of an export with a mapping, and the check that an import reads them back.
extension MappedObjectWriter {
    // MARK: Writing

    /// Returns the JSON of an attribute's value. Throws if the value is null and part of the identity.
    func written(
        _ value: Value, _ attribute: Attribute, _ conversion: ReadingPlan.Conversion?, _ property: MappedKeys.Property,
        _ place: ObjectPlace, _ keys: MappedKeys
    ) throws(CambiumError) -> JSONValue {
        if property.isIdentity, value.isNull {
            throw refusal(place, keys, property.pointer, "'\(attribute.name)' is null, but it is part of the identity")
        }
        return spelling(value, attribute, conversion, property.reversal)
    }

    /// Returns the JSON for a value. Tries several spellings, and chooses the first one for which `fits` returns `true` and which the
    /// mapping reads back as the value. If there is no such spelling, returns the first spelling; the caller then finds the difference and
    /// refuses the value.
    func spelling(
        _ value: Value, _ attribute: Attribute, _ conversion: ReadingPlan.Conversion?, _ reversal: FunctionReversal,
        fits: (JSONValue) -> Bool = { _ in true }
    ) -> JSONValue {
        if value.isNull { return .null }
        let plain = value.json
        guard let conversion else { return plain }
        let formatted = conversion.json(value, plain)
        let candidates = [reversal.reversed(formatted), formatted, plain]
        // If the mapping cannot read a spelling, `try?` returns `nil`, which does not equal the value.
        return candidates.first { fits($0) && (try? conversion.value($0, attribute.type)) == value } ?? candidates[0]
    }

    // MARK: Reading back

    /// Reads a row as an import does, and throws if the result differs from the object.
    func check(
        _ row: RowTree, _ place: ObjectPlace, _ keys: MappedKeys, _ content: ExportOptions.Content, _ members: [Int: [JSONValue]]
    ) throws(CambiumError) {
        for (index, property) in keys.properties.enumerated() where content == .objects || property.isIdentity {
            do throws(ConversionError) {
                let given = try property.given(row)
                switch property.content {
                case .attribute(let attribute, let field, let conversion):
                    let value = graph.value(of: field, at: place)
                    guard let given else {
                        if value.isNull { continue }
                        throw .unfit("no value would be read for \(value.json.text)")
                    }
                    let read = try (conversion ?? .plain).converted(given, attribute.type)
                    if read != value { throw .unfit("\(value.json.text) would be read as \(read.json.text)") }
                case .end(let relationship, _):
                    guard let wanted = members[index] else { continue }
                    try check(given, wanted, relationship)
                }
            } catch {
                throw refusal(place, keys, property.pointer, "'\(property.rule.name)': \(error.message)")
            }
        }
    }

    private func check(_ given: JSONValue?, _ wanted: [JSONValue], _ relationship: Relationship) throws(ConversionError) {
        var read: [JSONValue] = []
        switch given ?? .null {
        case .null: break
        case .array(let elements) where relationship.isToMany: read = elements
        case let other: read = [other]
        }
        func isSame(_ form: (JSONValue) -> JSONValue) -> Bool {
            let (mine, theirs) = (wanted.map(form), read.map(form))
            return relationship.isOrdered ? mine == theirs : mine.count == theirs.count && Set(mine) == Set(theirs)
        }
        if isSame(FunctionReversal.canonical) { return }
        // The rules of the destination may read different spellings, such as "7" and 7, as the same identity.
        if isSame({ identity($0, of: relationship) ?? FunctionReversal.canonical($0) }) { return }
        throw .unfit("\(JSONValue.array(wanted).text) would be read as \(JSONValue.array(read).text)")
    }
}
