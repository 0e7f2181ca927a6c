import Cambium
import CambiumCoreData

/// Reads a schema from a file: JSON, or a Core Data model.
enum SchemaFile {
    /// Reads a schema. If a schema cannot express a part of a Core Data model, prints a warning about this part on stderr.
    static func read(_ path: String) throws -> Schema {
        let definition = try definition(path)
        for warning in definition.warnings { Terminal.error("cambium: warning: \(warning)") }
        do {
            return try Schema(definition)
        } catch {
            var error = error
            error.place = .init(file: path, pointer: error.place?.pointer)
            throw error
        }
    }

    private static func definition(_ path: String) throws -> SchemaDefinition {
        let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
        if trimmed.hasSuffix(".xcdatamodeld") || trimmed.hasSuffix(".xcdatamodel") { return try SchemaDefinition(coreDataModel: trimmed) }
        let bytes = try Terminal.text(of: path)
        let isXML = bytes.first { $0 > 0x20 } == UInt8(ascii: "<")
        return isXML ? try SchemaDefinition(coreDataModel: bytes, file: path) : try SchemaDefinition(json: bytes, file: path)
    }
}
