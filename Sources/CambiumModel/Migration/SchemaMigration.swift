/// The migration from the schema of a store to another schema: the new schema with its numbers, and every change. See
/// Docs/Use/MIGRATION.md.
///
///     let migration = try SchemaMigration(from: store.schema, to: definition)
///     for change in migration.changes where !change.isAutomatic { print(change.subject, change.reason ?? "") }
package struct SchemaMigration: Sendable {
    package let before: Schema
    /// The new schema. Existing entities and properties keep their numbers; new entities and properties have numbers that were never used.
    package let after: Schema
    /// The changes, ordered by entity as in the new schema. The changes of an entity precede the changes of its properties. The removals
    /// are last.
    package let changes: [SchemaChange]
    /// The entities that move to another hierarchy. Empty if the migration was read from a log.
    package let moves: SchemaMoves

    /// Plans a migration. Throws one `.invalidInput` with all mistakes of the definition, each with its JSON pointer. Throws
    /// `.limitExceeded` if no number is left for a new entity or property. Complexity: O(properties that the entities of both schemas
    /// have).
    package init(from before: Schema, to definition: SchemaDefinition) throws(CambiumError) {
        self.before = before
        let matcher = try SchemaMatcher(old: before, new: try Schema(definition))
        let numbered = try SchemaNumbering(matcher).definition
        after = try Schema(resolving: numbered, .compileAtFirstUse)
        changes = SchemaComparison(matcher, numbered).changes
        moves = SchemaMoves(matcher, after)
    }

    /// Reads a change to the schema from a log. In a log, an entity or property keeps its number, even if its name changes.
    package init(logged before: Schema, _ after: Schema) {
        self.before = before
        self.after = after
        let matcher = SchemaMatcher(numbersOf: before, after)
        changes = SchemaComparison(matcher, after.definition).changes
        moves = SchemaMoves(matcher, after)
    }

    package var isEmpty: Bool { changes.isEmpty }

    /// The changes that are not automatic. They need the closure that a program passes to `Store.migrate`.
    package var replacements: [SchemaChange] { changes.filter { !$0.isAutomatic } }
}

extension SchemaDefinition {
    /// The number that the next new entity gets.
    var entityMark: Int { max(nextNumber ?? 0, entities.reduce(0) { max($0, Int($1.number ?? 0)) } + 1) }

    /// For each root entity, the number that the next new property of its hierarchy gets.
    var propertyMarks: [String: Int] {
        let roots = rootNames()
        var marks: [String: Int] = [:]
        for entity in entities {
            let root = roots[entity.name] ?? entity.name
            let numbers = entity.attributes.map(\.number) + entity.relationships.map(\.number)
            let mark = numbers.reduce(0) { max($0, Int($1 ?? 0)) } + 1
            marks[root] = max(marks[root] ?? 0, mark, entity.name == root ? entity.nextNumber ?? 0 : 0)
        }
        return marks
    }
}

/// The numbering of a new schema. New entities and properties get new numbers, and the other entities and properties keep their numbers.
struct SchemaNumbering {
    private(set) var definition: SchemaDefinition

    init(_ matcher: SchemaMatcher) throws(CambiumError) {
        let old = matcher.old.definition
        definition = matcher.new.definition
        let roots = definition.rootNames()
        var nextEntity = old.entityMark
        var nextProperties: [String: Int] = [:]
        let oldNumbers = Self.numbers(of: old)
        let oldMarks = old.propertyMarks
        for index in definition.entities.indices {
            let name = definition.entities[index].name
            let oldName = matcher.entities[name]
            let root = roots[name] ?? name
            var next = nextProperties[root] ?? matcher.oldRoot(of: root).flatMap { oldMarks[$0] } ?? 1
            // A new parent of an old root takes its number, because the ids of the objects contain it. The old root gets a new number.
            let isUnderNewRoot = name != root && oldName != nil && matcher.adopted[root] == oldName
            let oldNumber = (matcher.adopted[name] ?? (isUnderNewRoot ? nil : oldName)).flatMap { matcher.old.entity($0)?.number.rawValue }
            definition.entities[index].number = try Self.number(oldNumber, &nextEntity)
            for place in definition.entities[index].attributes.indices {
                let key = SchemaMatcher.Key(entity: name, property: definition.entities[index].attributes[place].name)
                let number = matcher.properties[key].flatMap { oldNumbers[$0] }
                definition.entities[index].attributes[place].number = try Self.number(number, &next)
            }
            for place in definition.entities[index].relationships.indices {
                let key = SchemaMatcher.Key(entity: name, property: definition.entities[index].relationships[place].name)
                let number = matcher.properties[key].flatMap { oldNumbers[$0] }
                definition.entities[index].relationships[place].number = try Self.number(number, &next)
            }
            nextProperties[root] = next
        }
        setMarks(nextEntity, nextProperties)
    }

    /// Stores the numbers for the next new entity and properties. The definition omits a number that is one more than the greatest number
    /// in use, because a reader can compute such a number.
    private mutating func setMarks(_ nextEntity: Int, _ nextProperties: [String: Int]) {
        if nextEntity > definition.entityMark { definition.nextNumber = nextEntity }
        let marks = definition.propertyMarks
        for index in definition.entities.indices {
            let name = definition.entities[index].name
            guard let next = nextProperties[name], definition.entities[index].parent == nil else { continue }
            if next > marks[name] ?? 1 { definition.entities[index].nextNumber = next }
        }
    }

    private static func numbers(of definition: SchemaDefinition) -> [SchemaMatcher.Key: UInt16] {
        var numbers: [SchemaMatcher.Key: UInt16] = [:]
        for entity in definition.entities {
            for (name, number) in entity.attributes.map({ ($0.name, $0.number) }) + entity.relationships.map({ ($0.name, $0.number) }) {
                numbers[.init(entity: entity.name, property: name)] = number
            }
        }
        return numbers
    }

    /// Returns the old number if there is one. Otherwise, returns the next number.
    private static func number(_ old: UInt16?, _ next: inout Int) throws(CambiumError) -> UInt16 {
        if let old { return old }
        guard next < 65_535, let number = UInt16(exactly: next) else {
            throw CambiumError(
                .limitExceeded,
                "The store has no number left for a new entity, or for a new property of a hierarchy. "
                    + "Create a new store with this schema, and import the objects into it.")
        }
        next += 1
        return number
    }
}
