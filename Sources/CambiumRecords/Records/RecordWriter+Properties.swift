/// Writing the properties of records. The values of attributes are collected, and relationships are written immediately.
extension RecordWriter {
    // MARK: Properties

    /// Writes the property that has the given name.
    ///
    /// Throws `.unknownName` if the record's schema does not have the property. Throws `.ruleViolated` for a value that the schema does not
    /// allow, and `.invalidInput` for an object that the relationship cannot hold.
    @inlinable
    public mutating func write<V: _PropertyValue>(_ name: String, _ value: inout V) throws {
        try value._write(index(of: name), to: &self)
    }

    /// Writes the property that has the given index in the record's schema. Throws the same errors as the `write(_:_:)` that takes a name,
    /// except `.unknownName`. An index that the schema does not have ends the process.
    @inlinable
    public mutating func write<V: _PropertyValue>(_ property: Int, _ value: inout V) throws {
        try value._write(property, to: &self)
    }

    /// Writes a property that is declared with `let`. Throws `.invalidInput` if the property contains a new record, because a constant
    /// cannot store the record's ref.
    public mutating func write<V: _PropertyValue>(_ property: Int, constant value: V) throws {
        var copy = value
        let count = insertedCount
        try copy._write(property, to: &self)
        guard insertedCount == count || !wantsRelationships else {
            let name = current.binding.property(property).name
            throw CambiumError(
                .invalidInput,
                "'\(current.binding.entity.name).\(name)' is a constant that contains an unsaved record, so each save would insert "
                    + "the record again. Declare the property with 'var', or save the record first.")
        }
    }

    /// Writes a property that is declared with `let`, by its name. Throws the same errors as the `write(_:constant:)` that takes an index.
    public mutating func write<V: _PropertyValue>(_ name: String, constant value: V) throws {
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
        if let found = current.binding.index(of: name, from: &current.next) { return found }
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
        guard case .attribute(let attribute) = current.binding.property(property) else { return }
        if attribute.isDerived { derivedValues.append((attribute, value)) } else { values.append((attribute, value)) }
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
            derivedValues.removeAll(keepingCapacity: true)
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

    /// Removes from `values` each value that the object already has, and each value with which the record was read.
    ///
    /// Throws `.conflict` if values that the record changes have been changed since it was read, unless the policy resolves the conflicts.
    /// Changes of this save do not count.
    mutating func omitValues(of id: ObjectID) throws {
        var kept: [(Attribute, Value)] = []
        var conflicts: [EditConflict] = []
        for (attribute, value) in values {
            let (place, stored) = (EditPlace(id, attribute.number), target.value(attribute, of: id))
            if isStored(value, as: stored, attribute) { continue }
            let read = current.before?.value(attribute, present: stored)
            let theirs = formerValues[place] ?? stored
            if let read, isStored(value, as: read, attribute) {
                // If the edit has the value from before the last save of the record, this save was undone.
                guard let former = current.before?.formerValue(attribute), former != read, former == theirs else {
                    current.kept.values[attribute.number] = value
                    continue
                }
            }
            if let read, theirs != read {
                let conflict = conflict(id, .attribute(attribute), .value(read), .value(value), .value(theirs))
                switch policy.winner(of: conflict) {
                case .mine: break
                case .theirs:
                    current.kept.values[attribute.number] = value
                    continue
                case nil:
                    conflicts.append(conflict)
                    continue
                }
            }
            if formerValues[place] == nil { formerValues[place] = stored }
            kept.append((attribute, value))
        }
        if !conflicts.isEmpty { throw EditConflicts(conflicts: conflicts).errorOfSave }
        values = kept
    }

    /// Records the values that the record has for derived attributes, which no save writes. So the next save finds out whether the program
    /// has changed one. In a new record, such a value has no meaning.
    ///
    /// Throws `.invalidInput` if the program has changed such a value since the record was read or saved. The new value of the store is
    /// allowed.
    mutating func keepDerivedValues(of id: ObjectID?) throws {
        for (attribute, value) in derivedValues {
            if let id, let read = current.before?.value(attribute, present: .null), !isDerived(value, as: read, attribute),
                !isDerived(value, as: target.value(attribute, of: id), attribute)
            {
                throw attribute.refusal(in: current.binding.entity)
            }
            current.kept.values[attribute.number] = value
        }
    }

    /// Whether a derived value equals the value of a record, whose type may be a wider one.
    private func isDerived(_ value: Value, as derived: Value, _ attribute: Attribute) -> Bool {
        isStored(value, as: derived, attribute)
            || AttributeType.allCases.contains { attribute.type.equivalent(of: derived, to: $0) == value }
    }

    /// Whether a stored value equals the value of a record. The texts may differ: in stored JSON, the keys may have another order, and
    /// there may be more keys.
    private func isStored(_ value: Value, as stored: Value, _ attribute: Attribute) -> Bool {
        if stored == value { return true }
        guard !stored.isNull, let form = forms.first(where: { $0.attribute === attribute })?.form else { return false }
        // A stored text that the type cannot read counts as a different value.
        return (try? form(stored)) == value
    }

    /// Returns the object whose identity is among `values` and the owners of the record; `nil` if there is no such object, or if the record
    /// lacks a part of the identity.
    borrowing func identified(_ binding: RecordBinding) -> ObjectID? {
        if binding.entity.identity.isEmpty { return nil }
        var key: [IdentityKeyPart] = []
        for component in binding.entity.identity {
            switch component {
            case .attribute(let attribute):
                guard let value = values.first(where: { $0.0 === attribute })?.1, !value.isNull else { return nil }
                key.append(.value(value))
            case .relationship(let relationship):
                let isContainer = relationship.number == current.arrival
                guard let owner = isContainer ? path.last : current.owners[relationship.number] else { return nil }
                key.append(.object(owner))
            }
        }
        return target.find(binding.entity, key: key)
    }

    /// Records the object to which a relationship of the identity leads, so that the save finds the object of the record. Does nothing for
    /// other relationships, and if the call to `write(to:)` is not for the attributes.
    mutating func trackOwner<Record: EntityRecord>(_ property: Int, _ ref: Ref<Record>) throws {
        guard wantsAttributes, let relationship = current.binding.owner(property) else { return }
        current.owners[relationship.number] = try objectID(of: ref)
    }

    /// Does the same for a relationship that contains a record. The record is saved later, so an owner that does not exist yet is not
    /// recorded: the object of the current record cannot exist either.
    mutating func trackOwner<Record: EntityRecord>(_ property: Int, _ record: Record) throws {
        guard wantsAttributes, let relationship = current.binding.owner(property) else { return }
        current.owners[relationship.number] = try located(record, arrival: relationship.inverse)
    }

    /// Returns the object of a record, without saving anything; `nil` if there is no such object.
    private mutating func located<Record: EntityRecord>(_ record: Record, arrival: PropertyNumber?) throws -> ObjectID? {
        if let ref = record.ref, let id = try objectID(of: ref) { return id }
        var copy = record
        let outer = (current, values, derivedValues, forms)
        defer { (current, values, derivedValues, forms) = outer }
        (values, derivedValues, forms) = ([], [], [])
        current = Frame(binding: try bound(Record.self), arrival: arrival)
        try copy.write(to: &self)
        return identified(current.binding)
    }
}
