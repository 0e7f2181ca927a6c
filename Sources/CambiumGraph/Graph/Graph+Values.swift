package import CambiumModel

/// An attribute, resolved once by a caller that reads the values of many objects: the position of its column, and the form of its values. A
/// field can be used for any graph, and is fastest for graphs with the same schema.
package struct Field: Sendable {
    /// The table of the objects that have the attribute; -1 if the graph for which the field was resolved has no such attribute.
    let table: Int
    let slot: Int
    let kind: ColumnKind
    package let type: AttributeType
    /// The root entity of the hierarchy that has the attribute.
    let root: EntityNumber
    /// The number of the attribute, which is unique in its hierarchy.
    let property: PropertyNumber
    /// The name of the attribute. In another schema, an attribute with the same number but another name is a different attribute.
    let name: SchemaName
    /// The number of the layout to which the table, the slot and the type belong.
    let layout: UInt64

    /// Whether the object at a place may have the attribute. If the object's entity lacks the attribute, the value is null.
    @inline(__always) func isIn(_ place: ObjectPlace) -> Bool { table == Int(place.table) }
}

extension Graph {
    /// Resolves an attribute for reading. If the graph does not have the attribute, because the attribute belongs to an earlier or later
    /// schema, the value is null for every object.
    package func field(_ attribute: Attribute) -> Field {
        layout.field(attribute)
    }

    /// Returns the value of an attribute, or `nil` if the object is not in this graph. The value is null if the object's entity does not
    /// have the attribute.
    package func value(of attribute: Attribute, of id: ObjectID) -> Value? {
        place(of: id).map { value(of: field(attribute), at: $0) }
    }

    /// Returns the value of a resolved attribute. The value is null if the object's entity does not have the attribute.
    ///
    /// Complexity: O(1), O(bytes) for text and data.
    package func value(of field: Field, at place: ObjectPlace) -> Value { reader.value(of: layout.current(field), at: place) }

    /// Calls `body` with a stored value. Only values of more than 255 bytes are copied.
    @inline(__always)
    package func withCell<R>(_ field: Field, _ place: ObjectPlace, _ body: (Cell) -> R) -> R {
        let field = layout.current(field)
        if !field.isIn(place) { return body(.null) }
        return reader.rows(field.table).withCell(place.row, field.slot, field.kind, body)
    }

    // MARK: Identity

    /// Returns the place (the position in this graph) of the object with these identity values, in the order of `entity.identityValues`.
    ///
    /// Returns `nil` if there is no such object, or if a value is not of its attribute's type. Complexity: O(values) expected.
    package func place(_ entity: Entity, identity values: [Value]) -> ObjectPlace? {
        reader.find(entity, identity: values, layout)
    }

    /// Returns the place of the object whose only identity attribute has this value, as `place(_:identity:)` does with a list of one value.
    package func place(_ entity: Entity, identity value: Value) -> ObjectPlace? { reader.find(entity, identity: value, layout) }

    /// Returns the id of the object with these identity values, in the order of `entity.identityValues`.
    ///
    /// Returns `nil` if there is no such object, or if a value is not of its attribute's type. Complexity: O(values) expected.
    package func find(_ entity: Entity, identity values: [Value]) -> ObjectID? {
        place(entity, identity: values).map(id(of:))
    }

    /// Returns the id of the object whose identity has this key: a part for each component, in the order of `entity.identity`. Returns
    /// `nil` if there is no such object.
    package func find(_ entity: Entity, key: [IdentityKeyPart]) -> ObjectID? { reader.find(entity, key: key, layout).map(id(of:)) }

    /// Returns the place of the object whose only identity attribute has this text, or `nil` if there is no such object.
    package func place(_ entity: Entity, identity text: String) -> ObjectPlace? {
        reader.find(entity, identity: text, layout)
    }
}

extension GraphLayout {
    func field(_ attribute: Attribute) -> Field { field(attribute.root, attribute.number, attribute.type, attribute.schemaName) }

    /// Returns the field of a property. If the layout does not have the property, the field has no table.
    ///
    /// - Parameter type: The type of the field if the layout does not have the attribute.
    private func field(_ root: EntityNumber, _ property: PropertyNumber, _ type: AttributeType, _ name: SchemaName) -> Field {
        guard let table = table(of: root), table.hasSlot(for: property, name) else {
            return Field(
                table: -1, slot: -1, kind: .fixed(width: 8), type: type, root: root, property: property, name: name, layout: number)
        }
        let slot = table.slot(of: property)
        return Field(
            table: table.index, slot: slot, kind: table.columns[slot], type: table.type(of: property), root: root, property: property,
            name: name, layout: number)
    }

    /// Returns the field for this layout: the same field if it was resolved for this layout, otherwise a new one.
    @inline(__always) func current(_ field: Field) -> Field {
        field.layout == number ? field : self.field(field.root, field.property, field.type, field.name)
    }
}

extension Reader {
    func find(_ entity: Entity, identity text: String, _ layout: GraphLayout) -> ObjectPlace? {
        // A decimal, a URI, JSON and data are stored as bytes, too. Without this test, a text would find any of them with the same bytes.
        guard let entity = layout.own(entity), entity.identityType == .string, let index = layout.identityIndex(entity) else { return nil }
        let row = text.utf8Span.span.bytes.withUnsafeBytes { self.row(index.table, index.layout, key: .bytes($0)) }
        return place(row, index.table, entity, layout)
    }

    func value(of field: Field, at place: ObjectPlace) -> Value {
        if !field.isIn(place) { return .null }
        return rows(field.table).withCell(place.row, field.slot, field.kind) { cell in
            let form: StoredForm
            switch cell.kind {
            case .null: return .null
            case .fixed: form = .fixed(cell.low, cell.high)
            case .bytes: form = .bytes([UInt8](cell.bytes))
            }
            guard let value = Value(stored: form, type: field.type) else { refuse(field, place) }
            if field.type == .json, !chunks.isProven, !Self.isJSON(form) { refuse(field, place) }
            return value
        }
    }

    private static func isJSON(_ form: StoredForm) -> Bool {
        var check = StoredValueCheck(.json)
        return check.flaw(form) == nil
    }

    /// Ends the process because a page contains bytes that are not a value of the attribute.
    private func refuse(_ field: Field, _ place: ObjectPlace) -> Never {
        chunks.refuse("row \(place.row) of table \(place.table) has no valid \(field.type.rawValue) in column \(field.slot)")
    }
}
