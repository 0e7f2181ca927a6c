/// Writing the properties of records. The values of attributes are collected, and relationships are written immediately.
extension RecordWriter {
    // MARK: Properties

    /// Writes the property that has the given name.
    ///
    /// Throws `.unknownName` if the record's schema does not have the property. Throws `.ruleViolated` for a value that the schema does not
    /// allow, and `.invalidInput` for an object that the relationship cannot hold.
    @inlinable
    public mutating func write<V: PropertyValue>(_ name: String, _ value: inout V) throws {
        try value.write(property: index(of: name), to: &self)
    }

    /// Writes the property that has the given index in the record's schema. Throws the same errors as the `write(_:_:)` that takes a name,
    /// except `.unknownName`. An index that the schema does not have ends the process.
    @inlinable
    public mutating func write<V: PropertyValue>(_ property: Int, _ value: inout V) throws {
        try value.write(property: property, to: &self)
    }

    /// Writes a property that is declared with `let`. Throws `.invalidInput` if the property contains a new record, because a constant
    /// cannot store the record's ref.
    public mutating func write<V: PropertyValue>(_ property: Int, constant value: V) throws {
        var copy = value
        let count = insertedCount
        try copy.write(property: property, to: &self)
        guard insertedCount == count || !wantsRelationships else {
            let name = current.binding.property(property).name
            throw CambiumError(
                .invalidInput,
                "'\(current.binding.entity.name).\(name)' is a constant that contains an unsaved record, so each save would insert "
                    + "the record again. Declare the property with 'var', or save the record first.")
        }
    }

    /// Writes a property that is declared with `let`, by its name. Throws the same errors as the `write(_:constant:)` that takes an index.
    public mutating func write<V: PropertyValue>(_ name: String, constant value: V) throws {
        try write(index(of: name), constant: value)
    }

    /// Writes a value of any Codable type to an attribute of type `json`.
    ///
    /// Throws `.invalidInput` if the value cannot be encoded, and `.ruleViolated` if the attribute does not allow it. Complexity: O(bytes
    /// of the text).
    public mutating func writeJSON<V: Codable & Sendable>(_ property: Int, _ value: V) throws {
        guard wantsAttributes else { return }
        do {
            let text = try JSONText.encode(value)
            try put(property, text) { try JSONText.form(of: $0, like: value, text) }
        } catch let error as CambiumError { throw error } catch {
            let name = current.binding.property(property).name
            throw CambiumError(.invalidInput, "'\(current.binding.entity.name).\(name)' cannot be encoded: \(error)", underlying: error)
        }
    }

    /// Writes a value of any Codable type to the attribute that has the given name.
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

    /// Whether this call to `write(to:)` is for the attributes.
    @usableFromInline var wantsAttributes: Bool { current.id == nil }

    var wantsRelationships: Bool { current.id != nil }

    @usableFromInline
    mutating func put(_ property: Int, _ value: Value) throws {
        if case .attribute(let attribute) = current.binding.property(property), !attribute.isDerived { values.append((attribute, value)) }
    }

    /// Adds the value of an attribute for which different stored texts mean one value. If the object already has the value as another text,
    /// the object keeps that text.
    ///
    /// - Parameter form: Converts a stored text into the text that the Swift type itself would store.
    mutating func put(_ property: Int, _ value: Value, _ form: @escaping (Value) throws -> Value) throws {
        try put(property, value)
        if case .attribute(let attribute) = current.binding.property(property) { forms.append((attribute, form)) }
    }

    /// Writes `nil`. Returns the value that the property gets: a ref to the containing record if the property leads back to that record,
    /// otherwise `nil`.
    @usableFromInline
    mutating func writeNull<Wrapped>(_ property: Int, _ type: Wrapped.Type) throws -> Wrapped? {
        switch current.binding.property(property) {
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

    /// Returns the values by which new records of a set are ordered: the identity of a record, or all of its attributes if it has no
    /// identity. Call this method only while no values of attributes are being collected.
    mutating func orderingValues<Record: EntityRecord>(of record: Record) -> [Value] {
        var copy = record
        let outer = current
        defer {
            current = outer
            values.removeAll(keepingCapacity: true)
            forms.removeAll(keepingCapacity: true)
        }
        values.removeAll(keepingCapacity: true)
        do {
            current = Frame(binding: try bound(Record.self), arrival: nil)
            let properties = Record.recordSchema.properties
            let indexes = current.binding.identity.isEmpty ? Array(properties.indices) : current.binding.identity
            for index in indexes { try properties[index].write(&copy, index, &self) }
            return values.map(\.1)
        } catch {
            return []  // The save of the record reports the error.
        }
    }

    /// Removes from `values` each value that the object already has. The record may be a copy with a value from before the writer changed
    /// the attribute. Such an old value is also removed, because saving it would undo the change that another copy made.
    mutating func omitValues(of id: ObjectID) {
        var kept: [(Attribute, Value)] = []
        for (attribute, value) in values {
            let (place, stored) = (EditPlace(id, attribute.number), target.value(attribute, of: id))
            if isStored(value, as: stored, attribute) { continue }
            if let former = formerValues[place] {
                if current.isKnown, isStored(value, as: former, attribute) { continue }
            } else {
                formerValues[place] = stored
            }
            kept.append((attribute, value))
        }
        values = kept
    }

    /// Whether a stored value equals the value of a record. The texts may differ: in stored JSON, the keys may have another order, and
    /// there may be more keys.
    private func isStored(_ value: Value, as stored: Value, _ attribute: Attribute) -> Bool {
        if stored == value { return true }
        guard !stored.isNull, let form = forms.first(where: { $0.attribute === attribute })?.form else { return false }
        // A stored text that the type cannot read counts as a different value.
        return (try? form(stored)) == value
    }

    /// Returns the object whose identity is among `values`; `nil` if there is no such object, or if `values` lacks a part of the identity.
    borrowing func identified(_ binding: RecordBinding) -> ObjectID? {
        if binding.identity.isEmpty { return nil }
        var identity: [Value] = []
        for attribute in binding.entity.identity {
            guard let value = values.first(where: { $0.0 === attribute })?.1, !value.isNull else { return nil }
            identity.append(value)
        }
        return target.find(binding.entity, identity: identity)
    }
}
