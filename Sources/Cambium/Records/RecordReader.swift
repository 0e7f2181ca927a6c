internal import CambiumBytes
internal import CambiumJSON

/// The object from which a record is read, during `EntityRecord.init(from:)`.
///
/// Each property is read by its name, or by its index in the record's schema, which the macro uses. Reading in the order of the schema is
/// fastest. Errors name the object and the property.
public struct RecordReader {
    let graph: Graph
    private var cursor: RowCursor
    private var binding: RecordBinding
    /// The places of the records that contain this record, the outermost first.
    private var path: [ObjectPlace] = []
    /// The index of the property that will probably be read next by name.
    private var next = 0
    /// The origins of the records' own refs, and of refs to other objects. The latter is created when a property needs it.
    private let own: RefOrigin
    private var related: RefOrigin?
    private var bindings: [(type: ObjectIdentifier, binding: RecordBinding)] = []

    /// The maximum number of records that may be nested in each other.
    static let depthMax = 128

    init(_ graph: Graph, _ binding: RecordBinding, at place: ObjectPlace) {
        self.graph = graph
        self.binding = binding
        cursor = RowCursor(graph, at: place, reading: binding.attributeFields)
        own = binding.origin(graph)
    }

    mutating func move(to place: ObjectPlace) {
        cursor.move(to: place, reading: binding.attributeFields)
        next = 0
    }

    // MARK: Properties

    /// Returns the value of the property with a name.
    ///
    /// Throws `.unknownName` if the record's schema does not have the property. Throws `.unexpectedValue` for a value that the type cannot
    /// hold, such as null for a type that is not optional. Throws `.limitExceeded` if more than 128 records contain each other.
    @inlinable
    public mutating func read<V: PropertyValue>(_ name: String) throws -> V { try V(property: index(of: name), of: &self) }

    /// Returns the value of the property with an index in the record's schema. Throws as `read(_:)` with a name does.
    @inlinable
    public mutating func read<V: PropertyValue>(_ property: Int) throws -> V { try V(property: property, of: &self) }

    /// Returns a value of any Codable type from an attribute of the type `json`.
    public mutating func readJSON<V: Codable & Sendable>(_ property: Int) throws -> V {
        let value = if isNull(property) { Value.null } else { try value(property) }
        do { return try JSONText.decode(V.self, value) } catch { throw mismatch(property, value, error) }
    }

    /// Returns a value of any Codable type from the attribute with a name.
    public mutating func readJSON<V: Codable & Sendable>(_ name: String) throws -> V { try readJSON(index(of: name)) }

    /// Returns the ref of the object that is being read.
    public func ref<Record: EntityRecord>() -> Ref<Record> { Ref(graph.id(of: cursor.place), own) }

    @usableFromInline
    mutating func index(of name: String) throws -> Int {
        let properties = binding.properties
        for offset in properties.indices {
            let candidate = next + offset < properties.count ? next + offset : next + offset - properties.count
            if properties[candidate].name == name {
                next = candidate + 1 == properties.count ? 0 : candidate + 1
                return candidate
            }
        }
        throw CambiumError(
            .unknownName, "The record of '\(binding.entity.name)' reads '\(name)', which its recordSchema does not list. List it there.")
    }

    // MARK: Values of attributes

    @usableFromInline
    func isNull(_ property: Int) -> Bool {
        if let field = binding.fields[property] { return cursor.isNull(field) }
        return target(property) == nil && !isToMany(property)
    }

    private func isToMany(_ property: Int) -> Bool {
        if case .relationship(let relationship, _) = binding.properties[property] { relationship.isToMany } else { false }
    }

    func value(_ property: Int) throws -> Value {
        guard case .attribute(let attribute) = binding.properties[property] else { throw missing(property) }
        let value = cursor.value(attribute, in: graph)
        if value.isNull { throw missing(property) }
        return value
    }

    func int(_ property: Int) throws -> Int64 {
        if let field = binding.fields[property], let value = cursor.int(field) { return value }
        throw missing(property)
    }

    func double(_ property: Int) throws -> Double {
        if let field = binding.fields[property], let value = cursor.double(field) { return value }
        throw missing(property)
    }

    func bool(_ property: Int) throws -> Bool {
        if let field = binding.fields[property], let value = cursor.bool(field) { return value }
        throw missing(property)
    }

    func string(_ property: Int) throws -> String {
        if let field = binding.fields[property], let value = cursor.string(field) { return value }
        throw missing(property)
    }

    // MARK: Related objects

    func target(_ property: Int) -> ObjectPlace? {
        guard case .relationship(let relationship, let end) = binding.properties[property], !relationship.isToMany else { return nil }
        return graph.target(end, of: cursor.place)
    }

    private mutating func relatedOrigin() -> RefOrigin {
        let origin = related ?? RefOrigin(graph, holdsGraph: true)
        related = origin
        return origin
    }

    mutating func members(_ property: Int) throws -> StoredMembers {
        guard case .relationship(let relationship, _) = binding.properties[property] else { throw missing(property) }
        return StoredMembers(relatedOrigin(), cursor.place, relationship)
    }

    mutating func reference<Record: EntityRecord>(to place: ObjectPlace) -> Ref<Record> { Ref(graph.id(of: place), relatedOrigin()) }

    /// Returns the values of all members of a relationship, except the objects that contain this record.
    mutating func related<Element: RelatedValue>(_ property: Int) throws -> [Element] {
        guard case .relationship(let relationship, let end) = binding.properties[property] else { throw missing(property) }
        var places = Array(graph.members(end, of: cursor.place))
        if !relationship.isOrdered { places.sort { graph.id(of: $0) < graph.id(of: $1) } }
        var elements: [Element] = []
        elements.reserveCapacity(places.count)
        for place in places {
            if let element = try Element.related(at: place, of: &self) { elements.append(element) }
        }
        return elements
    }

    @usableFromInline
    mutating func readTarget<Record: EntityRecord>(_ property: Int) throws -> Record {
        guard let place = target(property) else { throw missing(property) }
        guard let record: Record = try nested(at: place) else {
            throw mismatch(
                property, nil, ValueMismatch(description: "the object contains this record. Declare the property as optional, or as a Ref"))
        }
        return record
    }

    /// Reads a record inside of this record. Returns `nil` if the object contains this record.
    mutating func nested<Record: EntityRecord>(at place: ObjectPlace) throws -> Record? {
        let outer = cursor.place
        if place == outer || path.contains(place) { return nil }
        guard path.count < Self.depthMax else {
            throw CambiumError(
                .limitExceeded,
                "More than \(Self.depthMax) records contain each other at \(graph.name(of: graph.id(of: outer)) ?? "an object"). "
                    + "Declare one of the properties as Ref or ToMany.")
        }
        let (outerBinding, outerNext) = (binding, next)
        path.append(outer)
        binding = try bound(Record.self)
        move(to: place)
        defer {
            path.removeLast()
            binding = outerBinding
            cursor.move(to: outer, reading: [])
            next = outerNext
        }
        try checkEntity()
        return try Record(from: &self)
    }

    private mutating func bound<Record: EntityRecord>(_ type: Record.Type) throws -> RecordBinding {
        let key = ObjectIdentifier(type)
        for known in bindings where known.type == key { return known.binding }
        let binding = try graph.binding(type)
        bindings.append((key, binding))
        return binding
    }

    /// Throws `.unexpectedValue` if the object is not of the record's entity.
    func checkEntity() throws {
        let number = graph.entityNumber(of: cursor.place)
        guard binding.entity.number == number || binding.entity.family.contains(number) else {
            let name = graph.name(of: graph.id(of: cursor.place)) ?? "The object"
            throw CambiumError(.unexpectedValue, "\(name) is not of the entity '\(binding.entity.name)', which the record is a view of.")
        }
    }

    // MARK: Errors

    /// The object and the property, such as `Note/1.title`.
    private func place(of property: Int) -> String {
        "\(graph.name(of: graph.id(of: cursor.place)) ?? binding.entity.name).\(binding.properties[property].name)"
    }

    func missing(_ property: Int) -> CambiumError {
        CambiumError(
            .unexpectedValue, "\(place(of: property)) is null, but the record's property is not optional. Declare the property as optional."
        )
    }

    func mismatch(_ property: Int, _ value: Value?, _ reason: any Error) -> CambiumError {
        let found = value.map { " is \($0.text.prefix(100))" } ?? ""
        return CambiumError(
            .unexpectedValue, "\(place(of: property))\(found), which the record cannot hold: \(reason).", underlying: reason)
    }
}

extension RecordBinding.Property {
    var name: String {
        switch self {
        case .attribute(let attribute): attribute.name
        case .relationship(let relationship, _): relationship.name
        }
    }
}
