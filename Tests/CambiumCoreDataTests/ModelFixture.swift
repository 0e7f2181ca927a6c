import CambiumCoreData
import CambiumModel
import Foundation

/// Small models as texts.
enum ModelFixture {
    static func definition(_ entities: String, model: String = "") throws -> SchemaDefinition {
        try SchemaDefinition(coreDataModel: Array(text(entities, model: model).utf8), file: "contents")
    }

    static func text(_ entities: String, model: String = "") -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift" \(model)>
        \(entities)
        </model>
        """
    }

    /// Reads an entity 'Thing' with one attribute 'a'.
    static func attribute(_ words: String, inside: String = "") throws -> (attribute: AttributeDefinition?, warnings: [String]) {
        let definition = try definition("<entity name='Thing'><attribute name='a' \(words)>\(inside)</attribute></entity>")
        return (definition.entities.first?.attributes.first, definition.warnings)
    }

    /// Reads an entity 'Thing' with one relationship 'r' to itself.
    static func relationship(_ words: String) throws -> (relationship: RelationshipDefinition?, warnings: [String]) {
        let definition = try definition("<entity name='Thing'><relationship name='r' destinationEntity='Thing' \(words)/></entity>")
        return (definition.entities.first?.relationships.first, definition.warnings)
    }

    /// Returns the error of reading a text, or `nil` if the text is valid.
    static func error(_ text: String) -> CambiumError? { error(Array(text.utf8)) }

    static func error(_ bytes: [UInt8]) -> CambiumError? {
        do {
            _ = try SchemaDefinition(coreDataModel: bytes, file: "contents")
            return nil
        } catch {
            return error
        }
    }

    static func error(path: String) -> CambiumError? {
        do {
            _ = try SchemaDefinition(coreDataModel: path)
            return nil
        } catch {
            return error
        }
    }

    /// Calls the body with a new folder that contains these files, and removes the folder afterwards. The names of the
    /// files contain their folders.
    static func withFolder(_ files: [String: String], _ body: (_ folder: String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // A failure is harmless: the folder is temporary.
        for (name, text) in files {
            let url = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        try body(folder.path)
    }

    static func currentVersion(_ name: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        	<key>_XCCurrentVersionName</key>
        	<string>\(name)</string>
        </dict>
        </plist>
        """
    }
}
