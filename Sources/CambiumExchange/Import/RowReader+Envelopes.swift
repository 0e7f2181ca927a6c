internal import CambiumJSON
import CambiumModel

/// Recognizes rows that are envelopes: objects that contain the rows, such as the pages of a web service.
extension RowReader {
    /// The maximum number of keys on the path from an envelope to the rows.
    private static let envelopeDepthMax = 3

    /// Returns the failure of a row without any property of the entity, if the row contains an array of objects. Complexity: O(1) for a
    /// row with a property, otherwise O(values of the row).
    func envelope(_ place: Int, _ tokens: JSONTokens) -> RowFailure? {
        let object = batch.objects[place]
        guard object.values.isEmpty, object.links.isEmpty, !isRecord else { return nil }
        guard let pointer = Self.rows(in: 0, tokens, depth: 1) else { return nil }
        let name = entities[object.entity].counted.entity.name
        let message = "the row has no property of '\(name)', but contains an array of objects. If these are the rows, name their place: "
        let remedy = "--rows \(Excerpt.plain(pointer)), or options.rows in Swift"
        return RowFailure(code: .unknownKey, pointer: pointer, message: message + remedy)
    }

    /// Returns the JSON pointer to the first array in an object that begins with an object.
    private static func rows(in object: Int, _ tokens: JSONTokens, depth: Int) -> String? {
        var found: String?
        tokens.forEachMember(object) { key, value in
            guard found == nil else { return }
            var rest: String?
            if tokens.kind(value) == .array, tokens.memberCount(value) > 0, tokens.kind(value + 1) == .object { rest = "" }
            if tokens.kind(value) == .object, depth < envelopeDepthMax { rest = rows(in: value, tokens, depth: depth + 1) }
            found = rest.map { "/" + JSONPointer.escaped(tokens.string(key)) + $0 }
        }
        return found
    }
}
