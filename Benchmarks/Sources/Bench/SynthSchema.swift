import Cambium

/// The two sizes of the generated data set, and the expected results of an import.
enum SynthSize: String {
    case large = "1e6"
    case small = "1e5"

    var objectCount: Int { self == .large ? 1_001_002 : 100_110 }
    var linkCount: Int { self == .large ? 1_129_260 : 112_911 }
    var memoTagCount: Int { self == .large ? 48_387 : 4_839 }
    /// The number of rows whose value is below 200 and whose count is at least 500.
    var scanHitCount: Int { self == .large ? 80_459 : 8_120 }
    /// The count of the row `65e70c088efb6791`.
    var probeCount: Int64 { self == .large ? 353 : 443 }
    var rowCount: Int { self == .large ? 806_450 : 80_650 }
    var counts: [(entity: String, count: Int)] {
        let noteCount = self == .large ? 16_129 : 1_613
        let tagCount = self == .large ? 1000 : 100
        return [
            ("folder", 4), ("tag", tagCount), ("note", noteCount), ("memo", noteCount), ("item", 10 * noteCount),
            ("row", 50 * noteCount),
        ]
    }
}

/// Folders contain notes. Each note has a memo and items, which have rows, and memos share tags. The names of the attributes and
/// relationships are the keys in the generated file.
struct SynthSchema {
    let schema: Schema
    let folder: Entity
    let tag: Entity
    let note: Entity
    let memo: Entity
    let item: Entity
    let row: Entity

    /// Creates the schema of a new store.
    init() throws { try self.init(Schema(Self.definition(uid: .string))) }

    /// Creates the schema of a new store whose objects are cloned: a uid is a UUID, and each copy gets a new one.
    static func cloneable() throws -> SynthSchema { try SynthSchema(Schema(definition(uid: .uuid, ["rebuild": "uuid"]))) }

    init(_ schema: Schema) throws {
        self.schema = schema
        folder = try schema.required("folder")
        tag = try schema.required("tag")
        note = try schema.required("note")
        memo = try schema.required("memo")
        item = try schema.required("item")
        row = try schema.required("row")
    }

    /// Imports the file into a store. References are uids, and `type` names the entity.
    func `import`(_ path: String, into store: Store) throws -> ImportReport {
        var options = ImportOptions()
        options.mapping = ImportMapping(entityFrom: "type")
        options.unknown = .error
        return try store.importRows(folder, from: [.file(path)], options)
    }

    /// Throws if a graph does not have the expected numbers of objects, links and tags, or if it contains a stub.
    func validate(_ graph: Graph, _ size: SynthSize) throws {
        try check(graph.objectCount, is: size.objectCount, "objects")
        try check(graph.linkCount, is: size.linkCount, "links")
        for (name, count) in size.counts {
            try check(graph.count(of: try graph.schema.required(name)), is: count, "objects of \(name)")
        }
        let tags = graph.end(try memo.requiredRelationship("tags"))
        var memoTagCount = 0
        for place in graph.objects(of: memo).lazy.compactMap({ graph.place(of: $0) }) {
            memoTagCount += graph.memberCount(tags, of: place)
        }
        try check(memoTagCount, is: size.memoTagCount, "pairs of a memo and a tag")
        for entity in [folder, tag, note, memo, item, row] {
            let hasStub = graph.objects(of: entity).contains { id in graph.place(of: id).map(graph.isStub) ?? true }
            try check(!hasStub, "no \(entity.name) is a stub")
        }
    }

    private static func definition(uid type: AttributeType, _ userInfo: [String: String] = [:]) -> SchemaDefinition {
        let uid = AttributeDefinition("uid", type, userInfo: userInfo)
        return SchemaDefinition {
            EntityDefinition("folder", identity: ["uid"]) {
                uid
                AttributeDefinition("name", .string)
                RelationshipDefinition("parent", to: "folder", inverse: "folders")
                RelationshipDefinition("folders", to: "folder", .toMany, inverse: "parent", onDelete: .cascade)
                RelationshipDefinition("notes", to: "note", .toMany, inverse: "folder", onDelete: .cascade)
            }
            EntityDefinition("tag", identity: ["uid"]) {
                uid
                AttributeDefinition("name", .string)
                RelationshipDefinition("memos", to: "memo", .toMany, inverse: "tags")
            }
            EntityDefinition("note", identity: ["uid"]) {
                uid
                AttributeDefinition("title", .string)
                AttributeDefinition("body", .string)
                AttributeDefinition("created", .int64)
                AttributeDefinition("priority", .int32)
                AttributeDefinition("pinned", .bool)
                RelationshipDefinition("folder", to: "folder", inverse: "notes")
                RelationshipDefinition("memo", to: "memo", inverse: "note", onDelete: .cascade)
                RelationshipDefinition("items", to: "item", .toMany, inverse: "note", onDelete: .cascade)
            }
            EntityDefinition("memo", identity: ["uid"]) {
                uid
                AttributeDefinition("text", .string)
                RelationshipDefinition("note", to: "note", inverse: "memo")
                RelationshipDefinition("tags", to: "tag", .toMany, inverse: "memos")
            }
            EntityDefinition("item", identity: ["uid"]) {
                uid
                AttributeDefinition("position", .int32)
                AttributeDefinition("text", .string)
                AttributeDefinition("done", .bool)
                RelationshipDefinition("note", to: "note", inverse: "items")
                RelationshipDefinition("related", to: "item", inverse: "relatedBy")
                RelationshipDefinition("relatedBy", to: "item", .toMany, inverse: "related")
                RelationshipDefinition("rows", to: "row", .toMany, inverse: "item", onDelete: .cascade)
            }
            EntityDefinition("row", identity: ["uid"]) {
                uid
                AttributeDefinition("key", .string)
                AttributeDefinition("value", .double)
                AttributeDefinition("count", .int32)
                RelationshipDefinition("item", to: "item", inverse: "rows")
            }
        }
    }
}
