import CambiumModel

/// The properties on which the result of a query depends, each with the path on which the query reads it.
///
/// If an object enters the result, leaves it or moves in it, some property on a path that begins at the object has changed. The path up to
/// the first changed property is the same in both graphs. So inverse relationships of the later graph lead from the changed objects to all
/// objects that may enter, leave or move.
struct LiveDependencies {
    /// The objects that are reached by one path of relationships from the objects of the query.
    private struct Level {
        let entity: Entity
        /// The preceding level, and the relationship that leads from the preceding level to this one; `nil` for the objects of the query.
        let origin: (level: Int, step: LinkStep)?
        /// For each relationship of this level's objects, by its number, the level to which the relationship leads.
        var next: [UInt16: Int] = [:]
    }

    private var levels: [Level]
    /// For each property, the levels at which the query reads it, as indexes in `levels`.
    private var levelsByKey: [LiveKey: Set<Int>] = [:]
    /// The keys for the existence and the attributes of the objects of the query. Keys for the objects to which paths lead are not
    /// included.
    let ownKeys: Set<LiveKey>
    private let layout: GraphLayout

    /// - Parameter query: A query that `QueryRun` has resolved, so the schema has all of its names.
    init(_ query: Query, _ entity: Entity, _ layout: GraphLayout) {
        self.layout = layout
        levels = [Level(entity: entity, origin: nil)]
        var own: Set<LiveKey> = [LiveKey(existenceOf: entity.root)]
        for each in layout.schema.entities where entity.family.contains(each.number) {
            for attribute in each.attributes { own.insert(LiveKey(entity.root, attribute.number)) }
        }
        ownKeys = own
        for key in own { levelsByKey[key] = [0] }
        for key in query.sort { add(key.operand, at: 0) }
        if let condition = query.condition { add(condition) }
    }

    /// All properties on which the result depends.
    var keys: some Sequence<LiveKey> { levelsByKey.keys }

    // MARK: Collecting

    private mutating func add(_ condition: Condition) {
        var stack = [(condition: condition, level: 0)]
        while let (condition, level) = stack.popLast() {
            switch condition.form {
            case .constant: break
            case .and(let parts), .or(let parts): for part in parts { stack.append((part, level)) }
            case .not(let part): stack.append((part, level))
            case .related(_, let path, let inner): stack.append((inner, add(path, at: level)))
            case .comparison(let comparison):
                add(comparison.left, at: level)
                add(comparison.right, at: level)
            }
        }
    }

    private mutating func add(_ operand: Operand, at level: Int) {
        var stack = [operand]
        while let operand = stack.popLast() {
            switch operand.form {
            case .path(let path): _ = add(path, at: level)
            case .aggregate(let aggregate):
                let end = add(aggregate.path, at: level)
                if let value = aggregate.value { _ = add(value, at: end) }
            case .list(let elements): stack += elements
            case .literal, .parameter: break
            }
        }
    }

    /// Adds the properties of a path, and returns the level that contains the objects at the end of the path.
    private mutating func add(_ path: QueryPath, at level: Int) -> Int {
        var level = level
        for name in path.names {
            let entity = levels[level].entity
            if let attribute = entity.attribute(name) {
                levelsByKey[LiveKey(entity.root, attribute.number), default: []].insert(level)
            } else if let relationship = entity.relationship(name), let target = layout.schema.entity(relationship.destination) {
                levelsByKey[LiveKey(entity.root, relationship.number), default: []].insert(level)
                level = add(relationship, to: target, at: level)
            }
        }
        return level
    }

    private mutating func add(_ relationship: Relationship, to target: Entity, at level: Int) -> Int {
        if let known = levels[level].next[relationship.number.rawValue] { return known }
        levels.append(Level(entity: target, origin: (level, LinkStep(relationship, layout))))
        levels[level].next[relationship.number.rawValue] = levels.count - 1
        return levels.count - 1
    }

    // MARK: Objects that may enter, leave or move

    /// Returns the serials of the objects that may have entered the result, left it or moved in it. Returns `nil` if the search would visit
    /// more than `countMax` objects.
    func candidates(_ touched: [TouchedObjects], _ reader: Reader, countMax: Int) -> Set<UInt64>? {
        var found: Set<UInt64> = []
        var linked: [Int: [UInt64]] = [:]
        for (key, serials) in touched.lazy.flatMap(\.serials) {
            guard let levels = levelsByKey[key] else { continue }
            for level in levels {
                if level == 0 { found.formUnion(serials) } else { linked[level, default: []] += serials }
            }
            if found.count > countMax { return nil }
        }
        var budget = countMax
        for (level, serials) in linked {
            guard let more = starts(level, serials, reader, &budget) else { return nil }
            found.formUnion(more)
        }
        return found
    }

    /// Follows the relationships of a path backwards, from some objects at its end to the objects at which it begins. Returns the serials
    /// of these objects, or `nil` if the budget is exhausted.
    private func starts(_ level: Int, _ serials: [UInt64], _ reader: Reader, _ budget: inout Int) -> Set<UInt64>? {
        guard var origin = levels[level].origin else { return Set(serials) }
        budget -= serials.count
        if budget < 0 { return nil }
        // The search omits deleted objects, which have no row. Each object that was linked to a deleted object has a changed relationship,
        // so the search also starts at the linked object.
        var rows = Set(serials.compactMap { reader.row(origin.step.targetTable.index, serial: $0) })
        while true {
            var owners: Set<UInt32> = []
            for row in rows {
                let isWithin = reader.visitMembers(origin.step.inverse, owner: row) { owner in
                    budget -= 1
                    owners.insert(owner)
                    return budget >= 0
                }
                if !isWithin { return nil }
            }
            guard let next = levels[origin.level].origin else {
                let table = reader.rows(origin.step.ownerTable.index)
                return Set(owners.map { table.serial($0) })
            }
            (rows, origin) = (owners, next)
        }
    }
}
