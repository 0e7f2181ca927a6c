internal import CambiumBytes
internal import CambiumJSON

/// The object from which a record is read, during `EntityRecord.init(from:)`.
///
/// ```swift
/// init(from row: inout RecordReader) throws {
///     id = try row.read("id")
///     title = try row.read("title")
///     ref = row.ref()
/// }
/// ```
///
/// Each property is read by its name or, as the macro does, by its index in the record's schema. Reading in the order of the schema is
/// fastest. Errors name the object and the property.
///
/// A reader cannot be copied, because the rows that it reads may belong to a transaction in progress.
public struct RecordReader: ~Copyable {
    let graph: Graph
    private(set) var cursor: RowCursor
    /// The place (row position) of the object that is being read. An object of an edit may have no row, so reading from an edit uses only
    /// `place`, and not `cursor`.
    private(set) var place: ObjectPlace
    /// The edit whose objects are read; `nil` for the objects of `graph`.
    let edited: EditedRows?
    /// Supplies the refs if records are read inside of a transaction; `nil` if they are read from a graph or an edit.
    private let uncommitted: UncommittedOrigins?
    private(set) var binding: RecordBinding
    /// The places of the objects of the records that contain this record, the outermost first.
    private var path: [ObjectPlace] = []
    /// The index of the property at which the search for the next name begins. Properties are usually read in order, so the search usually
    /// succeeds at this property.
    private var next = 0
    /// The origin (store and containing records) of the `ref` that the current record gets. In a transaction, `uncommitted` supplies the
    /// store, and only the containing records are taken from `own`.
    private var own: RefOrigin
    /// The origin of the `ref` that each record inside of the current record gets; `nil` until one of these records is read.
    private var inside: RefOrigin?
    /// The origin of the refs in properties. These refs hold the graph or the edit. `nil` until a property needs the origin. In a
    /// transaction, `uncommitted` supplies the refs instead.
    private var related: RefOrigin?
    /// The record types inside of the record that were read so far, each matched with the schema.
    private var bindings: [(type: ObjectIdentifier, binding: RecordBinding)] = []

    /// The maximum nesting depth of records.
    static let depthMax = 128

    /// Creates a reader for the objects of a graph. The reader must move to an object before it reads.
    ///
    /// - Parameter uncommitted: Supplies the refs, if the graph belongs to a transaction in progress; otherwise `nil`.
    init(_ graph: Graph, _ binding: RecordBinding, _ uncommitted: UncommittedOrigins? = nil) {
        self.graph = graph
        self.binding = binding
        self.uncommitted = uncommitted
        cursor = RowCursor(graph)
        place = cursor.place
        own = uncommitted == nil ? RefOrigin(storeKey: graph.storeKey, read: .graph(graph)) : binding.origin(graph)
        edited = nil
    }

    /// Creates a reader for the objects of an edit. The reader must move to an object before it reads.
    init(_ edited: EditedRows, _ binding: RecordBinding) {
        graph = edited.edit.base
        self.binding = binding
        self.edited = edited
        cursor = RowCursor(graph)
        place = cursor.place
        own = RefOrigin(storeKey: graph.storeKey, read: .edit(EditMoment(of: edited.edit), nil))
        uncommitted = nil
    }

    mutating func move(to place: ObjectPlace) {
        move(to: place, reading: binding.attributeFields)
        (next, inside) = (0, nil)
    }

    /// Moves to an object and returns its record. Throws `.objectDeleted` if the graph or the edit has no object with this id.
    mutating func record<Record: EntityRecord>(of id: ObjectID) throws -> Record {
        guard let place = edited == nil ? graph.place(of: id) : edited?.place(of: id) else { throw binding.missing(id) }
        move(to: place)
        try checkEntity()
        return try Record(from: &self)
    }

    private mutating func move(to place: ObjectPlace, reading fields: [CursorField]) {
        self.place = place
        if edited == nil { cursor.move(to: place, reading: fields) }
    }

    private func id(of place: ObjectPlace) -> ObjectID { edited?.id(of: place) ?? graph.id(of: place) }

    /// Whether the object at a place is the object of this record, or of a record that contains this record.
    func contains(_ place: ObjectPlace) -> Bool { place == self.place || path.contains(place) }

    // MARK: Properties

    /// Returns the value of the property that has the given name.
    ///
    /// Throws `.unknownName` if the record's schema does not have the property. Throws `.unexpectedValue` for a value that the type cannot
    /// hold, such as null for a type that is not optional. Throws `.limitExceeded` if records are nested more than 128 levels deep.
    @inlinable
    public mutating func read<V: _PropertyValue>(_ name: String) throws -> V { try V(_property: index(of: name), of: &self) }

    /// Returns the value of the property that has the given index in the record's schema. Throws the same errors as the `read(_:)` that
    /// takes a name, except `.unknownName`. An index that the schema does not have ends the process.
    @inlinable
    public mutating func read<V: _PropertyValue>(_ property: Int) throws -> V { try V(_property: property, of: &self) }

    /// Returns a value of any Codable type from an attribute of type `json`.
    ///
    /// Throws `.unexpectedValue` if the type cannot be decoded from the text. Complexity: O(bytes of the text).
    public mutating func readJSON<V: Codable & Sendable>(_ property: Int) throws -> V {
        let value = isNull(property) == true ? Value.null : try value(property)
        do { return try JSONText.decode(V.self, value) } catch { throw mismatch(property, value, error) }
    }

    /// Returns a value of any Codable type from the attribute that has the given name.
    public mutating func readJSON<V: Codable & Sendable>(_ name: String) throws -> V { try readJSON(index(of: name)) }

    /// Returns the ref of the object that is being read.
    public func ref<Record: EntityRecord>() -> Ref<Record> {
        uncommitted?.ref(to: id(of: place), in: own.containers) ?? Ref(id(of: place), own)
    }

    @usableFromInline
    mutating func index(of name: String) throws -> Int {
        if let found = binding.index(of: name, from: &next) { return found }
        throw CambiumError(
            .unknownName, "The record of '\(binding.entity.name)' reads '\(name)', which its recordSchema does not list. List it there.")
    }

    // MARK: Related objects

    func target(_ property: Int) -> ObjectPlace? {
        guard case .relationship(let relationship, let end) = binding.property(property), !relationship.isToMany else { return nil }
        if let edited { return edited.members(relationship, of: place).first }
        return graph.target(end, of: place)
    }

    private mutating func relatedOrigin() -> RefOrigin {
        let origin = related ?? edited.map { RefOrigin($0.edit.snapshot) } ?? RefOrigin(graph)
        related = origin
        return origin
    }

    mutating func members<Record: EntityRecord>(_ property: Int) throws -> ToMany<Record> {
        guard case .relationship(let relationship, let end) = binding.property(property) else { throw missing(property) }
        if edited == nil, uncommitted == nil { return ToMany(StoredMembers(relatedOrigin(), graph, place, relationship)) }
        let owner: Ref<Record> = ref()
        return ToMany(
            read: places(relationship, end).map { reference(to: $0) },
            of: MembersOwner(id: owner.id, relationship: relationship.number, origin: owner.origin))
    }

    mutating func reference<Record: EntityRecord>(to place: ObjectPlace) -> Ref<Record> {
        uncommitted?.ref(to: id(of: place)) ?? Ref(id(of: place), relatedOrigin())
    }

    /// Returns the members of a relationship: in the order of the relationship if it is ordered, otherwise by ascending id.
    private func places(_ relationship: Relationship, _ end: EndHandle) -> [ObjectPlace] {
        if let edited { return edited.members(relationship, of: place) }
        var places = Array(graph.members(end, of: place))
        if !relationship.isOrdered { places.sort { graph.id(of: $0) < graph.id(of: $1) } }
        return places
    }

    /// Returns the values of all members of a relationship. If the values are records, omits this record and the records that contain it,
    /// because a struct cannot contain itself.
    mutating func related<Element: _RelatedValue>(_ property: Int) throws -> [Element] {
        guard case .relationship(let relationship, let end) = binding.property(property) else { throw missing(property) }
        let places = places(relationship, end)
        var elements: [Element] = []
        elements.reserveCapacity(places.count)
        for place in places {
            if let element = try Element._related(at: place, of: &self) { elements.append(element) }
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

    /// Reads a record inside of this record. Returns `nil` if the object at `place` is the object of this record, or of a record that
    /// contains this record.
    mutating func nested<Record: EntityRecord>(at place: ObjectPlace) throws -> Record? {
        let outer = self.place
        if contains(place) { return nil }
        guard path.count < Self.depthMax else {
            throw CambiumError(
                .limitExceeded,
                "More than \(Self.depthMax) records contain each other at \(name ?? "an object"). "
                    + "Declare one of the properties as Ref or ToMany.")
        }
        let (outerBinding, outerNext, inner) = (binding, next, try bound(Record.self))
        // A record that contains no records omits no object, so its ref need not list the records that contain it.
        let origin = !inner.omittedRoots.isEmpty ? originInside() : own.containers.isEmpty ? own : own.with(own.read, nil, [])
        let (outerOwn, outerInside) = (own, inside)
        path.append(outer)
        (binding, own) = (inner, origin)
        move(to: place)
        defer {
            path.removeLast()
            (binding, own, inside) = (outerBinding, outerOwn, outerInside)
            move(to: outer, reading: [])
            next = outerNext
        }
        try checkEntity()
        return try Record(from: &self)
    }

    private mutating func originInside() -> RefOrigin {
        let id = id(of: place)
        let origin = inside ?? own.with(own.read, nil, own.containers + [uncommitted?.id(id) ?? id])
        inside = origin
        return origin
    }

    private mutating func bound<Record: EntityRecord>(_ type: Record.Type) throws -> RecordBinding {
        let key = ObjectIdentifier(type)
        for known in bindings where known.type == key { return known.binding }
        let binding = try graph.binding(type, for: edited == nil ? .store : .edit)
        bindings.append((key, binding))
        return binding
    }
}
