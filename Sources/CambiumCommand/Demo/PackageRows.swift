import Cambium
import CambiumJSON

/// The package graph as rows of an import, and the schema of these rows.
enum PackageRows {
    static let schema = SchemaDefinition {
        EntityDefinition("Package", identity: ["name"]) {
            AttributeDefinition("name", .string)
            AttributeDefinition("summary", .string, .optional)
            AttributeDefinition("essential", .bool, default: false)
            RelationshipDefinition("section", to: "Section", inverse: "packages")
            RelationshipDefinition("versions", to: "Version", .toMany, inverse: "package", onDelete: .cascade)
            RelationshipDefinition("tags", to: "Tag", .toMany, inverse: "packages")
            RelationshipDefinition("depends", to: "Package", .toMany, inverse: "dependents")
            RelationshipDefinition("recommends", to: "Package", .toMany, userInfo: ["clone": "share"])
            RelationshipDefinition("suggests", to: "Package", .toMany, userInfo: ["clone": "share"])
            RelationshipDefinition("dependents", to: "Package", .toMany, inverse: "depends")
        }
        EntityDefinition("Version", identity: ["name", "number", "architecture"]) {
            AttributeDefinition("name", .string, userInfo: ["followParent": "name"])
            AttributeDefinition("number", .string)
            AttributeDefinition("architecture", .string)
            AttributeDefinition("downloadSize", .int64, .optional)
            AttributeDefinition("installedSize", .int64, .optional)
            RelationshipDefinition("package", to: "Package", inverse: "versions")
            RelationshipDefinition("maintainer", to: "Maintainer", inverse: "versions")
        }
        EntityDefinition("Maintainer", identity: ["name"]) {
            AttributeDefinition("name", .string)
            RelationshipDefinition("versions", to: "Version", .toMany, inverse: "maintainer")
        }
        EntityDefinition("Section", identity: ["name"]) {
            AttributeDefinition("name", .string)
            RelationshipDefinition("packages", to: "Package", .toMany, inverse: "section")
        }
        EntityDefinition("Tag", identity: ["name"]) {
            AttributeDefinition("name", .string)
            RelationshipDefinition("packages", to: "Package", .toMany, inverse: "tags")
        }
    }

    /// Returns JSON Lines, one package in each line, in the order of the lists. If several lists contain a package, its row has a version
    /// for each list, and the last list supplies the other fields.
    static func jsonLines(_ paragraphs: [ControlFile.Paragraph]) -> [UInt8] {
        var order: [String] = []
        var byName: [String: [ControlFile.Paragraph]] = [:]
        for paragraph in paragraphs {
            let name = paragraph["Package"] ?? ""
            if byName[name] == nil { order.append(name) }
            byName[name, default: []].append(paragraph)
        }
        var writer = JSONWriter()
        for name in order {
            guard let all = byName[name], let last = all.last else { continue }
            write(name, last, versions: all, to: &writer)
            writer.endLine()
        }
        return writer.bytes
    }

    private static func write(
        _ name: String, _ package: ControlFile.Paragraph, versions: [ControlFile.Paragraph], to writer: inout JSONWriter
    ) {
        writer.beginObject()
        text("name", name, &writer)
        if let summary = package["Description"]?.split(separator: "\n").first { text("summary", String(summary), &writer) }
        if package["Essential"] == "yes" {
            writer.key("essential")
            writer.bool(true)
        }
        if let section = package["Section"] { object("section", [("name", section)], &writer) }
        writer.key("versions")
        writer.beginArray()
        for version in versions { write(name, version, to: &writer) }
        writer.endArray()
        writer.key("tags")
        writer.beginArray()
        for tag in tags(package["Tag"]) { object(nil, [("name", tag)], &writer) }
        writer.endArray()
        let depends = ControlFile.names((package["Pre-Depends"].map { $0 + ", " } ?? "") + (package["Depends"] ?? ""))
        for (key, names) in [
            ("depends", depends), ("recommends", ControlFile.names(package["Recommends"])),
            ("suggests", ControlFile.names(package["Suggests"])),
        ] {
            writer.key(key)
            writer.write(.array(names.map { .string($0) }))
        }
        writer.endObject()
    }

    private static func write(_ name: String, _ version: ControlFile.Paragraph, to writer: inout JSONWriter) {
        writer.beginObject()
        text("name", name, &writer)
        text("number", version["Version"] ?? "none", &writer)
        text("architecture", version["Architecture"] ?? "none", &writer)
        if let size = version["Size"].flatMap({ Int($0) }) { number("downloadSize", size, &writer) }
        if let size = version["Installed-Size"].flatMap({ Int($0) }) {
            let (byteCount, isTooLarge) = size.multipliedReportingOverflow(by: 1024)
            if !isTooLarge { number("installedSize", byteCount, &writer) }
        }
        if let maintainer = version["Maintainer"] { object("maintainer", [("name", maintainer)], &writer) }
        writer.endObject()
    }

    private static func tags(_ field: String?) -> [String] {
        (field ?? "").split { $0 == "," || $0 == " " || $0 == "\n" }.map(String.init)
    }

    private static func text(_ key: String, _ value: String, _ writer: inout JSONWriter) {
        writer.key(key)
        writer.string(value)
    }

    private static func number(_ key: String, _ value: Int, _ writer: inout JSONWriter) {
        writer.key(key)
        writer.number(value)
    }

    private static func object(_ key: String?, _ members: [(String, String)], _ writer: inout JSONWriter) {
        if let key { writer.key(key) }
        writer.beginObject()
        for (name, value) in members { text(name, value, &writer) }
        writer.endObject()
    }
}
