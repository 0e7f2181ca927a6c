import Cambium
import CambiumLog
import CambiumModel
import TestFixtures

/// A tracker: the number of an issue identifies it within its project, and the number of a comment within its issue.
enum OwnedIdentity {
    static let definition = SchemaDefinition {
        EntityDefinition("Project", identity: ["key"]) {
            AttributeDefinition("key", .string)
            AttributeDefinition("name", .string, .optional)
            RelationshipDefinition("issues", to: "Issue", .toMany, inverse: "project", onDelete: .cascade)
        }
        EntityDefinition("Issue", identity: ["project", "number"]) {
            AttributeDefinition("number", .int64)
            AttributeDefinition("title", .string, .optional)
            RelationshipDefinition("project", to: "Project", inverse: "issues")
            RelationshipDefinition("comments", to: "Comment", .toMany, inverse: "issue", onDelete: .cascade)
            RelationshipDefinition("blocks", to: "Issue", .toMany)
        }
        EntityDefinition("Bug", parent: "Issue") { AttributeDefinition("severity", .int64, .optional) }
        EntityDefinition("Comment", identity: ["n", "issue"]) {
            AttributeDefinition("n", .int64)
            AttributeDefinition("text", .string, .optional)
            RelationshipDefinition("issue", to: "Issue", inverse: "comments")
        }
    }

    static func store(_ volume: MemoryVolume = MemoryVolume()) throws -> Store {
        try Store.create(volume, schema: try Schema(definition), durability: .synced, environment: fixedEnvironment())
    }

    /// The projects A and B, the issues A-1, A-2 and B-1, and a comment of A-1.
    static func filled(_ volume: MemoryVolume = MemoryVolume()) throws -> Store {
        let store = try store(volume)
        try store.importing("Project", #"{"key":"A","issues":[{"number":1,"comments":[{"n":1,"text":"c"}]},{"number":2}]}"#)
        try store.importing("Issue", #"{"project":{"key":"B"},"number":1}"#)
        return store
    }

    static func names(_ store: Store, _ entity: String = "Issue") throws -> [String] {
        try store.graph.objects(of: entity).map { store.graph.identityText(of: $0) ?? "-" }.sorted()
    }
}

extension Graph {
    /// Returns the objects that an export by identity writes: one line each, in the order of the identities.
    func identified(_ entity: String? = nil, _ change: (inout ExportOptions) -> Void = { _ in }) throws -> String {
        try exported(entity) { options in
            options.references = .identity
            change(&options)
        }
    }
}
