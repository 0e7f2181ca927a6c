public import CambiumModel

extension SchemaDefinition {
    /// Reads a Core Data model, as Xcode writes it.
    ///
    /// ```swift
    /// let definition = try SchemaDefinition(coreDataModel: "Notes.xcdatamodeld")
    /// for warning in definition.warnings { print(warning) }
    /// ```
    ///
    /// The definition keeps names and the order of properties. `warnings` lists the parts of the model that a schema cannot express.
    ///
    /// If an entity has exactly one uniqueness constraint, the constraint becomes the entity's identity. A constraint with relationships
    /// stays a constraint if identities would need each other. The key `cambium.identity` in the entity's user info states another
    /// identity, as names separated by commas.
    ///
    /// In a schema, a limit on the length of a text counts Unicode scalars. In Core Data, the limit counts UTF-16 units.
    ///
    /// - Parameter path: An `.xcdatamodeld` folder, whose current version is read; an `.xcdatamodel` folder; or its `contents`.
    /// - Throws: `.notFound`, `.ioFailure`, `.limitExceeded` (a model may be at most 16 MiB), or `.invalidInput` with the place.
    public init(coreDataModel path: String) throws(CambiumError) {
        let file = try ModelFile.contents(of: path)
        try self.init(coreDataModel: try ModelFile.read(file), file: file)
    }

    /// Reads the text of a model's `contents` file. Complexity: O(bytes).
    ///
    /// - Parameters:
    ///   - bytes: XML in UTF-8, at most 16 MiB.
    ///   - file: The name of the file in error messages.
    /// - Throws: `.limitExceeded`, or `.invalidInput` with the place.
    public init(coreDataModel bytes: [UInt8], file: String) throws(CambiumError) {
        var reader = ModelReader(file: file)
        self = try reader.definition(try ModelXML.parse(bytes, file: file))
    }
}
