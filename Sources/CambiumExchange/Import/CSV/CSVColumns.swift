internal import CambiumJSON
import CambiumModel

/// The columns of a CSV file. The columns determine how a record becomes a JSON object.
///
/// A column has the name of an attribute or a relationship. A name such as `country.name` means the property `name` of the object to which
/// the to-one relationship `country` leads.
struct CSVColumns {
    /// The way in which the text of a field is converted to JSON.
    enum Kind: Hashable {
        case attribute(AttributeType)
        /// The identity of one object; the identity attribute has this type.
        case toOne(AttributeType)
        /// Identities of objects, separated by semicolons.
        case toMany(AttributeType)
        /// JSON. The relationship leads to objects without an identity, with an identity of several attributes, or with a JSON value as
        /// their identity.
        case json
        /// A text that CSV does not convert. Either a mapping converts it when the row is read, or the column maps to no attribute or
        /// relationship.
        case text
    }

    struct Member {
        /// The name of the property as a JSON key, with quotes and the colon.
        let key: [UInt8]
        var content: Content
        /// The kinds of the field in objects of certain entities, if they differ from the kind in `content`. Sub-entities may have
        /// different properties with the same name.
        let otherKinds: [EntityNumber: Kind]
        /// The entities to which the column applies. If an object belongs to another entity, its empty field is omitted. `nil` if empty
        /// fields are never omitted, because the column applies to the declared entity, or to no entity. Without a mapping, a column
        /// applies to an entity that has the property. With a mapping, it applies to an entity for which the mapping reads a property from
        /// the first key of the path.
        var owners: Set<EntityNumber>?
    }

    enum Content {
        case field(Int, Kind)
        case nested(Object)
    }

    struct Object {
        let entity: Entity
        var members: [Member] = []
        /// The index of each member in `members`, by the canonical bytes of its property's name.
        var places: [[UInt8]: Int] = [:]
        /// The discriminator: the column that names the entity of the object, and the entity that each text in this column means.
        let discriminator: Discriminator?
        /// The index of the discriminator column.
        var discriminatorColumn: Int?

        init(_ entity: Entity, _ discriminator: Discriminator?) {
            self.entity = entity
            self.discriminator = discriminator
        }
    }

    /// One property on the path that a column name such as `country.name` means.
    private struct Step {
        let name: String
        let kind: Kind
        var otherKinds: [EntityNumber: Kind] = [:]
        /// The object to which a relationship leads, still without members; `nil` at the end of the path.
        var object: Object?
    }

    private(set) var root: Object
    private(set) var names: [String] = []
    private let schema: Schema
    private let resolver: MappingResolver
    /// The discriminators that were looked up so far, by entity. The key of a discriminator is the name of its column.
    private var discriminators: [EntityNumber: Discriminator?]
    /// The keys with which the paths of a mapping begin; `nil` if there is no mapping. With a mapping, the name of a column does not state
    /// the type of its texts, so the reader of rows converts the texts.
    private let mappedKeys: Set<String>?
    /// The properties that a mapping reads from each key; `nil` if there is no mapping.
    private let readers: KeyReaders?
    private var isMapped: Bool { mappedKeys != nil }

    init(_ entity: Entity, _ schema: Schema, _ resolver: MappingResolver) {
        let discriminator = resolver.discriminatorColumn(entity)
        root = Object(entity, discriminator)
        discriminators = [entity.number: discriminator]
        self.schema = schema
        self.resolver = resolver
        mappedKeys = resolver.firstKeys(entity)
        readers = mappedKeys == nil ? nil : KeyReaders(resolver)
    }

    /// Adds the next column. Returns `false` if an earlier column has the same name or means the same property.
    mutating func append(_ name: String) -> Bool {
        let column = names.count
        names.append(name)
        var path = self.path(name, root.entity) ?? [Step(name: name, kind: .text)]
        // A mapping whose paths have another delimiter may read a key that contains dots.
        if path.count > 1, mappedKeys?.contains(name) == true { path = [Step(name: name, kind: .text)] }
        guard Self.add(path[...], column, to: &root, schema) else { return false }
        let key = path[0].name
        if let readers, let place = root.places[CanonicalText.bytes(key)] { root.members[place].owners = owners(of: key, readers) }
        return true
    }

    /// Returns the sub-entities for which a mapping reads a property from a key. Returns `nil` if the mapping reads the key for the entity
    /// of the rows, too, or for no entity.
    private func owners(of key: String, _ readers: KeyReaders) -> Set<EntityNumber>? {
        if !readers.names(key, root.entity).isEmpty { return nil }
        let owners = family(root.entity).filter { !readers.names(key, $0).isEmpty }
        return owners.isEmpty ? nil : Set(owners.map(\.number))
    }

    /// Whether the fields are probably not separated by commas: the name of the only column contains another common separator, which no
    /// name in a schema contains.
    var hasOtherSeparators: Bool {
        guard names.count == 1, names[0] != root.discriminator?.key, mappedKeys?.contains(names[0]) != true else { return false }
        return names[0].utf8.contains { [UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|")].contains($0) }
    }

    /// Returns the entity that a text in the discriminator column of an object names.
    func entity(named text: String, _ object: Object) -> Entity? {
        let name = CanonicalText.ordered(text)
        return schema.entity(object.discriminator?.map[name] ?? name)
    }

    // MARK: Names

    /// Returns the steps from an object of an entity to the property that a column name means. Returns `nil` if there is no such property.
    private mutating func path(_ name: String, _ entity: Entity) -> [Step]? {
        var steps: [Step] = []
        var entity = entity
        var rest = name[...]
        while steps.count <= RowPlanner.depthMax {
            if let step = step(String(rest), entity) { return steps + [step] }
            guard let (relationship, after) = toOne(rest, entity), let next = schema.entity(relationship.destination) else { return nil }
            steps.append(Step(name: relationship.name, kind: .json, object: Object(next, discriminator(next))))
            entity = next
            rest = after
        }
        return nil
    }

    /// Finds the to-one relationship at the beginning of a text such as `country.name`. Returns the relationship and the text after the
    /// dot. If several names match, chooses the longest name. Returns `nil` if no name matches.
    private func toOne(_ text: Substring, _ entity: Entity) -> (Relationship, Substring)? {
        let found = family(entity).flatMap(\.relationships).filter { !$0.isToMany && text.hasPrefix($0.name + ".") }
        return found.max { $0.name.utf8.count < $1.name.utf8.count }.map { ($0, text.dropFirst($0.name.count + 1)) }
    }

    private mutating func discriminator(_ entity: Entity) -> Discriminator? {
        if let known = discriminators[entity.number] { return known }
        let discriminator = resolver.discriminatorColumn(entity)
        discriminators.updateValue(discriminator, forKey: entity.number)
        return discriminator
    }

    /// Returns the step to a property of an entity or of a sub-entity, or to the column that names the entity of the object.
    private mutating func step(_ name: String, _ entity: Entity) -> Step? {
        if name == discriminator(entity)?.key { return Step(name: name, kind: .text) }
        let kinds = family(entity).compactMap { member in kind(name, member).map { (member.number, $0) } }
        guard let first = kinds.first?.1 else { return nil }
        let others = kinds.filter { $0.1 != first }
        return Step(name: name, kind: first, otherKinds: Dictionary(uniqueKeysWithValues: others))
    }

    private func kind(_ name: String, _ entity: Entity) -> Kind? {
        if let attribute = entity.attribute(name) { return isMapped ? .text : .attribute(attribute.type) }
        guard let relationship = entity.relationship(name) else { return nil }
        // The functions of a mapping must split the whole text of the field, and not the elements of a list.
        if resolver.rules(entity)?.objects.relationships[name]?.splitsTexts == true { return .text }
        // Another property that the mapping reads from the column must see the whole text, too.
        if let readers, readers.names(name, entity) != [name] { return .text }
        let identity = schema.entity(relationship.destination).flatMap(resolver.soleIdentityAttribute)
        guard let identity, identity.type != .json else { return .json }
        let type = isMapped ? .string : identity.type
        return relationship.isToMany ? .toMany(type) : .toOne(type)
    }

    /// Returns an entity, followed by its descendants in the order of the schema.
    private func family(_ entity: Entity) -> [Entity] {
        [entity] + schema.entities.filter { $0 !== entity && entity.family.contains($0.number) }
    }

    /// Adds the column of the property at the end of a path. The depth of the recursion is the number of relationships on the path.
    private static func add(_ path: ArraySlice<Step>, _ column: Int, to object: inout Object, _ schema: Schema) -> Bool {
        guard let step = path.first else { return false }
        let (name, bytes) = (step.name, CanonicalText.bytes(step.name))
        var place = object.places[bytes]
        if path.count == 1 {
            guard place == nil else { return false }
            if name == object.discriminator?.key { object.discriminatorColumn = column }
            object.places[bytes] = object.members.count
            object.members.append(member(step, .field(column, step.kind), object.entity, schema))
            return true
        }
        if place == nil, let next = step.object {
            place = object.members.count
            object.places[bytes] = place
            object.members.append(member(step, .nested(next), object.entity, schema))
        }
        guard let place, case .nested(var nested) = object.members[place].content else { return false }
        // `object` must not refer to the nested object while its members change. Otherwise, each column would copy all of these members.
        object.members[place].content = .field(column, .text)
        defer { object.members[place].content = .nested(nested) }
        return add(path.dropFirst(), column, to: &nested, schema)
    }

    private static func member(_ step: Step, _ content: Content, _ entity: Entity, _ schema: Schema) -> Member {
        let name = step.name
        var writer = JSONWriter(escapes: .required)
        writer.key(name)
        var owners: Set<EntityNumber>?
        if entity.attribute(name) == nil, entity.relationship(name) == nil {
            let having = schema.entities.filter { $0.attribute(name) != nil || $0.relationship(name) != nil }
            owners = having.isEmpty ? nil : Set(having.map(\.number)).intersection(entity.family)
        }
        return Member(key: writer.bytes, content: content, otherKinds: step.otherKinds, owners: owners)
    }
}
