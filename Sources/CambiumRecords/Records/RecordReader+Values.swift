/// Reading the values of attributes, and the errors for objects and values that a record cannot hold.
extension RecordReader {
    // MARK: Values of attributes
    //
    // These methods are `mutating` only for speed. Otherwise, the compiled code would move the whole reader in memory before each call.

    /// Whether an optional property is `nil`. It is `nil` if the value is null, or if the relationship leads to no object. A property that
    /// is a record is also `nil` if the relationship leads to the current record, or to a record that contains the current one.
    @usableFromInline
    mutating func isNil<Wrapped>(_ property: Int, _ type: Wrapped.Type) -> Bool {
        if let isNull = isNull(property) { return isNull }
        guard let place = target(property) else { return !isToMany(property) }
        return contains(place) && type is any EntityRecord.Type
    }

    /// Whether the value of an attribute is null. Returns `nil` for a relationship.
    mutating func isNull(_ property: Int) -> Bool? {
        if let edited, case .attribute(let attribute) = binding.property(property) { return edited.value(attribute, at: place).isNull }
        guard let field = binding.field(property) else { return nil }
        return cursor.isNull(field)
    }

    private func isToMany(_ property: Int) -> Bool {
        if case .relationship(let relationship, _) = binding.property(property) { relationship.isToMany } else { false }
    }

    mutating func value(_ property: Int) throws -> Value {
        guard case .attribute(let attribute) = binding.property(property) else { throw missing(property) }
        let value = edited?.value(attribute, at: place) ?? cursor.value(attribute, in: graph)
        if value.isNull { throw missing(property) }
        return value
    }

    // In an edit, the following methods read a `Value`, because no column contains the changed values.

    mutating func int(_ property: Int) throws -> Int64 {
        if edited != nil {
            if case .int(let value) = try value(property) { return value }
        } else if let field = binding.field(property), let value = cursor.int(field) {
            return value
        }
        throw missing(property)
    }

    mutating func double(_ property: Int) throws -> Double {
        if edited != nil {
            if case .double(let value) = try value(property) { return value }
        } else if let field = binding.field(property), let value = cursor.double(field) {
            return value
        }
        throw missing(property)
    }

    mutating func bool(_ property: Int) throws -> Bool {
        if edited != nil {
            if case .bool(let value) = try value(property) { return value }
        } else if let field = binding.field(property), let value = cursor.bool(field) {
            return value
        }
        throw missing(property)
    }

    mutating func string(_ property: Int) throws -> String {
        if edited != nil {
            if case .string(let value) = try value(property) { return value }
        } else if let field = binding.field(property), let value = cursor.string(field) {
            return value
        }
        throw missing(property)
    }

    // MARK: Errors

    /// Throws `.unexpectedValue` if the object is not of the record's entity.
    func checkEntity() throws {
        let number = edited == nil ? graph.entityNumber(of: place) : entity?.number
        guard let number, binding.entity.number == number || binding.entity.family.contains(number) else {
            throw CambiumError(
                .unexpectedValue,
                "\(name ?? "The object") is not of the record's entity '\(binding.entity.name)'. "
                    + "Load the object as a record of the object's own entity.")
        }
    }

    /// The entity of the object that is being read; `nil` if the edit does not have the object.
    private var entity: Entity? { edited.map { $0.edit.entity(of: $0.id(of: place)) } ?? graph.entity(of: place) }

    /// The name of the object that is being read, such as `Note/1`.
    var name: String? { edited.map { $0.edit.name(of: $0.id(of: place)) } ?? graph.name(of: graph.id(of: place)) }

    /// The name of the object that is being read, followed by the name of a property, such as `Note/1.title`.
    private func place(of property: Int) -> String {
        "\(name ?? binding.entity.name).\(binding.property(property).name)"
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
