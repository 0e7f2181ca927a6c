import CambiumModel

/// Makes the plan of a clone: finds, counts and checks the objects, so that carrying out the plan cannot fail.
struct ClonePlanner {
    let reader: Reader
    let layout: GraphLayout
    /// The space that must have enough pages for the copies; `nil` if the number of pages is not checked.
    let space: PageSpace?

    /// Plans a clone. Throws the errors of `CloneOptions.init`, and `.notFound` for a root that does not exist. Throws `.limitExceeded`
    /// and `.ruleViolated` as Docs/Use/CLONE.md states.
    func plan(_ ids: [ObjectID], _ request: CloneRequest) throws(CambiumError) -> ClonePlan {
        var entities: [Entity] = []
        for id in ids {
            let entity = entity(at: try place(id))
            if !entities.contains(where: { $0 === entity }) { entities.append(entity) }
        }
        var seen = Set<ObjectID>()
        return try plan(
            ids.filter { seen.insert($0).inserted }, CloneOptions(request, layout.schema, rootEntities: entities),
            objectCountMax: request.objectCountMax)
    }

    func plan(_ ids: [ObjectID], _ options: CloneOptions, objectCountMax: Int?) throws(CambiumError) -> ClonePlan {
        guard !ids.isEmpty else { throw CambiumError(.invalidInput, "A clone needs at least one object. Pass the objects to copy.") }
        guard ids.count <= CloneRequest.rootCountMax else {
            throw CambiumError(
                .limitExceeded,
                "A clone can start from at most \(CloneRequest.rootCountMax) objects, but \(ids.count) were given. Clone them in groups.")
        }
        var seen = Set<ObjectID>()
        if let repeated = ids.first(where: { !seen.insert($0).inserted }) {
            let entity = (try? place(repeated)).map(self.entity(at:)) ?? layout.schema.entity(repeated.root)
            let name = entity.map { layout.schema.text(of: repeated, entity: $0) } ?? "\(repeated)"
            throw CambiumError(.invalidInput, "The clone names object \(name) twice. Name each object once.")
        }
        var roots: [ObjectPlace] = []
        for id in ids { roots.append(try place(id)) }
        let members = try members(options)
        for value in options.rootValues { try check(value, roots) }
        // The walk reserves memory for all rows of the tables.
        let groupCount = layout.tables.reduce(0) { $0 + ($1.root == nil ? 0 : reader.groupCount($1.index)) }
        try CambiumError.checkMemory(groupCount * 2 * CloneBits.byteCountPerGroup, for: "a clone")
        var walk = CloneWalk(reader, layout, members, objectCountMax: objectCountMax)
        try walk.run(roots, depth: options.depth)
        var (rows, entries) = walk.take()
        var hierarchies: [CloneOp.Hierarchy] = []
        for table in layout.tables where rows[table.index].count > 0 {
            hierarchies.append(try settle(table, &rows[table.index], members))
        }
        hierarchies.sort { $0.root < $1.root }
        try checkRowCapacity(rows)
        let present = hierarchies.flatMap(\.counts).map { members[$0.entity] }
        try checkUnique(present, hierarchies, roots, rows, options)
        let created = try createdValues(present, hierarchies, roots, options) + checkFollowers(entries, members, options)
        let sources = present.lazy.flatMap { $0.policy.attributes }.map(\.rule.source)
        return ClonePlan(
            options: options, members: members, roots: roots, rows: rows, entries: entries, rootIDs: ids, hierarchies: hierarchies,
            setHash: CloneSetHash.of(rows, layout), needsSeed: sources.contains(.newUUID), needsTime: sources.contains(.now),
            created: created)
    }

    /// Returns the rules of the clone. If the request adds no rules, the rules are determined only once for each schema.
    private func members(_ options: CloneOptions) throws(CambiumError) -> CloneMembers {
        guard options.rules.isEmpty, options.keys == .standard else {
            return CloneMembers(layout, try ClonePolicy(layout.schema, options))
        }
        let known: KnownCloneMembers = try layout.derivedObject(for: KnownCloneMembers.self) { () throws(CambiumError) in
            KnownCloneMembers(CloneMembers(layout, try ClonePolicy(layout.schema, options)))
        }
        return known.members
    }

    private func check(_ value: CloneOptions.RootValue, _ roots: [ObjectPlace]) throws(CambiumError) {
        for root in roots where layout.root(ofTable: Int(root.table)) == value.root {
            if let attribute = entity(at: root).attribute(value.attribute) { _ = try StoredCell(value.value, attribute) }
        }
    }

    private func place(_ id: ObjectID) throws(CambiumError) -> ObjectPlace {
        guard let place = reader.place(of: id, layout) else { throw layout.schema.missingObject(id) }
        return place
    }

    func entity(at place: ObjectPlace) -> Entity { member(Int(place.table), place.row) }

    func member(_ table: Int, _ row: UInt32) -> Entity {
        guard let entity = layout.schema.entity(reader.rows(table).entity(row, layout.tables[table])) else {
            reader.chunks.refuse("an object has no valid entity")
        }
        return entity
    }

    /// Assigns serials to the copies of a table's objects, and counts the copies by entity.
    private func settle(
        _ table: TableLayout, _ rows: inout CloneRows, _ members: CloneMembers
    ) throws(CambiumError) -> CloneOp.Hierarchy {
        let first = reader.nextSerial(table.index)
        let groupCount = reader.groupCount(table.index) + rows.count / PageLayout.fanOut + 2
        guard first + UInt64(rows.count) <= ObjectID.serialMax + 1, groupCount < TableLayout.groupCountMax else {
            let name = table.root?.name ?? ""
            throw CambiumError(
                .limitExceeded, "The hierarchy of '\(name)' has no space for \(rows.count) more objects. Clone fewer objects.")
        }
        let tableRows = reader.rows(table.index)
        rows.rank(tableRows, firstSerial: first)
        var counts: [EntityNumber: Int] = [:]
        if table.entities.count == 1 {
            counts[table.entities[0]] = rows.count
        } else {
            for page in rows.pages {
                var bits = page.bits
                while bits != 0 {
                    let row = page.group << PageLayout.rowShift | UInt32(bits.trailingZeroBitCount)
                    counts[tableRows.entity(row, table), default: 0] += 1
                    bits &= bits - 1
                }
            }
        }
        guard counts.keys.allSatisfy({ members.has($0) && table.place(of: $0) != nil }) else {
            reader.chunks.refuse("an object has no valid entity")
        }
        return CloneOp.Hierarchy(
            root: layout.root(ofTable: table.index), firstSerial: first,
            counts: counts.map { CloneOp.EntityCount($0.key, $0.value) }.sorted { $0.entity < $1.entity })
    }

    /// Throws `.limitExceeded` if the copies may need more rows or pages than are left. The numbers are estimates. Without this check, a
    /// clone that runs out of pages while it writes would end the process.
    private func checkRowCapacity(_ rows: [CloneRows]) throws(CambiumError) {
        for table in layout.tables where table.root == nil {
            guard reader.nextSerial(table.index) + UInt64(reader.liveCount(table.index)) < TableLayout.rowCountMax else {
                throw CambiumError(
                    .limitExceeded,
                    "A many-to-many relationship has no space for the links of the copies. Remove links, or objects that have many links.")
            }
        }
        guard let space else { return }
        let copied = Double(rows.reduce(0) { $0 + $1.count })
        let all = Double(max(1, layout.tables.filter { $0.root != nil }.reduce(0) { $0 + reader.liveCount($1.index) }))
        let chunkCount = Double(space.liveGranules) * 1.25 * copied / all / Double(PageLayout.chunkGranules)
        let (needed, reserve) = (Int(min(chunkCount, 1e9)) + 1, space.capacity.reserveChunkCount)
        guard space.canOpen(needed, leaving: reserve) else {
            throw space.exhausted(needed, leaving: reserve, "\(Int(copied)) copies may need more")
        }
    }
}
