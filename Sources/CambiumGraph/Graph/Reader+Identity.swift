import CambiumModel

/// Finding objects by their identities.
extension Reader {
    func find(_ entity: Entity, identity values: [Value], _ layout: GraphLayout) -> ObjectPlace? {
        if values.count == 1, entity.identityType != nil { return find(entity, identity: values[0], layout) }
        guard let entity = layout.own(entity), values.count == entity.identityValues.count, !values.isEmpty else { return nil }
        return find(entity, values[...], layout)
    }

    /// Finds an object by an identity that consists of one attribute.
    func find(_ entity: Entity, identity value: Value, _ layout: GraphLayout) -> ObjectPlace? {
        guard let entity = layout.own(entity) else { return nil }
        guard let type = entity.identityType else { return find(entity, identity: [value], layout) }
        if case .string(let text) = value { return find(entity, identity: text, layout) }
        // Null has no stored form, so no object is found by null.
        guard let index = layout.identityIndex(entity), let form = StoredForm(value, type: type) else { return nil }
        let row =
            switch form {
            case .fixed(let low, let high): self.row(index.table, index.layout, key: .fixed(low, high))
            case .bytes(let bytes): bytes.withUnsafeBytes { self.row(index.table, index.layout, key: .bytes($0)) }
            }
        return place(row, index.table, entity, layout)
    }

    /// Finds an object by the values that state its identity. The identities of a schema do not depend on themselves, so the
    /// recursion ends.
    private func find(_ entity: Entity, _ values: ArraySlice<Value>, _ layout: GraphLayout) -> ObjectPlace? {
        let key = layout.schema.identityKey(entity, values) { destination, values in
            target(destination, values, layout).map { id($0, layout) }
        }
        return key.flatMap { find(entity, key: $0, layout) }
    }

    private func target(_ destination: Entity, _ values: ArraySlice<Value>, _ layout: GraphLayout) -> ObjectPlace? {
        if !destination.identity.isEmpty { return find(destination, values, layout) }
        guard case .string(let text)? = values.first, let (id, _) = layout.schema.id(text), id.root == destination.root,
            let table = layout.table(of: id.root), let row = row(table.index, serial: id.serial)
        else { return nil }
        return ObjectPlace(table: table.index, row: row)
    }

    /// Finds an object by the key of its identity: a part for each component.
    func find(_ entity: Entity, key: [IdentityKeyPart], _ layout: GraphLayout) -> ObjectPlace? {
        guard let entity = layout.own(entity), !key.isEmpty, key.count == entity.identity.count, let index = layout.identityIndex(entity)
        else { return nil }
        var forms: [StoredForm] = []
        for (part, component) in zip(key, entity.identity) {
            switch (part, component) {
            case (.value(let value), .attribute(let attribute)):
                guard let form = StoredForm(value, type: attribute.type) else { return nil }
                forms.append(form)
            case (.object(let id), .relationship(let relationship)) where id.root == relationship.destinationRoot:
                forms.append(.fixed(id.serial, 0))
            default: return nil
            }
        }
        return place(row(index.table, index.layout, forms: forms), index.table, entity, layout)
    }

    /// Returns the row with a key that consists of several values, or `noRow` if there is no such row. The form of a relationship is the
    /// serial of its target.
    func row(_ table: Int, _ index: IndexLayout, forms: [StoredForm]) -> UInt32 { row(table, index, forms[...], []) }

    private func row(_ table: Int, _ index: IndexLayout, _ forms: ArraySlice<StoredForm>, _ cells: [Cell]) -> UInt32 {
        guard let form = forms.first else { return row(table, index, keys: cells) }
        switch form {
        case .fixed(let low, let high): return row(table, index, forms.dropFirst(), cells + [.fixed(low, high)])
        case .bytes(let bytes): return bytes.withUnsafeBytes { row(table, index, forms.dropFirst(), cells + [.bytes($0)]) }
        }
    }

    /// Returns the place of a row that was found by identity. Returns `nil` for `noRow`, and if the entity of the row is neither `entity`
    /// nor one of its sub-entities.
    func place(_ row: UInt32, _ table: Int, _ entity: Entity, _ layout: GraphLayout) -> ObjectPlace? {
        guard row != noRow else { return nil }
        let tableLayout = layout.tables[table]
        guard tableLayout.entities.count == 1 || entity.family.contains(rows(table).entity(row, tableLayout)) else { return nil }
        return ObjectPlace(table: table, row: row)
    }

    // MARK: The identity of an object

    /// Returns the values that state the identity of an object, in the order of `entity.identityValues`. A value is null if its attribute
    /// is null, or if there is no object on the way to it.
    func identityValues(of place: ObjectPlace, _ entity: Entity, _ layout: GraphLayout) -> [Value] {
        entity.identityValues.map { wanted in
            var place = place
            for relationship in wanted.path {
                guard let next = target(layout.handle(relationship), of: place) else { return .null }
                place = next
            }
            if let attribute = wanted.attribute { return value(of: layout.field(attribute), at: place) }
            let id = id(place, layout)
            let table = layout.tables[Int(place.table)]
            return layout.schema.entity(rows(Int(place.table)).entity(place.row, table)).map {
                .string(layout.schema.text(of: id, entity: $0))
            } ?? .null
        }
    }
}
