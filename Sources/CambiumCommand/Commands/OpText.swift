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
        writer.beginObject()
        text("op", "schema", &writer)
        number("entities", migration.after.entities.count, &writer)
        if !migration.before.entities.isEmpty {
            writer.key("changes")
            writer.beginArray()
            for change in migration.changes { change.write(to: &writer) }
            writer.endArray()
        }
        writer.endObject()
    }

    static func write(_ op: Op, _ schema: Schema, to writer: inout JSONWriter) { write(op, schema, { _ in nil }, to: &writer) }

    private static func write(_ op: Op, _ schema: Schema, _ identity: (ObjectID) -> String?, to writer: inout JSONWriter) {
        writer.beginObject()
        text("op", op.kindName, &writer)
        switch op {
        case .schema: break  // The `write` for a `SchemaMigration` describes the change.
        case .insert(let id, let entity, let assignments):
            // The values contain the identity.
            text("object", name(id, schema.entity(entity), schema, { _ in nil }), &writer)
            values(assignments, id.root, schema, &writer)
        case .set(let id, let assignments):
            text("object", name(id, nil, schema, identity), &writer)
            values(assignments, id.root, schema, &writer)
        case .link(let id, let property, let target, let index): link(id, property, target, index, schema, identity, &writer)
        case .unlink(let id, let property, let target): link(id, property, target, nil, schema, identity, &writer)
        case .move(let id, let property, let target, let index): link(id, property, target, index, schema, identity, &writer)
        case .delete(let ids):
            writer.key("objects")
            writer.write(.array(ids.map { .string(name($0, nil, schema, identity)) }))
        case .upsert(let block):
            text("entity", schema.entity(block.entity)?.name ?? "", &writer)
            text("kind", kind(block.kind), &writer)
            number("objects", block.serials.count, &writer)
        case .relink(let block):
            text("entity", schema.entity(block.root)?.name ?? "", &writer)
            text("relationship", schema.relationship(block.property, ofRoot: block.root)?.name ?? "", &writer)
            number("objects", block.serials.count, &writer)
        case .clone(let clone):
            writer.key("roots")
            writer.write(.array(clone.roots.map { .string(name($0, nil, schema, identity)) }))
            number("objects", clone.objectCount, &writer)
            writer.key("byEntity")
            writer.beginObject()
            for count in clone.hierarchies.flatMap(\.counts) {
                number(schema.entity(count.entity)?.name ?? "\(count.entity)", count.count, &writer)
            }
            writer.endObject()
        case .mark(let id, let source, let isStub):
            text("object", name(id, nil, schema, identity), &writer)
            if source > 0 { text("source", name(ObjectID(root: id.root, serial: source), nil, schema, { _ in nil }), &writer) }
            if isStub {
                writer.key("_stub")
                writer.bool(true)
            }
        case .undo(let undone):
            writer.key("transactions")
            writer.beginArray()
            for range in undone {
                for number in range.lowerBound.rawValue...range.upperBound.rawValue { writer.number(number) }
            }
            writer.endArray()
        case .label(let name, let number):
            text("label", name, &writer)
            if number != .none { self.number("of", number, &writer) }
        case .digest(let number, let digest):
            self.number("of", number, &writer)
            text("digest", digest.description, &writer)
        }
        writer.endObject()
    }

    private static func link(
        _ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID, _ index: Int?, _ schema: Schema,
        _ identity: (ObjectID) -> String?, _ writer: inout JSONWriter
    ) {
        text("object", name(id, nil, schema, identity), &writer)
        text("relationship", schema.relationship(property, ofRoot: id.root)?.name ?? "", &writer)
        text("target", name(target, nil, schema, identity), &writer)
        if let index { number("index", index, &writer) }
    }

    private static func text(_ key: String, _ value: String, _ writer: inout JSONWriter) {
        writer.key(key)
        writer.string(value)
    }

    private static func number(_ key: String, _ value: Int, _ writer: inout JSONWriter) {
        writer.key(key)
        writer.number(value)
    }

    private static func number(_ key: String, _ value: TransactionNumber, _ writer: inout JSONWriter) {
        writer.key(key)
        writer.number(value.rawValue)
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
        writer.key("values")
        writer.beginObject()
        // An op may set an attribute twice. Only the last value remains, and a JSON object must not repeat a key.
        var last: [PropertyNumber: Int] = [:]
        for (place, assignment) in assignments.enumerated() { last[assignment.property] = place }
        for (place, assignment) in assignments.enumerated() where last[assignment.property] == place {
            writer.key(schema.attribute(assignment.property, ofRoot: root)?.name ?? "\(assignment.property)")
            assignment.value.write(to: &writer)
        }
        writer.endObject()
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
