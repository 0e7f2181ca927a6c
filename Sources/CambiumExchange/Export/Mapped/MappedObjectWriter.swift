import CambiumGraph
internal import CambiumJSON
import CambiumModel

/// Creates rows that an import with a mapping reads as the same objects. Refuses an object that the import would read differently.
final class MappedObjectWriter {
    let graph: Graph
    private let options: ExportOptions
    private let resolver: MappingResolver
    private let keys: [EntityNumber: MappedKeys]
    let order: ExportOrder
    /// The identity of the last row, and the identities of the rows directly before it that have the same values. Rows may have the same
    /// values in different identity attributes, because the entities of a hierarchy may differ in these attributes.
    private var lastIdentities: Set<MappedIdentity> = []

    /// How an object appears in a row: as the row itself, as a nested object, or as a reference.
    private struct Position {
        var content: ExportOptions.Content
        var tree: IncludeTree
        var path: [ObjectPlace] = []
        var arrival: Relationship?
        let declared: Entity
        /// The number of arrays and objects in the row that contain the object.
        var level = 0
    }

    /// Prepares to write rows that an import with `mapping` reads. If the schema lacks a name in the mapping, throws `.invalidInput` with
    /// the JSON pointer to the name.
    ///
    /// - Parameter entity: the entity of the rows.
    init(_ graph: Graph, of entity: Entity, _ mapping: ImportMapping, _ options: ExportOptions) throws(CambiumError) {
        let resolver = try MappingResolver(mapping, importing: entity, graph.schema)
        var keys: [EntityNumber: MappedKeys] = [:]
        for entity in graph.schema.entities { keys[entity.number] = try MappedKeys(entity, graph, resolver) }
        self.graph = graph
        self.resolver = resolver
        self.keys = keys
        var options = options
        options.references = .identity
        self.options = options
        let identities = keys.mapValues(\.identity)
        order = ExportOrder(ExportTable(graph, identity: { identities[$0.number] ?? [] }), .identity)
    }

    /// Returns the row of an object of the entity `declared` or of one of its sub-entities. The caller must request rows in the order of
    /// `order`, so that rows with the same identity are adjacent. This method compares only adjacent rows.
    func row(_ place: ObjectPlace, declared: Entity) throws(CambiumError) -> JSONValue {
        let keys = try keys(of: graph.entity(of: place))
        if let identity = identity(place, keys) {
            if lastIdentities.first?.values != identity.values { lastIdentities.removeAll() }
            if !lastIdentities.insert(identity).inserted { throw repetition(place, keys) }
        }
        return try object(place, Position(content: options.content, tree: options.include, declared: declared))
    }

    /// Returns the row of an object. The caller may request objects in any order, and an object several times.
    ///
    /// - Parameter written: the objects of the previous rows, by their identities. A second object with the same identity is refused.
    func row(_ place: ObjectPlace, declared: Entity, written: inout [MappedIdentity: ObjectPlace]) throws(CambiumError) -> JSONValue {
        let keys = try keys(of: graph.entity(of: place))
        if let identity = identity(place, keys), let other = written.updateValue(place, forKey: identity), other != place {
            throw repetition(place, keys)
        }
        return try object(place, Position(content: options.content, tree: options.include, declared: declared))
    }

    /// Returns the values by which an import finds an object; `nil` if the import always inserts the object. An import does not distinguish
    /// -0.0 from 0.0.
    private func identity(_ place: ObjectPlace, _ keys: MappedKeys) -> MappedIdentity? {
        if keys.identity.isEmpty { return nil }
        return MappedIdentity(
            properties: keys.identity.map(\.number),
            values: keys.identity.map { component in
                switch component {
                case .attribute(let attribute): return graph.value(of: graph.field(attribute), at: place).withoutNegativeZero
                case .relationship(let relationship):
                    let owner = graph.target(graph.end(relationship), of: place)
                    return owner.map { .string(graph.schema.text(of: graph.id(of: $0), entity: graph.entity(of: $0))) } ?? .null
                }
            })
    }

    private func repetition(_ place: ObjectPlace, _ keys: MappedKeys) -> CambiumError {
        refusal(place, keys, "/identity", "another object has the same identity, so both would be read as one")
    }

    // MARK: Objects

    /// Returns the JSON of an object. The recursion is as deep as the tree of includes.
    private func object(_ place: ObjectPlace, _ position: Position) throws(CambiumError) -> JSONValue {
        let keys = try keys(of: graph.entity(of: place))
        if position.level >= JSONParser.depthMax { throw depthRefusal(place, keys, "") }
        var row = RowTree()
        var members: [Int: [JSONValue]] = [:]
        let entityName = try writeEntityName(place, keys, position, &row)
        for (index, property) in keys.properties.enumerated() where position.content == .objects || property.isIdentity {
            var value: JSONValue
            // The levels of a nested object are not counted here, because the call that writes the nested object checks its depth.
            var levels: Int?
            switch property.content {
            case .attribute(let attribute, let field, let conversion):
                value = try written(graph.value(of: field, at: place), attribute, conversion, property, place, keys)
            case .end(let relationship, let handle):
                if ExportTable.isOmitted(relationship, of: position.arrival, position.tree, options) { continue }
                // The functions of a mapping can change values, but not objects. If a property has functions, each reference is therefore a
                // value, unless the identity has several attributes.
                let takesObjects = property.rule.rule.functions.isEmpty
                let elementLevels = relationship.isToMany ? 1 : 0
                var inner = position
                inner.level += (property.rule.paths.map(keyCount).max() ?? 1) + elementLevels
                guard let targets = try targets(relationship, handle, place, inner, takesObjects: takesObjects),
                    !property.isIdentity || !targets.isEmpty
                else {
                    if !property.isIdentity { continue }
                    let flaw = "'\(relationship.name)' leads to no object that an import can find, but it is part of the identity"
                    throw refusal(place, keys, property.pointer, flaw)
                }
                if takesObjects { levels = elementLevels }
                members[index] = targets
                value = relationship.isToMany ? .array(targets) : targets.first ?? .null
                value = property.reversal.reversed(value)
            }
            for (path, part) in property.written(value) where part != .null || options.nulls == .write {
                if position.level + keyCount(path) + (levels ?? part.levelCount) > JSONParser.depthMax {
                    throw depthRefusal(place, keys, property.pointer)
                }
                guard row.put(part, at: options.keyPaths == .flat ? [path.literal] : path.keys[...]) else {
                    throw refusal(place, keys, property.pointer, "another property is written at '\(path.literal)' or on the path to it")
                }
            }
        }
        if let entityName, row.value(at: entityName.path) != .string(entityName.text) {
            throw refusal(place, keys, "/entityFrom", "an import would read another key instead of '\(entityName.path.literal)'")
        }
        try check(row, place, keys, position.content, members)
        return row.json
    }

    private func keyCount(_ path: PropertyPath) -> Int { options.keyPaths == .flat ? 1 : path.keys.count }

    private func depthRefusal(_ place: ObjectPlace, _ keys: MappedKeys, _ pointer: String) -> CambiumError {
        let remedy = "shorten the paths of the mapping, or include fewer objects"
        return refusal(place, keys, pointer, "its row would nest more than \(JSONParser.depthMax) levels deep; \(remedy)")
    }

    /// Writes the text that names the entity of an object, and returns the text with its path. Returns `nil` if an import needs no such
    /// text for the object.
    private func writeEntityName(
        _ place: ObjectPlace, _ keys: MappedKeys, _ position: Position, _ row: inout RowTree
    ) throws(CambiumError) -> (path: PropertyPath, text: String)? {
        let declared = try self.keys(of: position.declared)
        if !declared.isDiscriminated, position.declared.family.count == 1 { return nil }
        guard let discriminator = declared.discriminator, let text = declared.text(for: keys.entity) else {
            if keys.entity === position.declared { return nil }
            throw refusal(place, declared, "/entityFrom", "the mapping has no key or no text for its entity, '\(keys.entity.name)'")
        }
        let path = discriminator.path
        if position.level + keyCount(path) > JSONParser.depthMax { throw depthRefusal(place, declared, "/entityFrom") }
        _ = row.put(.string(text), at: options.keyPaths == .flat ? [path.literal] : path.keys[...])
        return (path, text)
    }

    // MARK: Relationships

    /// Returns the members of a relationship as JSON for a row: nested objects or identities. Returns `nil` if no import could find the
    /// members again.
    private func targets(
        _ relationship: Relationship, _ handle: EndHandle, _ place: ObjectPlace, _ position: Position, takesObjects: Bool
    ) throws(CambiumError) -> [JSONValue]? {
        guard let declared = graph.schema.entity(relationship.destination) else { return nil }
        let declaredKeys = try keys(of: declared)
        let identity = declaredKeys.identity
        // The functions of a mapping cannot read objects. So an include by depth does not nest the objects of a relationship with
        // functions. An include by name nests them, and the export then refuses the row.
        let isNested = takesObjects || position.tree.names(relationship.name)
        let tree = isNested ? position.tree.child(relationship.name) : nil
        guard tree != nil || !identity.isEmpty else { return nil }
        let places =
            relationship.isToMany
            ? order.members(relationship, handle, of: place) : graph.target(handle, of: place).map { [$0] } ?? []
        let path = position.path + [place]
        var targets: [JSONValue] = []
        for target in places {
            if let tree, !path.contains(target), !graph.isStub(target) {
                let nested = Position(
                    content: .objects, tree: tree, path: path, arrival: relationship, declared: declared, level: position.level)
                targets.append(try object(target, nested))
            } else if let sole = declaredKeys.soleIdentity, !takesObjects || graph.entity(of: target) === declared {
                targets.append(try name(target, sole, declared))
            } else if !identity.isEmpty {
                let reference = Position(
                    content: .names, tree: IncludeTree(), path: path, declared: declared, level: position.level)
                targets.append(try object(target, reference))
            }
        }
        return targets
    }

    /// Returns the value that refers to an object, in the form that the mapping for the declared entity reads.
    private func name(_ place: ObjectPlace, _ attribute: Attribute, _ declared: Entity) throws(CambiumError) -> JSONValue {
        let keys = try keys(of: declared)
        let value = graph.value(of: graph.field(attribute), at: place)
        let property = keys.properties.first { if case .attribute(let own, _, _) = $0.content { own === attribute } else { false } }
        var conversion: ReadingPlan.Conversion?
        if case .attribute(_, _, let own)? = property?.content { conversion = own }
        let json = spelling(value, attribute, conversion, property?.reversal ?? FunctionReversal([]), fits: \.isScalar)
        // If the mapping does not read the JSON back as the value, the reference is refused.
        if json.isScalar, (try? (conversion ?? .plain).value(json, attribute.type)) == value { return json }
        let flaw = "no value in a row can refer to it, because '\(attribute.name)' is \(value.json.text); change the value or the mapping"
        throw refusal(place, keys, property?.pointer ?? "", flaw)
    }

    /// Returns the identity that the mapping reads from `json`, a reference to a member of a relationship. The identity has its standard
    /// spelling, so that references can be compared. Returns `nil` if the mapping cannot read `json`, or reads only objects as references.
    func identity(_ json: JSONValue, of relationship: Relationship) -> JSONValue? {
        guard json.isScalar, let keys = keys[relationship.destination], keys.soleIdentity != nil else { return nil }
        for property in keys.properties where property.isIdentity {
            guard case .attribute(let attribute, _, let conversion) = property.content else { continue }
            // If the mapping cannot read the value, the result is `nil`, and the caller compares the value as it is.
            return (try? (conversion ?? .plain).value(json, attribute.type)).map { FunctionReversal.canonical($0.json) }
        }
        return nil
    }

    private func keys(of entity: Entity) throws(CambiumError) -> MappedKeys {
        guard let keys = keys[entity.number] else {
            throw CambiumError(.notFound, "The schema has no entity '\(entity.name)'. Use an entity of the graph's schema.")
        }
        return keys
    }

    func refusal(_ place: ObjectPlace, _ keys: MappedKeys, _ pointer: String, _ message: String) -> CambiumError {
        let id = graph.schema.text(of: graph.id(of: place), entity: graph.entity(of: place))
        return resolver.mistake(keys.pointer + pointer, "\(id) cannot be written: \(message)")
    }
}

extension JSONValue {
    /// Whether the value is neither null nor a container, so that it can refer to an object.
    fileprivate var isScalar: Bool {
        switch self {
        case .null, .array, .object: false
        case .bool, .number, .string: true
        }
    }

    /// The number of levels of arrays and objects. The recursion is as deep as the value.
    fileprivate var levelCount: Int {
        switch self {
        case .null, .bool, .number, .string: 0
        case .array(let elements): 1 + (elements.lazy.map(\.levelCount).max() ?? 0)
        case .object(let members): 1 + (members.lazy.map(\.value.levelCount).max() ?? 0)
        }
    }
}

/// The values in the rows of an export with a mapping, and the check that an import reads them back.
extension MappedObjectWriter {
    // MARK: Writing

    /// Returns the JSON of an attribute's value. Throws if the value is null and part of the identity.
    func written(
        _ value: Value, _ attribute: Attribute, _ conversion: ReadingPlan.Conversion?, _ property: MappedKeys.Property,
        _ place: ObjectPlace, _ keys: MappedKeys
    ) throws(CambiumError) -> JSONValue {
        if property.isIdentity, value.isNull {
            throw refusal(place, keys, property.pointer, "'\(attribute.name)' is null, but it is part of the identity")
        }
        return spelling(value, attribute, conversion, property.reversal)
    }

    /// Returns the JSON for a value. Tries several spellings, and chooses the first one for which `fits` returns `true` and which the
    /// mapping reads back as the value. If there is no such spelling, returns the first spelling; the caller then finds the difference and
    /// refuses the value.
    func spelling(
        _ value: Value, _ attribute: Attribute, _ conversion: ReadingPlan.Conversion?, _ reversal: FunctionReversal,
        fits: (JSONValue) -> Bool = { _ in true }
    ) -> JSONValue {
        if value.isNull { return .null }
        let plain = value.json
        guard let conversion else { return plain }
        let formatted = conversion.json(value, plain)
        let candidates = [reversal.reversed(formatted), formatted, plain]
        // If the mapping cannot read a spelling, `try?` returns `nil`, which does not equal the value.
        return candidates.first { fits($0) && (try? conversion.value($0, attribute.type)) == value } ?? candidates[0]
    }

    // MARK: Reading back

    /// Reads a row as an import does, and throws if the result differs from the object.
    func check(
        _ row: RowTree, _ place: ObjectPlace, _ keys: MappedKeys, _ content: ExportOptions.Content, _ members: [Int: [JSONValue]]
    ) throws(CambiumError) {
        for (index, property) in keys.properties.enumerated() where content == .objects || property.isIdentity {
            do throws(ConversionError) {
                let given = try property.given(row)
                switch property.content {
                case .attribute(let attribute, let field, let conversion):
                    let value = graph.value(of: field, at: place)
                    guard let given else {
                        if value.isNull { continue }
                        throw .unfit("no value would be read for \(value.json.text)")
                    }
                    let read = try (conversion ?? .plain).converted(given, attribute.type)
                    if read != value { throw .unfit("\(value.json.text) would be read as \(read.json.text)") }
                case .end(let relationship, _):
                    guard let wanted = members[index] else { continue }
                    try check(given, wanted, relationship)
                }
            } catch {
                throw refusal(place, keys, property.pointer, "'\(property.rule.name)': \(error.message)")
            }
        }
    }

    private func check(_ given: JSONValue?, _ wanted: [JSONValue], _ relationship: Relationship) throws(ConversionError) {
        var read: [JSONValue] = []
        switch given ?? .null {
        case .null: break
        case .array(let elements) where relationship.isToMany: read = elements
        case let other: read = [other]
        }
        func isSame(_ form: (JSONValue) -> JSONValue) -> Bool {
            let (mine, theirs) = (wanted.map(form), read.map(form))
            return relationship.isOrdered ? mine == theirs : mine.count == theirs.count && Set(mine) == Set(theirs)
        }
        if isSame(FunctionReversal.canonical) { return }
        // The rules of the destination may read different spellings, such as "7" and 7, as the same identity.
        if isSame({ identity($0, of: relationship) ?? FunctionReversal.canonical($0) }) { return }
        throw .unfit("\(JSONValue.array(wanted).text) would be read as \(JSONValue.array(read).text)")
    }
}
