public import CambiumModel

extension SchemaDefinition {
    /// Reads a Core Data model, as Xcode writes it.
    ///
    ///     let definition = try SchemaDefinition(coreDataModel: "Notes.xcdatamodeld")
    ///     for warning in definition.warnings { print(warning) }
    ///
    /// Names and the order of properties are kept. What the model has that a schema cannot carry is listed in `warnings`.
    /// Where an entity has exactly one uniqueness constraint, it becomes the entity's identity; an entry `cambium.identity`
    /// in the entity's user info (attributes, separated by commas) names another one. Lengths of text count Unicode scalars
    /// here and UTF-16 units in Core Data.
    ///
    /// - Parameter path: an `.xcdatamodeld` folder, whose current version is read; an `.xcdatamodel` folder; or its `contents`.
    /// - Throws: `.notFound`, `.ioFailure`, `.limitExceeded` (a model has at most 16 MiB), or `.invalidInput` with the place.
    public init(coreDataModel path: String) throws(CambiumError) {
        let file = try ModelFile.contents(of: path)
        try self.init(coreDataModel: try ModelFile.read(file), file: file)
    }

    /// Reads the text of a model's `contents` file. Complexity: O(bytes).
    ///
    /// - Parameters:
    ///   - bytes: XML in UTF-8, at most 16 MiB.
    ///   - file: the name that errors show.
    /// - Throws: `.limitExceeded`, or `.invalidInput` with the place.
    public init(coreDataModel bytes: [UInt8], file: String) throws(CambiumError) {
        var reader = ModelReader(file: file)
        self = try reader.definition(try ModelXML.parse(bytes, file: file))
    }
}
