/// Conditions on moments with an older schema, in which elements may have other names.
extension Condition {
    /// Returns the condition with the names that the properties have in an older or a newer schema.
    ///
    /// A name means the property that has it in `named`. It stays as it is if no property has it there, or if `schema` lacks the property.
    /// Then the condition fits `schema` only if another property has the name. Complexity: O(names).
    ///
    /// - Parameters:
    ///   - entity: The entity in `schema` whose objects the condition is about.
    ///   - schema: The schema in which the condition is used.
    ///   - named: The schema whose names the condition has.
    package func renamed(for entity: Entity, in schema: Schema, from named: Schema) -> Condition {
        NameTranslation(schema: schema, named: named).condition(self, entity)
    }
}

/// A translation of names from one schema of a store into another one. Numbers of entities and properties are the same in both.
private struct NameTranslation {
    let schema: Schema
    let named: Schema

    /// The depth of a condition is limited, so the depth of this recursion is limited, too.
    func condition(_ condition: Condition, _ entity: Entity) -> Condition {
        switch condition.form {
        case .constant: return condition
        case .and(let parts): return .and(parts.map { self.condition($0, entity) })
        case .or(let parts): return .or(parts.map { self.condition($0, entity) })
        case .not(let part): return .not(self.condition(part, entity))
        case .related(let quantifier, let path, let part):
            let (path, end) = self.path(path, entity)
            return .related(quantifier, path, end.map { self.condition(part, $0) } ?? part)
        case .comparison(var comparison):
            comparison.left = operand(comparison.left, entity)
            comparison.right = operand(comparison.right, entity)
            return .comparison(comparison)
        }
    }

    private func operand(_ operand: Operand, _ entity: Entity) -> Operand {
        var operand = operand
        switch operand.form {
        case .path(let path): operand.form = .path(self.path(path, entity).path)
        case .aggregate(var aggregate):
            let end: Entity?
            (aggregate.path, end) = path(aggregate.path, entity)
            if let value = aggregate.value, let end { aggregate.value = path(value, end).path }
            operand.form = .aggregate(aggregate)
        case .list(let elements): operand.form = .list(elements.map { self.operand($0, entity) })
        case .literal(.object(let name, let serial)):
            let present = named.entity(name).flatMap { schema.entity($0.number) }
            operand.form = .literal(.object(entity: present?.name ?? name, serial: serial))
        case .literal, .parameter: break
        }
        return operand
    }

    /// Returns the path, and the entity of the objects to which it leads; `nil` if it leads to values or to nothing.
    private func path(_ path: QueryPath, _ entity: Entity) -> (path: QueryPath, end: Entity?) {
        var (path, end): (QueryPath, Entity?) = (path, entity)
        for index in path.names.indices {
            guard let entity = end else { break }
            let name = path.names[index]
            if name == "_id" { break }
            let source = named.entity(entity.number)
            if let number = source?.attribute(name)?.number, let attribute = entity.attribute(number) {
                path.names[index] = attribute.name
            } else if let number = source?.relationship(name)?.number, let relationship = entity.relationship(number) {
                path.names[index] = relationship.name
            }
            end = entity.relationship(path.names[index]).flatMap { schema.entity($0.destination) }
        }
        return (path, end)
    }
}
