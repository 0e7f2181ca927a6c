public import Cambium
import CambiumJSON
public import CambiumModel

extension Store {
    /// Creates a store in memory for a test, with a fixed clock and fixed random numbers, and with objects from JSON.
    ///
    /// ```swift
    /// let store = try Store.testing(Schema(of: Note.self), fixtures: #"{"Note": [{"id": 1, "title": "Paris"}]}"#)
    /// ```
    ///
    /// Throws as `load(fixtures:)` does.
    public static func testing(_ schema: Schema, fixtures: String = "{}", environment: StoreEnvironment = .fixed()) throws -> Store {
        let store = try Store.inMemory(schema: schema, environment: environment)
        try store.load(fixtures: fixtures)
        return store
    }

    /// Imports rows for each entity. The text is a JSON object that maps the names of entities to arrays of rows.
    ///
    /// The entities are imported in the order of the text, by the standard rules of an import. Throws `.invalidInput` if the text is not
    /// such an object, `.unknownName` for an unknown entity, and the errors of `importRows`. Each entity is one transaction, so after an
    /// error the entities before the faulty one stay imported. Complexity: O(bytes of the text).
    public func load(fixtures: String) throws {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: fixtures.utf8)
        } catch {
            let place = CambiumError.Place(line: error.line, column: error.column)
            throw CambiumError(
                .invalidInput, "The fixtures are not JSON: \(error.message). Correct the text at this place.", place: place,
                underlying: error)
        }
        guard case .object(let members) = value else {
            throw CambiumError(.invalidInput, "The fixtures are not a JSON object. Write an object such as {\"Note\": [{\"id\": 1}]}.")
        }
        for member in members {
            let entity = try schema.required(member.key)
            _ = try importRows(entity, from: [.bytes(Array(member.value.text.utf8), name: "fixtures of \(member.key)")])
        }
    }
}
