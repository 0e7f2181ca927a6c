package import CambiumGraph
package import CambiumJSON
import CambiumModel

/// Writes objects as JSON: the id, the attributes, then the relationships, each in declaration order.
///
/// A to-one relationship is written as an id or null. A to-many relationship is written as an array of ids: in stored order if the
/// relationship is ordered, otherwise in ascending order. An included object that encloses the current object is written as its id.
///
/// If identities replace ids, a nested object omits the relationship back to the enclosing object, unless the includes name that
/// relationship. Only one thread at a time may use a writer.
package final class ObjectWriter {
    private let graph: Graph
    private let options: ExportOptions
    let table: ExportTable
    let order: ExportOrder
    /// Checks stored values while they are written, so that the output is valid JSON. It is `nil` if the graph was proven to be valid.
    private var check: StoredValueCheck?

    /// The position of an object in an export.
    struct Position {
        var tree: IncludeTree
        var path: [ObjectPlace] = []
        var arrival: Relationship?
        /// The declared entity of the object: the exported entity, or the destination of the relationship that contains the object. `nil`
        /// if any entity is possible. The object may belong to a sub-entity.
        var declared: Entity?
        var prefix = ""
        /// The distance of the object in a walk, which is written after the id; `nil` if no walk reached the object.
        var distance: Int?
    }

    /// - Parameter options: the options of the export. `options.format` is not used here, because the caller applies the format.
    package init(_ graph: Graph, _ options: ExportOptions = ExportOptions()) {
        self.graph = graph
        self.options = options
        table = ExportTable(graph)
        order = ExportOrder(table, options.references)
        check = graph.isProven ? nil : StoredValueCheck(.string)
    }

    /// Writes one object. Complexity: O(attributes and members), including the attributes and members of included objects.
    package func write(_ place: ObjectPlace, including tree: IncludeTree = IncludeTree(), to writer: inout JSONWriter) {
        object(place, Position(tree: tree), &writer)
    }

    /// Returns an object as a JSON tree, with the objects that the options include.
    func row(_ place: ObjectPlace, declared: Entity?) throws(JSONError) -> JSONValue {
        var writer = JSONWriter()
        object(place, Position(tree: options.include, declared: declared), &writer)
        return try JSONValue(parsing: writer.bytes)
    }

    /// Writes an object that a walk reached, with its distance after its id.
    package func write(_ place: ObjectPlace, distance: Int, to writer: inout JSONWriter) {
        object(place, Position(tree: IncludeTree(), distance: distance), &writer)
    }

    /// Writes an object at a position. The recursion is as deep as the tree of includes.
    func object(_ place: ObjectPlace, _ position: Position, _ writer: inout JSONWriter) {
        writer.object { writer in
            members(place, position, &writer)
        }
    }

    private func members(_ place: ObjectPlace, _ position: Position, _ writer: inout JSONWriter) {
        let keys = table.keys(of: place, prefix: position.prefix)
        if options.references == .id {
            writer.quotedKey(keys.quotedID)
            writer.string(keys.idBeginning, graph.id(of: place).serial)
            if let distance = position.distance { writer.member("_distance", distance) }
            if graph.isStub(place) {
                writer.quotedKey(keys.quotedStub)
                writer.bool(true)
            }
        } else if position.declared.map({ $0.family.count > 1 }) ?? true {
            writer.quotedKey(keys.quotedEntity)
            writer.string(keys.entity.name)
        }
        let isNamed = options.content == .names
        if isNamed, options.references == .id { return }
        for key in keys.keys {
            switch key.content {
            case .field(let field):
                if !isNamed || keys.isIdentity(key.name) { attribute(key, field, place, &writer) }
            case .end(let relationship, let handle):
                if isNamed, !keys.isIdentity(key.name) { continue }
                if !ExportTable.isOmitted(relationship, of: position.arrival, position.tree, options) {
                    self.relationship(key, relationship, handle, place, position, &writer)
                }
            }
        }
    }

    private func attribute(_ key: ExportKeys.Key, _ field: Field, _ place: ObjectPlace, _ writer: inout JSONWriter) {
        graph.withCell(field, place) { cell in
            if cell.kind == .null { return null(key, &writer) }
            writer.quotedKey(key.quoted)
            value(cell, field, place, key.name, &writer)
        }
    }

    /// Writes a value. Texts and whole numbers are written directly from the stored form (the cell), because copies would slow the export.
    private func value(_ cell: Cell, _ field: Field, _ place: ObjectPlace, _ name: String, _ writer: inout JSONWriter) {
        switch field.type {
        case .string, .uri:
            if let flaw = check?.flaw(bytes: cell.bytes) {
                graph.refuse("\(graph.schema.text(of: graph.id(of: place), entity: graph.entity(of: place))): '\(name)' \(flaw)")
            }
            writer.string(utf8: cell.bytes)
        case .int16: writer.number(Int64(Int16(truncatingIfNeeded: cell.low)))
        case .int32: writer.number(Int64(Int32(truncatingIfNeeded: cell.low)))
        case .int64: writer.number(Int64(bitPattern: cell.low))
        case .bool, .float, .double, .decimal, .data, .date, .uuid, .json: graph.value(of: field, at: place).write(to: &writer)
        }
    }

    private func null(_ key: ExportKeys.Key, _ writer: inout JSONWriter) {
        if options.nulls == .omit { return }
        writer.quotedKey(key.quoted)
        writer.null()
    }

    // MARK: Relationships

    private func relationship(
        _ key: ExportKeys.Key, _ relationship: Relationship, _ handle: EndHandle, _ place: ObjectPlace, _ position: Position,
        _ writer: inout JSONWriter
    ) {
        guard options.content == .objects, let tree = position.tree.child(relationship.name) else {
            // A reference to an object without an identity is omitted, because no import could resolve it.
            if canRefer(relationship) { names(key, relationship, handle, place, &writer) }
            return
        }
        let path = position.path + [place]
        var nested = Position(tree: tree, path: path, arrival: relationship, declared: key.declared)
        if relationship.isToMany {
            writer.quotedKey(key.quoted)
            writer.beginArray()
            members(order.members(relationship, handle, of: place), relationship, nests: true, nested, &writer)
            return writer.endArray()
        }
        guard let target = graph.target(handle, of: place) else { return null(key, &writer) }
        if canNest(target, path) {
            if options.keyPaths == .flat {
                nested.prefix = position.prefix + key.name + "."
                return members(target, nested, &writer)
            }
            writer.quotedKey(key.quoted)
            object(target, nested, &writer)
        } else if canRefer(relationship) {
            if isNameless(target) { return null(key, &writer) }
            writer.quotedKey(key.quoted)
            reference(target, declared: key.declared, &writer)
        }
    }

    /// Writes a relationship whose objects are not included.
    private func names(
        _ key: ExportKeys.Key, _ relationship: Relationship, _ handle: EndHandle, _ place: ObjectPlace, _ writer: inout JSONWriter
    ) {
        guard relationship.isToMany else {
            guard let target = graph.target(handle, of: place), !isNameless(target) else { return null(key, &writer) }
            writer.quotedKey(key.quoted)
            if options.references == .id {
                writer.string(key.idBeginning ?? table.keys(of: target).idBeginning, graph.id(of: target).serial)
            } else {
                reference(target, declared: key.declared, &writer)
            }
            return
        }
        writer.quotedKey(key.quoted)
        writer.beginArray()
        if options.references == .id {
            for id in graph.memberIDs(handle, of: place) {
                if let beginning = key.idBeginning ?? graph.place(of: id).map({ table.keys(of: $0).idBeginning }) {
                    writer.string(beginning, id.serial)
                }
            }
        } else {
            for member in order.members(relationship, handle, of: place) { reference(member, declared: key.declared, &writer) }
        }
        writer.endArray()
    }

    /// Writes the members of a to-many relationship. If `nests` is `true`, a member becomes a nested object at `position` if possible. All
    /// other members become references.
    func members(
        _ members: [ObjectPlace], _ relationship: Relationship, nests: Bool, _ position: Position, _ writer: inout JSONWriter
    ) {
        for member in members {
            if nests, canNest(member, position.path) {
                object(member, position, &writer)
            } else if canRefer(relationship) {
                reference(member, declared: position.declared, &writer)
            }
        }
    }

    /// Returns whether an object can be nested. The object must not be one of the enclosing objects in `path`. If references are
    /// identities, the object must not be a stub.
    private func canNest(_ place: ObjectPlace, _ path: [ObjectPlace]) -> Bool {
        !path.contains(place) && (options.references == .id || !graph.isStub(place))
    }

    /// Returns whether the export can write references to the members of a relationship. If references are identities instead
    /// of ids, the entity of the members must have an identity.
    func canRefer(_ relationship: Relationship) -> Bool {
        options.references == .id || !(graph.schema.entity(relationship.destination)?.identity.isEmpty ?? true)
    }

    /// Returns whether the identity of an object contains null, so that no import could find the object by a reference.
    private func isNameless(_ place: ObjectPlace) -> Bool {
        options.references == .identity && table.isNameless(place)
    }

    /// Writes a reference to an object: its id, its only identity value if that is a scalar, or a JSON object with all components of its
    /// identity. A relationship of the identity is a reference to its target. Writes null if the identity contains null.
    ///
    /// - Parameter declared: the destination of the relationship that refers to the object; `nil` if any entity is possible. If the object
    ///   belongs to a sub-entity, the reference is a JSON object that also names the sub-entity. Without that name, an import that creates
    ///   the object could not infer the sub-entity.
    func reference(_ place: ObjectPlace, declared: Entity? = nil, _ writer: inout JSONWriter) {
        let keys = table.keys(of: place)
        if options.references == .id {
            return writer.string(keys.idBeginning, graph.id(of: place).serial)
        }
        if isNameless(place) { return writer.null() }
        let namesEntity = declared.map { $0 !== keys.entity } ?? false
        if !namesEntity, table.isScalar(identityOf: place, keys) { return identity(keys.identity[0], place, &writer) }
        writer.beginObject()
        if namesEntity {
            writer.quotedKey(keys.quotedEntity)
            writer.string(keys.entity.name)
        }
        for part in keys.identity {
            writer.key(part.name)
            identity(part, place, &writer)
        }
        writer.endObject()
    }

    private func identity(_ part: ExportKeys.IdentityPart, _ place: ObjectPlace, _ writer: inout JSONWriter) {
        switch part {
        case .field(let attribute, let field): graph.withCell(field, place) { value($0, field, place, attribute.name, &writer) }
        case .owner(let relationship, let handle):
            guard let owner = graph.target(handle, of: place) else { return writer.null() }
            reference(owner, declared: graph.schema.entity(relationship.destination), &writer)
        }
    }
}
