import Cambium
import CambiumJSON

/// Ops in the form in which the log command shows them.
enum OpText {
    /// Returns an op as one line for human readers.
    ///
    /// - Parameter identity: Returns the identity of an object, which follows its id: `Issue/65 (CORE-17)`.
    static func line(_ op: Op, _ schema: Schema, identity: (ObjectID) -> String? = { _ in nil }) -> String {
        var writer = JSONWriter()
        write(op, schema, identity, to: &writer)
        guard case .object(let members)? = try? JSONValue(parsing: writer.bytes) else { return op.kindName }  // The written JSON is valid.
        return members.map { member in
            if case .string(let text) = member.value {
                return member.key == "op" || member.key == "object" ? text : "\(member.key) \(text)"
            }
            return "\(member.key) \(member.value.text)"
        }.joined(separator: " ")
    }

    /// Returns the lines for a change to the schema and for its parts.
    static func lines(_ migration: SchemaMigration) -> [String] {
        if migration.before.entities.isEmpty { return ["schema of \(migration.after.entities.map(\.name).joined(separator: ", "))"] }
        return ["schema \(Readable.of(migration.changes.count, "change"))"]
            + migration.changes.map { "  \($0.subject) \(MigrationText.line($0))" }
    }

    static func write(_ migration: SchemaMigration, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("op", "schema")
            writer.member("entities", migration.after.entities.count)
            if !migration.before.entities.isEmpty {
                writer.array("changes", migration.changes) { writer, change in change.write(to: &writer) }
            }
        }
    }

    static func write(_ op: Op, _ schema: Schema, to writer: inout JSONWriter) { write(op, schema, { _ in nil }, to: &writer) }

    private static func write(_ op: Op, _ schema: Schema, _ identity: (ObjectID) -> String?, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("op", op.kindName)
            switch op {
            case .schema: break  // The `write` for a `SchemaMigration` describes the change.
            case .insert(let id, let entity, let assignments):
                // The values contain the identity.
                writer.member("object", name(id, schema.entity(entity), schema, { _ in nil }))
                values(assignments, id.root, schema, &writer)
            case .set(let id, let assignments):
                writer.member("object", name(id, nil, schema, identity))
                values(assignments, id.root, schema, &writer)
            case .link(let id, let property, let target, let index): link(id, property, target, index, schema, identity, &writer)
            case .unlink(let id, let property, let target): link(id, property, target, nil, schema, identity, &writer)
            case .move(let id, let property, let target, let index): link(id, property, target, index, schema, identity, &writer)
            case .delete(let ids): writer.member("objects", ids.map { name($0, nil, schema, identity) })
            case .upsert(let block):
                writer.member("entity", schema.entity(block.entity)?.name ?? "")
                writer.member("kind", kind(block.kind))
                writer.member("objects", block.serials.count)
            case .relink(let block):
                writer.member("entity", schema.entity(block.root)?.name ?? "")
                writer.member("relationship", schema.relationship(block.property, ofRoot: block.root)?.name ?? "")
                writer.member("objects", block.serials.count)
            case .clone(let clone):
                writer.member("roots", clone.roots.map { name($0, nil, schema, identity) })
                writer.member("objects", clone.objectCount)
                writer.object("byEntity") { writer in
                    for count in clone.hierarchies.flatMap(\.counts) {
                        writer.member(schema.entity(count.entity)?.name ?? "\(count.entity)", count.count)
                    }
                }
            case .mark(let id, let source, let isStub):
                writer.member("object", name(id, nil, schema, identity))
                if source > 0 { writer.member("source", name(ObjectID(root: id.root, serial: source), nil, schema, { _ in nil })) }
                if isStub { writer.member("_stub", true) }
            case .undo(let undone):
                writer.undone(undone, as: "transactions")
            case .label(let name, let number):
                writer.member("label", name)
                if number != .none { writer.member("of", number) }
            case .digest(let number, let digest):
                writer.member("of", number)
                writer.member("digest", digest.description)
            }
        }
    }

    private static func link(
        _ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID, _ index: Int?, _ schema: Schema,
        _ identity: (ObjectID) -> String?, _ writer: inout JSONWriter
    ) {
        writer.member("object", name(id, nil, schema, identity))
        writer.member("relationship", schema.relationship(property, ofRoot: id.root)?.name ?? "")
        writer.member("target", name(target, nil, schema, identity))
        if let index { writer.member("index", index) }
    }

    /// Returns the text of an id, and the identity of its object if it is known. If an op does not state the entity of the object, the text
    /// contains the name of the root entity.
    private static func name(
        _ id: ObjectID, _ entity: Entity?, _ schema: Schema, _ identity: (ObjectID) -> String?
    ) -> String {
        let name = (entity ?? schema.entity(id.root)).map { schema.text(of: id, entity: $0) } ?? "?/\(id.serial)"
        return identity(id).map { "\(name) (\($0))" } ?? name
    }

    private static func values(_ assignments: [Assignment], _ root: EntityNumber, _ schema: Schema, _ writer: inout JSONWriter) {
        writer.object("values") { writer in
            // An op may set an attribute twice. Only the last value remains, and a JSON object must not repeat a key.
            var last: [PropertyNumber: Int] = [:]
            for (place, assignment) in assignments.enumerated() { last[assignment.property] = place }
            for (place, assignment) in assignments.enumerated() where last[assignment.property] == place {
                writer.member(schema.attribute(assignment.property, ofRoot: root)?.name ?? "\(assignment.property)", assignment.value)
            }
        }
    }

    private static func kind(_ kind: UpsertBlock.Kind) -> String {
        switch kind {
        case .insert: "insert"
        case .insertStub: "stub"
        case .update: "update"
        case .fill: "fill"
        }
    }
}
