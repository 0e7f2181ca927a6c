import CambiumModel

/// Maps each part of a graph's new layout to its source in the old layout. The plan depends only on the two schemas, in which the same
/// number identifies the same entity or property. Docs/Use/MIGRATION.md has the rules.
struct MigrationPlan {
    let old: GraphLayout
    let new: GraphLayout
    /// For each new link, the old link from which it gets its members.
    let links: [LinkSource]
    /// For each table of the new layout, the old table from which it gets its content.
    let tables: [TableMigration]
    /// The old tables whose content no new table keeps.
    let droppedTables: [Int]
    private let dropped: Set<Int>
    let succession: SchemaSuccession
    let checks: MigrationChecks

    /// Throws `.invalidInput` if a number identifies an old and a new entity or property that differ too much for a migration.
    init(from old: GraphLayout, to new: GraphLayout) throws(CambiumError) {
        self.old = old
        self.new = new
        for entity in new.schema.entities {
            guard let before = old.schema.entity(entity.number), before.root != entity.root else { continue }
            throw CambiumError(
                .invalidInput,
                "'\(entity.name)' cannot move to another hierarchy, because its objects would need new ids. Declare a new entity, and "
                    + "copy the objects.")
        }
        links = try LinkSource.all(from: old, to: new)
        let succession = SchemaSuccession(old.schema, new.schema)
        self.succession = succession
        var tables: [TableMigration] = []
        let (oldLinks, newLinks) = (ColumnRole.linksOfTables(old), ColumnRole.linksOfTables(new))
        for table in new.tables {
            tables.append(try TableMigration(table, from: (old, oldLinks), to: (new, newLinks), links, succession))
        }
        self.tables = tables
        let continued = Set(tables.compactMap { $0.old?.index })
        droppedTables = old.tables.indices.filter { !continued.contains($0) }
        dropped = Set(droppedTables)
        checks = MigrationChecks(succession, links)
    }

    /// Whether the migration may change derived values, because it changes an expression or something that an expression reads.
    var mayChangeDerived: Bool {
        if new.derived.isEmpty { return false }
        let isSame =
            droppedTables.isEmpty && links.allSatisfy(\.isKept)
            && tables.allSatisfy { $0.hasSameColumns && $0.columns.allSatisfy(\.isUntouched) && $0.old?.entities == $0.new.entities }
        return !isSame || !zip(new.derived.columns, old.derived.columns).allSatisfy { $0.hasSameValues(as: $1) }
            || new.derived.columns.count != old.derived.columns.count
    }

    /// Returns the number of groups of rows whose columns change.
    func rebuiltGroupCount(_ reader: Reader) -> Int {
        tables.reduce(0) { count, table in
            guard let before = table.old, !table.hasSameColumns || table.isRenumbered else { return count }
            return count + reader.groupCount(before.index)
        }
    }

    /// Returns the dropped entities of a table that is kept. Their objects are deleted, while other objects of the table stay.
    func dyingEntities(ofTable index: Int) -> Set<EntityNumber> {
        if dropped.contains(index) { return [] }
        return Set(old.tables[index].entities.filter { new.schema.entity($0) == nil })
    }

    /// The ends of kept links that some entities lose, with these entities. The objects of these entities must be unlinked.
    var lostEnds: [(end: EndLayout, entities: Set<EntityNumber>)] {
        var found: [(EndLayout, Set<EntityNumber>)] = []
        let continued = Set(links.compactMap(\.old))
        for (number, link) in old.schema.links.enumerated() where continued.contains(number) {
            for (side, end) in [link.first, link.second].enumerated() where !(side == 1 && link.isSymmetric) {
                guard let property = end.property, new.schema.relationship(property, ofRoot: end.root) != nil else { continue }
                let holder = old.schema.relationship(property, ofRoot: end.root).flatMap { old.schema.entity($0.entity) }
                let losers = (holder?.family ?? []).filter { entity in
                    succession.entity(after: entity).map { $0.relationship(property) == nil } ?? false
                }
                if !losers.isEmpty { found.append((old.end(number, side), losers)) }
            }
        }
        return found
    }
}

/// The old link from which a new link gets its members.
struct LinkSource: Sendable {
    /// The number of the old link, or `nil` if the new link begins without members.
    let old: Int?
    /// Whether the first end of the new link was the second end of the old link.
    let isSwapped: Bool
    /// Whether the new link keeps the columns of the old link unchanged.
    let isKept: Bool
    /// The ends of the new link that were to-many and become to-one.
    var narrowedEnds: [Int] = []

    static func all(from old: GraphLayout, to new: GraphLayout) throws(CambiumError) -> [LinkSource] {
        var found: [(link: Int, isSwapped: Bool)?] = []
        for link in new.schema.links { found.append(try source(of: link, old.schema)) }
        var counts: [Int: Int] = [:]
        for source in found { if let source { counts[source.link, default: 0] += 1 } }
        return found.enumerated().map { number, source in
            guard let source else { return LinkSource(old: nil, isSwapped: false, isKept: false) }
            let isOnly = counts[source.link] == 1
            let before = old.schema.links[source.link]
            let link = new.schema.links[number]
            let ends = source.isSwapped ? [before.second, before.first] : [before.first, before.second]
            let isAlike = zip([link.first, link.second], ends).allSatisfy { $0.isToMany == $1.isToMany && $0.isOrdered == $1.isOrdered }
            // The index of a many-to-many link hashes the object at the first end first. So its entries are wrong if the ends change
            // places.
            let isTurned = source.isSwapped && link.first.isToMany && link.second.isToMany
            let narrowed = [(0, link.first), (1, link.second)].filter { $0.1.isToMany == false && ends[$0.0].isToMany }.map(\.0)
            return LinkSource(
                old: source.link, isSwapped: source.isSwapped, isKept: isOnly && isAlike && !isTurned, narrowedEnds: narrowed)
        }
    }

    private static func source(of link: Link, _ old: Schema) throws(CambiumError) -> (link: Int, isSwapped: Bool)? {
        var found: (link: Int, isSwapped: Bool)?
        for (side, end) in [link.first, link.second].enumerated() where !(side == 1 && link.isSymmetric) {
            guard let property = end.property, let before = old.relationship(property, ofRoot: end.root) else { continue }
            if let found, found.link != before.link || found.isSwapped != (before.end != side) {
                throw CambiumError(
                    .invalidInput,
                    "'\(before.name)' cannot become the inverse of another relationship, because both have links of their own. Declare a "
                        + "new relationship, and copy the links.")
            }
            found = (before.link, before.end != side)
            try check(link, old.links[before.link], isSwapped: before.end != side, before.name)
        }
        return found
    }

    private static func check(_ link: Link, _ before: Link, isSwapped: Bool, _ name: String) throws(CambiumError) {
        let ends = isSwapped ? [before.second, before.first] : [before.first, before.second]
        let isFitting = zip([link.first, link.second], ends).allSatisfy { $0.root == $1.root }
        guard isFitting, link.isSymmetric == before.isSymmetric else {
            throw CambiumError(
                .invalidInput,
                "The links of '\(name)' cannot be kept. One end leads to another hierarchy, or the relationship starts or stops being its "
                    + "own inverse. Declare a new relationship, and copy the links.")
        }
    }
}
