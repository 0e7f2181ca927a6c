import CambiumGraph
internal import CambiumJSON
import CambiumModel

/// Writes objects as CSV records (RFC 4180), with the columns of an entity, its sub-entities, and the included objects.
///
/// An import reads these records with `CSVDocuments`.
struct CSVObjectWriter {
    /// The adjacent columns of an exported object, or of an object that is included through a to-one relationship.
    private struct Group {
        let entity: Entity
        let prefix: String
        var columns: [Column] = []
    }

    private enum Column {
        case id
        case entity
        case named(String)
        case nested(String, Group)
    }

    private let graph: Graph
    private let options: ExportOptions
    private let objects: ObjectWriter
    private let columns: Group

    /// Determines the columns. Throws `.limitExceeded` if there are more columns than an import can read. Each included level of
    /// relationships can add columns. Throws `.invalidInput` if sub-entities have different properties with the name of an included
    /// relationship, because the same columns cannot contain both.
    ///
    /// - Parameter objects: a JSON writer with the same options, which supplies the keys and the order of members.
    init(_ graph: Graph, of entity: Entity, _ options: ExportOptions, _ objects: ObjectWriter) throws(CambiumError) {
        self.graph = graph
        self.options = options
        self.objects = objects
        var count = 0
        var columns = try Self.group(entity, options.include, arrival: nil, prefix: "", graph.schema, options, objects, &count)
        // An import skips empty lines. If a record could be an empty line, an additional first column contains the name of the entity.
        if Self.mayBeEmpty(columns), try MappingResolver(nil, importing: entity, graph.schema).discriminator(entity) != nil {
            columns.columns.insert(.entity, at: 0)
        }
        self.columns = columns
    }

    // MARK: Columns

    /// Returns the columns of an object. The recursion is as deep as the tree of includes.
    ///
    /// - Parameter count: the number of columns and groups so far.
    private static func group(
        _ entity: Entity, _ tree: IncludeTree, arrival: Relationship?, prefix: String, _ schema: Schema, _ options: ExportOptions,
        _ objects: ObjectWriter, _ count: inout Int
    ) throws(CambiumError) -> Group {
        var group = Group(entity: entity, prefix: prefix)
        defer { count += group.columns.count }
        if options.references == .id {
            group.columns.append(.id)
        } else if entity.family.count > 1 {
            group.columns.append(.entity)
        }
        var known: [String: ExportKeys.Key] = [:]
        for member in [entity] + schema.entities.filter({ $0 !== entity && entity.family.contains($0.number) }) {
            for key in objects.table.keys(member).keys {
                if let first = known[key.name] {
                    if options.content == .objects, tree.child(key.name) != nil { try key.checkColumns(of: first, member, schema) }
                    continue
                }
                known[key.name] = key
                guard case .end(let relationship, _) = key.content else {
                    if options.content == .objects || (options.references == .identity && objects.table.keys(member).isIdentity(key.name)) {
                        group.columns.append(.named(key.name))
                    }
                    continue
                }
                let isOwner = options.references == .identity && objects.table.keys(member).isIdentity(key.name)
                if options.content == .names, !isOwner { continue }
                if ExportTable.isOmitted(relationship, of: arrival, tree, options) { continue }
                guard count + group.columns.count <= CSVRecordScan.fieldCountMax else {
                    throw CambiumError(
                        .limitExceeded,
                        "An export as CSV has at most \(CSVRecordScan.fieldCountMax) columns. Include fewer relationships, or write JSON.")
                }
                if options.content == .names {
                    group.columns.append(.named(key.name))
                } else if !relationship.isToMany, let child = tree.child(key.name), let next = schema.entity(relationship.destination) {
                    let nested = try Self.group(
                        next, child, arrival: relationship, prefix: prefix + key.name + ".", schema, options, objects, &count)
                    group.columns.append(.nested(key.name, nested))
                } else if tree.child(key.name) != nil || objects.canRefer(relationship) {
                    group.columns.append(.named(key.name))
                }
            }
        }
        return group
    }

    /// Whether the record of an object may be an empty line: the record has no field, or only one field, which may be null.
    private static func mayBeEmpty(_ group: Group) -> Bool {
        guard let column = group.columns.first else { return true }
        if group.columns.count > 1 { return false }
        switch column {
        case .id, .entity: return false
        case .named(let name): return group.entity.attribute(name).map { $0.isOptional || $0.isDerived } ?? true
        case .nested(_, let nested): return fieldCount(nested) < 2
        }
    }

    private static func fieldCount(_ group: Group) -> Int {
        group.columns.reduce(0) { if case .nested(_, let nested) = $1 { $0 + fieldCount(nested) } else { $0 + 1 } }
    }

    /// Returns the record with the names of the columns.
    func names() -> [UInt8] {
        var record: [UInt8] = []
        names(columns, &record)
        return Self.ended(record)
    }

    private func names(_ group: Group, _ record: inout [UInt8]) {
        for column in group.columns {
            switch column {
            case .id: Self.append(Array((group.prefix + ExportTable.idKey).utf8), &record)
            case .entity: Self.append(Array((group.prefix + Discriminator.exportedKey).utf8), &record)
            case .named(let name): Self.append(Array((group.prefix + name).utf8), &record)
            case .nested(_, let nested): names(nested, &record)
            }
        }
    }

    // MARK: Records

    /// Returns the record of an object. Throws `.invalidInput` if the record would include a stub that no import could read.
    func record(_ place: ObjectPlace) throws(CambiumError) -> [UInt8] {
        var record: [UInt8] = []
        try write(columns, place, .init(tree: options.include), &record)
        return Self.ended(record)
    }

    private func write(
        _ group: Group, _ place: ObjectPlace?, _ position: ObjectWriter.Position, _ record: inout [UInt8]
    ) throws(CambiumError) {
        let keys = place.map { objects.table.keys(of: $0) }
        for column in group.columns {
            switch column {
            case .id: Self.append(place.map { Array(text(of: $0).utf8) }, &record)
            case .entity: Self.append(keys.map { Array($0.entity.name.utf8) }, &record)
            case .named(let name):
                let content = keys?.content(name)
                Self.append(place.flatMap { place in content.flatMap { text($0, place, position) } }, &record)
            case .nested(let name, let nested):
                var (target, arrival): (ObjectPlace?, Relationship?)
                if let place, case .end(let relationship, let handle) = keys?.content(name) {
                    (target, arrival) = (graph.target(handle, of: place), relationship)
                    if let target { try checkValues(of: target, nestedIn: place, name) }
                }
                let tree = position.tree.child(name) ?? IncludeTree()
                try write(nested, target, .init(tree: tree, path: position.path + (place.map { [$0] } ?? []), arrival: arrival), &record)
            }
        }
    }

    /// Throws `.invalidInput` if an included object is a stub that lacks a mandatory value. The columns of the object cannot contain a
    /// reference instead, and an import refuses an empty field for a mandatory attribute.
    private func checkValues(of target: ObjectPlace, nestedIn place: ObjectPlace, _ name: String) throws(CambiumError) {
        guard options.references == .identity, options.content == .objects, graph.isStub(target) else { return }
        let attributes = graph.entity(of: target).attributes.filter { !$0.isOptional && !$0.isDerived }
        guard let lacking = attributes.first(where: { graph.value(of: graph.field($0), at: target).isNull }) else { return }
        let (stub, owner) = (text(of: target), text(of: place))
        throw CambiumError(
            .invalidInput,
            "\(owner) cannot be written as CSV, because no import could read the record. '\(name)' leads to the stub \(stub), which has "
                + "no '\(lacking.name)'. Do not include '\(name)', or write JSON.")
    }

    private func text(of place: ObjectPlace) -> String { graph.schema.text(of: graph.id(of: place), entity: graph.entity(of: place)) }

    /// Returns the text of a field; `nil` for null.
    private func text(_ content: ExportKeys.Content, _ place: ObjectPlace, _ position: ObjectWriter.Position) -> [UInt8]? {
        switch content {
        case .field(let field):
            let value = graph.value(of: field, at: place)
            return value.isNull ? nil : Self.text(value)
        case .end(let relationship, let handle):
            guard relationship.isToMany else { return graph.target(handle, of: place).flatMap(reference) }
            let members = objects.order.members(relationship, handle, of: place)
            if members.isEmpty { return nil }
            let isText = options.references == .id || objects.table.keys(of: members[0]).hasTextIdentity
            if position.tree.child(relationship.name) == nil, isText {
                let references = members.compactMap(reference)
                return references.isEmpty ? nil : CSVList.text(references)
            }
            return array(members, relationship, place, position)
        }
    }

    /// Returns the members of a relationship as a JSON array: nested objects if `options.include` includes the relationship, otherwise
    /// references.
    private func array(
        _ members: [ObjectPlace], _ relationship: Relationship, _ place: ObjectPlace, _ position: ObjectWriter.Position
    ) -> [UInt8] {
        var writer = JSONWriter()
        let tree = position.tree.child(relationship.name)
        var nested = ObjectWriter.Position(tree: tree ?? IncludeTree(), path: position.path + [place], arrival: relationship)
        nested.declared = graph.schema.entity(relationship.destination)
        writer.beginArray()
        objects.members(members, relationship, nests: tree != nil, nested, &writer)
        writer.endArray()
        return writer.bytes
    }

    /// Returns the text that refers to an object. Returns `nil` if the object's identity contains null, because no import could find the
    /// object.
    private func reference(_ place: ObjectPlace) -> [UInt8]? {
        if options.references == .identity, objects.table.isNameless(place) { return nil }
        if options.references == .identity, objects.table.keys(of: place).hasTextIdentity {
            return objects.table.soleIdentity(of: place).map(Self.text)
        }
        var writer = JSONWriter()
        if options.references == .id { return Array(text(of: place).utf8) }
        objects.reference(place, &writer)
        return writer.bytes
    }

    private static func text(_ value: Value) -> [UInt8] {
        if case .json(let text) = value { return Array(text.utf8) }
        return Array(value.text.utf8)
    }

    // MARK: Fields

    /// Appends a field. Null becomes an empty field, and an empty text becomes an empty field in quotes. So an import can distinguish null
    /// from an empty text.
    private static func append(_ text: [UInt8]?, _ record: inout [UInt8]) {
        if let text {
            let quote = UInt8(ascii: "\"")
            let needsQuotes =
                text.isEmpty || text.contains { [UInt8(ascii: ","), quote, UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains($0) }
            if needsQuotes { record.append(quote) }
            for byte in text {
                if byte == quote { record.append(quote) }
                record.append(byte)
            }
            if needsQuotes { record.append(quote) }
        }
        record.append(UInt8(ascii: ","))
    }

    /// Replaces the last comma with a line end.
    private static func ended(_ record: [UInt8]) -> [UInt8] { record.dropLast() + [UInt8(ascii: "\r"), UInt8(ascii: "\n")] }
}
