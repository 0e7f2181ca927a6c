import Cambium
import CambiumCoreData
import Glibc

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
            error.place = .init(file: Terminal.name(of: path), pointer: error.place?.pointer)
            throw error
        }
    }

    private static func definition(_ path: String) throws -> SchemaDefinition {
        if isModel(path) || path.resolvedPath.map(isModel) == true { return try SchemaDefinition(coreDataModel: path) }
        let bytes = try Terminal.text(of: path)
        let isXML = bytes.first { $0 > 0x20 } == UInt8(ascii: "<")
        let name = Terminal.name(of: path)
        return isXML ? try SchemaDefinition(coreDataModel: bytes, file: name) : try SchemaDefinition(json: bytes, file: name)
    }

    /// Returns whether a path has the name of a Core Data model.
    private static func isModel(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name.hasSuffix(".xcdatamodeld") || name.hasSuffix(".xcdatamodel")
    }
}
