public import CambiumModel

/// An attribute resolved for reading: where its column is and how its values are stored. Made once, used for any number of
/// objects of any graph with the same schema.
public struct Field: Sendable {
    let table: Int
    let slot: Int
    let kind: ColumnKind
    public let type: AttributeType
}

extension Graph {
    /// Resolves an attribute for reading.
    public func field(_ attribute: Attribute) -> Field {
        layout.field(attribute)
    }

    /// The value of an attribute; nil where the object is not in this graph. An attribute that the object's entity does not
    /// have is null.
    public func value(of attribute: Attribute, of id: ObjectID) -> Value? {
        place(of: id).map { value(of: field(attribute), at: $0) }
    }

    /// The value of a resolved attribute. Complexity: O(1), O(bytes) for text and data.
    public func value(of field: Field, at place: ObjectPlace) -> Value { reader.value(of: field, at: place) }

    /// Calls `body` with a stored value, without copying it.
    @inline(__always)
    package func withCell<R>(_ field: Field, _ place: ObjectPlace, _ body: (Cell) -> R) -> R {
        reader.rows(field.table).withCell(place.row, field.slot, field.kind, body)
    }

    // MARK: Identity

    /// The object with these identity values, in the order of `entity.identity`; nil where there is none. A value of another
    /// type than the attribute's finds nothing. Complexity: O(1) expected.
    public func find(_ entity: Entity, identity values: [Value]) -> ObjectPlace? {
        reader.find(entity, identity: values, layout)
    }

    /// The object whose one identity attribute has this text.
    public func find(_ entity: Entity, identity text: String) -> ObjectPlace? {
        reader.find(entity, identity: text, layout)
    }
}

extension GraphLayout {
    func field(_ attribute: Attribute) -> Field {
        let table = tables[tableIndex(ofKnown: attribute.root)]
        let slot = table.slot(of: attribute.number)
        return Field(table: table.index, slot: slot, kind: table.columns[slot], type: attribute.type)
    }
}

extension Reader {
    func find(_ entity: Entity, identity text: String, _ layout: GraphLayout) -> ObjectPlace? {
        guard let index = layout.identityIndex(entity), index.layout.kinds.count == 1, index.layout.kinds[0] == .string else { return nil }
        let row = text.utf8Span.span.bytes.withUnsafeBytes { self.row(index.table, index.layout, key: .bytes($0)) }
        return place(row, index.table, entity, layout)
    }

    func value(of field: Field, at place: ObjectPlace) -> Value {
        rows(field.table).withCell(place.row, field.slot, field.kind) { cell in
            switch cell.kind {
            case .null: .null
            case .fixed: Value(stored: .fixed(cell.low, cell.high), type: field.type) ?? .null
            case .bytes: Value(stored: .bytes([UInt8](cell.bytes)), type: field.type) ?? .null
            }
        }
    }

    func find(_ entity: Entity, identity values: [Value], _ layout: GraphLayout) -> ObjectPlace? {
        guard values.count == entity.identity.count, !values.isEmpty, !values.contains(.null) else { return nil }
        var forms: [StoredForm] = []
        for (value, attribute) in zip(values, entity.identity) {
            guard let form = StoredForm(value, type: attribute.type) else { return nil }
            forms.append(form)
        }
        return find(entity, forms[...], [], layout)
    }

    private func find(
        _ entity: Entity, _ forms: ArraySlice<StoredForm>, _ cells: [Cell], _ layout: GraphLayout
    ) -> ObjectPlace? {
        guard let form = forms.first else {
            guard let index = layout.identityIndex(entity) else { return nil }
            return place(row(index.table, index.layout, keys: cells), index.table, entity, layout)
        }
        switch form {
        case .fixed(let low, let high): return find(entity, forms.dropFirst(), cells + [.fixed(low, high)], layout)
        case .bytes(let bytes):
            return bytes.withUnsafeBytes { find(entity, forms.dropFirst(), cells + [.bytes($0)], layout) }
        }
    }

    /// The place of a row found by identity, if it is of the entity that was asked for.
    func place(_ row: UInt32, _ table: Int, _ entity: Entity, _ layout: GraphLayout) -> ObjectPlace? {
        guard row != noRow else { return nil }
        let tableLayout = layout.tables[table]
        guard tableLayout.entities.count == 1 || entity.family.contains(rows(table).entity(row, tableLayout)) else { return nil }
        return ObjectPlace(table: table, row: row)
    }
}
