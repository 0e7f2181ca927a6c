import Cambium
import Foundation

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

    private struct Named: Encodable { let name: String }

    private struct Version: Encodable {
        let name, number, architecture: String
        let downloadSize, installedSize: Int?
        let maintainer: Named?

        init(_ name: String, _ fields: ControlFile.Paragraph) {
            self.name = name
            number = fields["Version"] ?? "none"
            architecture = fields["Architecture"] ?? "none"
            downloadSize = fields["Size"].flatMap { Int($0) }
            // The field states KiB. A size beyond 64 bits is omitted.
            let (byteCount, isTooLarge) = (fields["Installed-Size"].flatMap { Int($0) } ?? 0).multipliedReportingOverflow(by: 1024)
            installedSize = fields["Installed-Size"] == nil || isTooLarge ? nil : byteCount
            maintainer = fields["Maintainer"].map(Named.init)
        }
    }

    private struct Package: Encodable {
        let name: String
        let summary: String?
        let essential: Bool
        let section: Named?
        let versions: [Version]
        let tags: [Named]
        let depends, recommends, suggests: [String]

        init(_ name: String, _ last: ControlFile.Paragraph, all: [ControlFile.Paragraph]) {
            self.name = name
            summary = last["Description"]?.split(separator: "\n").first.map { String($0) }
            essential = last["Essential"] == "yes"
            section = last["Section"].map(Named.init)
            versions = all.map { Version(name, $0) }
            tags = (last["Tag"] ?? "").split { $0 == "," || $0 == " " || $0 == "\n" }.map { Named(name: String($0)) }
            depends = ControlFile.names((last["Pre-Depends"].map { $0 + ", " } ?? "") + (last["Depends"] ?? ""))
            recommends = ControlFile.names(last["Recommends"])
            suggests = ControlFile.names(last["Suggests"])
        }
    }

    /// Returns JSON Lines, one package in each line, in the order of the lists. If several lists contain a package, its row has a version
    /// for each list, and the last list supplies the other fields.
    static func jsonLines(_ paragraphs: [ControlFile.Paragraph]) throws -> [UInt8] {
        var order: [String] = []
        var byName: [String: [ControlFile.Paragraph]] = [:]
        for paragraph in paragraphs {
            let name = paragraph["Package"] ?? ""
            if byName[name] == nil { order.append(name) }
            byName[name, default: []].append(paragraph)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        var bytes: [UInt8] = []
        for name in order {
            guard let all = byName[name], let last = all.last else { continue }
            bytes += try encoder.encode(Package(name, last, all: all)) + [0x0A]
        }
        return bytes
    }
}
