import CambiumModel

extension ConditionBinder {
    /// Returns the condition node for a comparison of an object with ids.
    func bind(_ entity: Entity, _ test: ConstantTest) throws(QueryMistake) -> ConditionNode {
        guard [.equal, .notEqual, .isIn].contains(test.relation) else {
            throw QueryMistake("'\(test.relation.text)' cannot compare objects. Use ==, !=, in or a path to an attribute.", at: test.offset)
        }
        // An object is never null. The caller handles a path that leads to no object.
        if test.isNull { return ConstantNode(test.relation == .notEqual) }
        var rows: [UInt32] = []
        for literal in test.present {
            if let row = try row(literal, entity, at: test.offset) { rows.append(row) }
        }
        let node = RowSetNode(rows)
        return test.relation == .notEqual ? NotNode(node) : node
    }

    /// Returns the row of an object in the table of an entity, or `nil` if there is no such object.
    private func row(_ literal: QueryLiteral, _ entity: Entity, at offset: TextOffset) throws(QueryMistake) -> UInt32? {
        let wanted: (id: ObjectID, family: Set<EntityNumber>?)
        switch literal {
        case .id(let id): wanted = (id, nil)
        case .object(let name, let serial):
            guard let named = schema.entity(name) else { throw unknown(name, at: offset) }
            if serial > ObjectID.serialMax { return nil }
            wanted = (ObjectID(root: named.root, serial: serial), named.family)
        case .string(let text), .text(let text), .value(.string(let text)):
            guard let (id, named) = schema.id(text) else {
                let found = self.text(of: literal)
                throw QueryMistake("\(found) is not the id of an object. Write an id such as \(entity.name)/1.", at: offset)
            }
            wanted = (id, named.family)
        default:
            let found = self.text(of: literal)
            throw QueryMistake("An object is compared with an id such as \(entity.name)/1, not with \(found).", at: offset)
        }
        guard let place = context.reader.place(of: wanted.id, layout), Int(place.table) == layout.tableIndex(ofKnown: entity.root) else {
            return nil
        }
        let table = layout.tables[Int(place.table)]
        let actual = context.reader.rows(table.index).entity(place.row, table)
        return wanted.family?.contains(actual) ?? true ? place.row : nil
    }

    /// Returns whether the graph has an object with this id, and the object belongs to an entity or to one of its sub-entities.
    func contains(_ id: ObjectID, of entity: Entity) -> Bool {
        guard let place = context.reader.place(of: id, layout) else { return false }
        let table = layout.tables[Int(place.table)]
        return entity.family.contains(context.reader.rows(table.index).entity(place.row, table))
    }

    private func unknown(_ name: String, at offset: TextOffset) -> QueryMistake {
        let remedy = schema.newName(ofEntity: name) ?? "Write the name of an entity of the schema."
        return QueryMistake("The schema has no entity '\(name.excerpt)'. \(remedy)", at: offset)
    }

    /// Returns the condition node that compares the name of an object's entity with the constants of `test`.
    func bindName(_ entity: Entity, _ test: ConstantTest) throws(QueryMistake) -> ConditionNode {
        if test.isNull { return ConstantNode(test.relation == .notEqual) }
        try checkNames(test.present, test.relation, test.folding, at: test.offset)
        var texts: [String] = []
        for literal in test.present {
            guard let text = literal.stringText else {
                let found = self.text(of: literal)
                throw QueryMistake(
                    "_entity is compared with the name of an entity, not with \(found). Write the name as a string.", at: test.offset)
            }
            texts.append(text)
        }
        let names = try textTest(test, texts)
        let matching = schema.entities.filter { each in
            each.root == entity.root && Array(each.name.utf8).withUnsafeBytes { names.holds($0) }
        }
        let table = layout.tables[layout.tableIndex(ofKnown: entity.root)]
        let numbers = Set(matching.map(\.number))
        let node: ConditionNode
        if let slot = table.entitySlot {
            node = EntityNode(slot, numbers)
        } else {
            node = ConstantNode(numbers.contains(table.entities[0]))
        }
        return test.relation == .notEqual ? NotNode(node) : node
    }

    /// Throws if names of entities are compared with a text that is not the name of an entity of the schema.
    func checkNames(
        _ literals: [QueryLiteral], _ relation: Comparison.Relation, _ folding: Folding, at offset: TextOffset
    ) throws(QueryMistake) {
        guard folding.isEmpty, [.equal, .notEqual, .isIn].contains(relation) else { return }
        var sourceConstants: Set<QueryLiteral>?
        for literal in literals {
            guard let text = literal.stringText, schema.entity(text) == nil else { continue }
            let constants = sourceConstants ?? self.sourceConstants
            if !constants.contains(literal) { throw unknown(text, at: offset) }
            sourceConstants = constants
        }
    }

    /// The values of the object to which `$source` refers. A text among these values is data of the store, so it is not a mistake if no
    /// entity has this name.
    private var sourceConstants: Set<QueryLiteral> {
        var constants: Set<QueryLiteral> = []
        for (name, argument) in arguments where QueryDefinition.sourcePath(name) != nil {
            if case .list(let elements) = argument.form {
                constants.formUnion(elements.literals([:]) ?? [])
            } else if case .literal(let literal) = argument.form {
                constants.insert(literal)
            }
        }
        return constants
    }
}
