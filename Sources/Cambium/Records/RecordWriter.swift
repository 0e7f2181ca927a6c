/// The object to which a record is written, during `EntityRecord.write(to:)`.
///
/// A save calls `write(to:)` once for the values of attributes, and again for relationships, if the record has any. Each property is
/// written by its name, or by its index in the record's schema, which the macro uses.
public struct RecordWriter: ~Copyable {
    var target: RecordTarget
    /// The values of attributes that the current record has written.
    private var values: [(Attribute, Value)] = []
    /// The attributes in `values` whose types read several stored forms as one value, each with a function that returns the form in which
    /// its type stores such a value.
    private var forms: [(attribute: Attribute, form: (Value) throws -> Value)] = []
    private var current: Frame
    /// The objects of the records that contain the current record, followed by the current object.
    private var path: [ObjectID] = []
    private var bindings: [(type: ObjectIdentifier, binding: RecordBinding)] = []
    private let read: RefOrigin
    private var inserted: RefOrigin?
    /// Whether the writer changes no object, and only clears the refs of records whose objects were deleted.
    private var isClearing = false

    /// The record that is being written.
    private struct Frame {
        let binding: RecordBinding
        /// The object of the record; `nil` until the values of its attributes were written.
        var id: ObjectID?
        /// The inverse of the relationship through which the save reached the record. This inverse is not written here, because the
        /// containing record writes the link.
        let arrival: PropertyNumber?
        /// The objects of the records that contained the record when it was read or saved.
        var containers: [ObjectID] = []
        /// The index of the property that will probably be written next by name.
        var next = 0
    }

    init(_ target: consuming RecordTarget, _ binding: RecordBinding) {
        read = RefOrigin(storeKey: target.storeKey)
        self.target = target
        current = Frame(binding: binding, arrival: nil)
    }

    consuming func takeTarget() -> RecordTarget { target }

    // MARK: Properties

    /// Writes the property with a name.
    ///
    /// Throws `.unknownName` if the record's schema does not have the property. Throws `.ruleViolated` for a value that the schema does not
    /// allow, and `.invalidInput` for an object that the relationship cannot hold.
    @inlinable
    public mutating func write<V: PropertyValue>(_ name: String, _ value: inout V) throws {
        try value.write(property: index(of: name), to: &self)
    }

    /// Writes the property with an index in the record's schema. Throws as `write(_:_:)` with a name does.
    @inlinable
    public mutating func write<V: PropertyValue>(_ property: Int, _ value: inout V) throws {
        try value.write(property: property, to: &self)
    }

    /// Writes a constant property. Throws `.invalidInput` if the property contains a new record, because a constant cannot store the
    /// record's ref.
    public mutating func write<V: PropertyValue>(_ property: Int, constant value: V) throws {
        var copy = value
        let count = insertedCount
        try copy.write(property: property, to: &self)
        guard insertedCount == count || !wantsRelationships else {
            let name = current.binding.properties[property].name
            throw CambiumError(
                .invalidInput,
                "'\(current.binding.entity.name).\(name)' is a constant that contains an unsaved record, so each save would insert "
                    + "the record again. Declare the property with 'var', or save the record first.")
        }
    }

    /// Writes a constant property by its name. Throws as `write(_:constant:)` with an index does.
    public mutating func write<V: PropertyValue>(_ name: String, constant value: V) throws {
        try write(index(of: name), constant: value)
    }

    /// Writes a value of any Codable type to an attribute of the type `json`.
    public mutating func writeJSON<V: Codable & Sendable>(_ property: Int, _ value: V) throws {
        guard wantsAttributes else { return }
        do {
            try put(property, JSONText.encode(value)) { try JSONText.encode(JSONText.decode(V.self, $0)) }
        } catch let error as CambiumError { throw error } catch {
            let name = current.binding.properties[property].name
            throw CambiumError(.invalidInput, "'\(current.binding.entity.name).\(name)' cannot be encoded: \(error)", underlying: error)
        }
    }

    /// Writes a value of any Codable type to the attribute with a name.
    public mutating func writeJSON<V: Codable & Sendable>(_ name: String, _ value: V) throws { try writeJSON(index(of: name), value) }

    @usableFromInline
    mutating func index(of name: String) throws -> Int {
        let properties = current.binding.properties
        for offset in properties.indices {
            let candidate = current.next + offset < properties.count ? current.next + offset : current.next + offset - properties.count
            if properties[candidate].name == name {
                current.next = candidate + 1 == properties.count ? 0 : candidate + 1
                return candidate
            }
        }
        throw CambiumError(
            .unknownName,
            "The record of '\(current.binding.entity.name)' writes '\(name)', which its recordSchema does not list. List it there.")
    }

    // MARK: Attributes

    /// Whether this call of `write(to:)` is for the attributes.
    @usableFromInline var wantsAttributes: Bool { current.id == nil }

    var wantsRelationships: Bool { current.id != nil }

    @usableFromInline
    mutating func put(_ property: Int, _ value: Value) throws {
        if case .attribute(let attribute) = current.binding.properties[property], !attribute.isDerived { values.append((attribute, value)) }
    }

    /// Puts a value whose type reads several stored forms as one value. If the object has this value in another form, it keeps that form.
    ///
    /// - Parameter form: Returns the form in which the type stores a value that it reads.
    mutating func put(_ property: Int, _ value: Value, _ form: @escaping (Value) throws -> Value) throws {
        try put(property, value)
        if case .attribute(let attribute) = current.binding.properties[property] { forms.append((attribute, form)) }
    }

    /// Writes `nil`. Returns the value that the property gets: a ref to the containing record if the property leads back to it, otherwise
    /// `nil`.
    @usableFromInline
    mutating func writeNull<Wrapped>(_ property: Int, _ type: Wrapped.Type) throws -> Wrapped? {
        switch current.binding.properties[property] {
        case .attribute: if wantsAttributes { try put(property, .null) }
        case .relationship(let relationship, _):
            if relationship.isToMany {
                try writeMembers(property, of: type) { _, _ in }
            } else {
                try setTarget(property, nil, of: type)
            }
        }
        return containerRef(property)
    }

    // MARK: Records

    /// Saves a record: updates the object of its ref, or the object with its identity, or inserts an object.
    mutating func save<Record: EntityRecord>(_ record: inout Record, arrival: PropertyNumber? = nil) throws -> ObjectID {
        guard path.count < RecordReader.depthMax else {
            throw CambiumError(
                .limitExceeded,
                "More than \(RecordReader.depthMax) records contain each other. Declare one of the properties as Ref or ToMany.")
        }
        let outer = current
        current = Frame(binding: try bound(Record.self), arrival: arrival, containers: record.ref?.origin.containers ?? [])
        defer { current = outer }
        if isClearing { return try clear(&record) }
        values.removeAll(keepingCapacity: true)
        forms.removeAll(keepingCapacity: true)
        try record.write(to: &self)
        let (id, isNew) = try saveAttributes(of: record.ref, Record.self)
        if current.binding.hasRelationships {
            current.id = id
            current.next = 0
            path.append(id)
            defer { path.removeLast() }
            try record.write(to: &self)
        }
        let ref = reference(to: id, record.ref, isNew: isNew)
        let known = current.containers
        record.ref = current.binding.hasRelationships ? ref.inside(known + path.filter { !known.contains($0) }) : ref
        return id
    }

    /// Deletes the object of a record, and clears the refs to deleted objects in the record and in the records inside of it.
    mutating func delete<Record: EntityRecord>(_ record: inout Record) throws {
        guard let ref = record.ref else {
            throw CambiumError(
                .objectDeleted, "The record of '\(Record.recordSchema.entity)' was never saved, so there is nothing to delete.")
        }
        try target.delete(try existing(ref))
        try clearRefs(in: &record)
    }

    private mutating func clearRefs<Record: EntityRecord>(in record: inout Record) throws {
        isClearing = true
        defer { isClearing = false }
        _ = try save(&record)
    }

    private mutating func clear<Record: EntityRecord>(_ record: inout Record) throws -> ObjectID {
        let id = record.ref?.id ?? ObjectID(root: current.binding.entity.root, serial: 0)
        current.id = id
        path.append(id)
        defer { path.removeLast() }
        try record.write(to: &self)
        if record.ref != nil, !target.contains(id) { record.ref = nil }
        return id
    }

    private mutating func saveAttributes<Record: EntityRecord>(
        of ref: Ref<Record>?, _ type: Record.Type
    ) throws -> (id: ObjectID, isNew: Bool) {
        let binding = current.binding
        let known: ObjectID? = if let ref { try objectID(of: ref) } else { nil }
        if let id = known ?? identified(binding) {
            for (attribute, form) in forms { omitPresentValue(of: attribute, form, id) }
            try target.set(id, values)
            return (id, false)
        }
        insertedCount += 1
        values.removeAll { $0.1.isNull && $0.0.defaultValue.isNull }
        return (try target.insert(binding.entity, values), true)
    }

    /// Omits a value that is already stored in another form, such as JSON with another order of keys or with other members.
    private mutating func omitPresentValue(of attribute: Attribute, _ form: (Value) throws -> Value, _ id: ObjectID) {
        guard let index = values.firstIndex(where: { $0.0 === attribute }) else { return }
        let stored = target.value(attribute, of: id)
        if stored.isNull || stored == values[index].1 { return }
        // A text that the type cannot read is replaced.
        if let present = try? form(stored), present == values[index].1 { values.remove(at: index) }
    }

    /// The number of objects that were inserted.
    private var insertedCount = 0

    /// Returns the object whose identity is among `values`; `nil` if there is no such object, or if `values` lacks a part of the identity.
    private borrowing func identified(_ binding: RecordBinding) -> ObjectID? {
        if binding.identity.isEmpty { return nil }
        var identity: [Value] = []
        for attribute in binding.entity.identity {
            guard let value = values.first(where: { $0.0 === attribute })?.1, !value.isNull else { return nil }
            identity.append(value)
        }
        return target.find(binding.entity, identity: identity)
    }

    /// Returns the object of a ref, or `nil` if the ref comes from a transaction that was rolled back.
    ///
    /// Throws `.objectDeleted` if the object does not exist, and `.misuse` if the ref belongs to another store.
    private borrowing func objectID<Record: EntityRecord>(of ref: Ref<Record>) throws -> ObjectID? {
        let entity = Record.recordSchema.entity
        guard ref.origin.storeKey == read.storeKey else {
            throw CambiumError(
                .misuse, "The record of '\(entity)' belongs to another store. Set its ref to nil, then save it here as a new object.")
        }
        if ref.origin.isRolledBack(except: target.outcome) { return nil }
        guard target.contains(ref.id) else {
            let reason = ref.id.isProvisional ? "exists only in the edit that inserted it" : "was deleted"
            throw CambiumError(
                .objectDeleted,
                "\(entity)/\(ref.id.serialText) \(reason), so the record cannot be saved. Set its ref to nil to insert it again.")
        }
        return ref.id
    }

    /// Returns the object of a ref that a property contains.
    borrowing func existing<Record: EntityRecord>(_ ref: Ref<Record>) throws -> ObjectID {
        if isClearing { return ref.id }
        if let id = try objectID(of: ref) { return id }
        throw CambiumError(
            .objectDeleted,
            "A ref to '\(Record.recordSchema.entity)' comes from a transaction that was rolled back. Save the record, and use its new ref.")
    }

    /// Returns the ref of an object that a save has written.
    mutating func reference<Record: EntityRecord>(to id: ObjectID, _ former: Ref<Record>? = nil, isNew: Bool = false) -> Ref<Record> {
        if let former, former.id == id, !former.origin.isRolledBack(except: target.outcome) { return former }
        return Ref(id, origin(of: id, isNew: isNew))
    }

    private mutating func origin(of id: ObjectID, isNew: Bool) -> RefOrigin {
        guard let outcome = target.outcome(of: id, isNew: isNew) else { return read }
        let origin = inserted ?? RefOrigin(storeKey: read.storeKey, outcome)
        inserted = origin
        return origin
    }

    mutating func bound<Record: EntityRecord>(_ type: Record.Type) throws -> RecordBinding {
        let key = ObjectIdentifier(type)
        for known in bindings where known.type == key { return known.binding }
        let binding = try target.binding(type)
        bindings.append((key, binding))
        return binding
    }

    // MARK: Relationships

    /// Returns the relationship to write, or `nil` if this call is for attributes or if the other side writes the relationship.
    private func relationship(_ property: Int) -> (owner: ObjectID, relationship: Relationship)? {
        guard let id = current.id, case .relationship(let relationship, _) = current.binding.properties[property],
            relationship.number != current.arrival
        else { return nil }
        return (id, relationship)
    }

    /// Returns the object of the record that contains the current record, if a property leads back to that record. The containing record
    /// writes this link. Otherwise, and in a call of `write(to:)` for attributes, returns `nil`.
    mutating func container(_ property: Int) -> (id: ObjectID, origin: RefOrigin)? {
        guard !isClearing, wantsRelationships, path.count > 1,
            case .relationship(let relationship, _) = current.binding.properties[property], relationship.number == current.arrival
        else { return nil }
        let id = path[path.count - 2]
        return (id, origin(of: id, isNew: false))
    }

    /// Returns a ref to the containing record if a property leads back to it, and if the value is a ref. Otherwise returns `nil`.
    mutating func containerRef<Value>(_ property: Int) -> Value? {
        guard let container = container(property), let type = Value.self as? any ContainerRef.Type else { return nil }
        return type.init(container.id, container.origin) as? Value
    }

    /// Whether this call of `write(to:)` is for relationships, and writes this relationship.
    func writesRelationship(_ property: Int) -> Bool { relationship(property) != nil }

    /// Whether a collection belongs to the property that is being written. If so, its members are unchanged.
    ///
    /// `owner` may have the id of an edit that was committed. Such an owner counts as the current object. An owner of a transaction that
    /// was rolled back does not exist, so its members are written, even if the current object got its id.
    func writesMembers(_ property: Int, of owner: MembersOwner) -> Bool {
        guard let (id, relationship) = relationship(property), relationship.number == owner.relationship else { return false }
        if owner.origin.isRolledBack(except: target.outcome) { return false }
        return owner.id == id || (owner.id.isProvisional && !id.isProvisional && !target.hasInserted(owner.id))
    }

    @usableFromInline
    mutating func writeTarget<Record: EntityRecord>(_ property: Int, _ record: inout Record) throws {
        guard writesRelationship(property) else { return }
        try setTarget(property, try saveNested(&record, property), of: Record.self)
    }

    mutating func saveNested<Record: EntityRecord>(_ record: inout Record, _ property: Int) throws -> ObjectID {
        try save(&record, arrival: relationship(property)?.relationship.inverse)
    }

    /// Links the current object to one object, or to no object. If there is no new target, a link to an object that reading omits stays.
    mutating func setTarget<Target>(_ property: Int, _ wanted: ObjectID?, of type: Target.Type) throws {
        guard let (id, relationship) = relationship(property) else { return }
        if isClearing { return }
        let before = target.members(relationship, of: id).first
        if before == wanted { return }
        if let wanted { return try target.link(id, relationship, wanted) }
        if let before, !isOmitted(before, type) { try target.unlink(id, relationship, before) }
    }

    /// Whether an object is omitted from the values of a type: the object contains the current record, or contained it when the record was
    /// read or saved, and the type is a record.
    private func isOmitted<Member>(_ id: ObjectID, _ type: Member.Type) -> Bool {
        (path.contains(id) || current.containers.contains(id)) && type is any EntityRecord.Type
    }

    /// Sets the members of a to-many relationship. Members that reading omits stay at their positions.
    ///
    /// - Parameter collect: Appends the wanted members, in order. It is called only if the relationship is written.
    mutating func writeMembers<Member>(
        _ property: Int, of type: Member.Type, _ collect: (inout RecordWriter, inout [ObjectID]) throws -> Void
    ) throws {
        guard let (id, relationship) = relationship(property) else { return }
        var wanted: [ObjectID] = []
        try collect(&self, &wanted)
        if isClearing { return }
        let present = target.members(relationship, of: id)
        var kept: Set<ObjectID> = []
        wanted.removeAll { !kept.insert($0).inserted }
        for (index, member) in present.enumerated() where isOmitted(member, type) && kept.insert(member).inserted {
            wanted.insert(member, at: min(index, wanted.count))
        }
        if present == wanted { return }
        let known = Set(present)
        for member in present where !kept.contains(member) { try target.unlink(id, relationship, member) }
        guard relationship.isOrdered else {
            for member in wanted where !known.contains(member) { try target.link(id, relationship, member) }
            return
        }
        for step in MemberOrder.steps(from: present.filter(kept.contains), to: wanted) {
            if step.isNew {
                try target.link(id, relationship, step.member, at: step.index)
            } else {
                try target.move(id, relationship, step.member, to: step.index)
            }
        }
    }
}
